use kagetsu_game::gomoku::{Caro, Freestyle, Gomoku, Renju, Rule, Standard};
use kagetsu_game::{Game, Move, Outcome, Packed, Position, RuleName, Side, Symmetry, Variant};

use crate::dice::{Dice, cases};

const FIRST: Option<Outcome> = Some(Outcome::Win(Side::First));
const SECOND: Option<Outcome> = Some(Outcome::Win(Side::Second));

/// A line, and its outcome by the rules in their order.
const ENDINGS: &[(&str, [Option<Outcome>; 5])] = &[
    // XXXXX
    ("b2 b9 c2 d9 d2 f9 e2 h9 f2", [FIRST; 5]),
    // OOOOO
    ("b9 b2 d9 c2 f9 d2 h9 e2 j9 f2", [SECOND; 5]),
    // Six of Black: XXXxXX
    (
        "b2 b9 c2 d9 d2 f9 f2 h9 g2 j9 e2",
        [FIRST, None, SECOND, None, FIRST],
    ),
    // Six of White: OOOoOO
    (
        "b9 b2 d9 c2 f9 d2 h9 f2 j9 g2 l10 e2",
        [SECOND, None, SECOND, None, SECOND],
    ),
    // Two fours on one line: X_XxX_X
    (
        "b2 b9 d2 d9 f2 f9 h2 h9 e2",
        [None, None, SECOND, None, None],
    ),
    // The same stones, and the last one makes one four only.
    ("e2 b9 d2 d9 f2 f9 h2 h9 b2", [None; 5]),
    // Two threes
    (
        "i8 a1 j8 a15 h9 o1 h10 o15 h8",
        [None, None, SECOND, None, None],
    ),
    // The same for White
    ("a1 i8 a15 j8 o1 h9 o15 h10 a8 h8", [None; 5]),
    // Five along the row and six up the column: the five wins over all.
    (
        "b2 i9 c2 k9 d2 m9 f2 i11 e1 k11 e3 m11 e4 i13 e5 k13 e6 m13 e2",
        [FIRST; 5],
    ),
    // OXXXXxO and XOOOOoX
    (
        "b2 a2 c2 g2 d2 f9 e2 h9 f2",
        [FIRST, FIRST, FIRST, None, None],
    ),
    (
        "a2 b2 g2 c2 f9 d2 h9 e2 j9 f2",
        [SECOND, SECOND, SECOND, None, None],
    ),
    // OXXXXx beside an empty point, and between the edge and O
    ("b2 a2 c2 h2 d2 f9 e2 h9 f2", [FIRST; 5]),
    ("a2 f2 b2 d9 c2 f9 d2 h9 e2", [FIRST; 5]),
    // OXXXXXxO
    (
        "b2 a2 c2 h2 d2 d9 f2 f9 g2 l9 e2",
        [FIRST, None, SECOND, None, FIRST],
    ),
];

#[test]
fn games_end_as_their_rules_say() {
    for (line, outcomes) in ENDINGS {
        for (rule, outcome) in RuleName::ALL.into_iter().zip(outcomes) {
            let variant = Variant::Gomoku { rule, size: 15 };
            let position = Position::from_line(variant, line).expect("a legal line");
            assert_eq!(position.outcome(), *outcome, "{position}");
            if outcome.is_some() {
                assert!(
                    position.legal_moves().is_empty() && position.play_line("o8").is_err(),
                    "{position}"
                );
            }
        }
    }
}

/// Whether a board, its top row first, has a five of `own`: its rows, columns and diagonals are
/// written as words, in which fives are sought as texts.
fn has_five(rule: RuleName, rows: &[Vec<char>], own: char) -> bool {
    let (size, other) = (rows.len() as isize, if own == 'X' { 'O' } else { 'X' });
    let word = |x: isize, y: isize, dx: isize, dy: isize| -> String {
        let at = |n: isize| rows.get((y + n * dy) as usize)?.get((x + n * dx) as usize);
        let cells: String = (-size..=size).filter_map(at).collect();
        format!("#{cells}#")
    };
    let mut words = (-size..size).flat_map(|n| {
        let lines = [(n, 0, 0, 1), (0, n, 1, 0), (n, 0, 1, 1), (n, size, 1, -1)];
        lines.map(|(x, y, dx, dy)| word(x, y, dx, dy))
    });
    let five = own.to_string().repeat(5);
    let is_exact = |word: &String| {
        let ends = ['#', '.', other];
        let around = ends.iter().flat_map(|low| ends.map(|high| (*low, high)));
        let mut around = around.filter(|ends| rule < RuleName::Caro || *ends != (other, other));
        around.any(|(low, high)| word.contains(&format!("{low}{five}{high}")))
    };
    let wins_longer = match rule {
        RuleName::Freestyle | RuleName::CaroOverline => true,
        RuleName::Standard | RuleName::Caro => false,
        RuleName::Renju => own == 'O',
    };
    words.any(|word| is_exact(&word) || wins_longer && word.contains(&format!("{five}{own}")))
}

#[test]
fn fives_agree_with_texts_on_random_boards() {
    let (mut dice, mut won, mut closed) = (Dice::new(9), [0; 5], 0);
    for case in 0..10_000 {
        let (rule, size) = (RuleName::ALL[case % 5], 7 + dice.roll(9));
        let variant = Variant::Gomoku {
            rule,
            size: size as u8,
        };
        // Neighbours are often alike, so that rows are long.
        let (wide, mut rows) = (1 + dice.roll(3), vec![vec!['.'; size]; size]);
        for (x, y) in (0..size * size).map(|at| (at % size, at / size)) {
            let (dx, dy) = [(1, 0), (0, 1), (1, 1), (0, 0)][dice.roll(4)];
            let before = x.checked_sub(dx).zip(y.checked_sub(dy));
            let alike = before.map_or('.', |(x, y)| rows[y][x]);
            let any = ['.', 'X', 'O'][dice.roll(3)];
            rows[y][x] = if alike != '.' && dice.roll(4) < wide {
                alike
            } else {
                any
            };
        }
        let fives = |rows: &[Vec<char>]| ['X', 'O'].map(|own| has_five(rule, rows, own));
        let outcome = |fives: [bool; 2]| match fives {
            [true, false] => FIRST,
            [false, true] => SECOND,
            _ => None,
        };
        let drawn: Vec<String> = rows.iter().map(|row| row.iter().collect()).collect();
        let (drawn, side) = (drawn.join("\n"), [Side::First, Side::Second][dice.roll(2)]);
        let Ok(position) = Position::from_board(variant, &drawn, Some(side)) else {
            assert_eq!(fives(&rows), [true; 2], "{variant}\n{drawn}");
            continue;
        };
        let moves = position.legal_moves();
        if fives(&rows) != [false; 2] || moves.is_empty() {
            let is_over_without = moves.is_empty() && fives(&rows) == [false; 2];
            assert!(
                is_over_without || position.outcome() == outcome(fives(&rows)),
                "{variant}\n{drawn}"
            );
            continue;
        }
        assert_eq!(position.outcome(), None, "{variant}\n{drawn}");
        let m = moves[dice.roll(moves.len())];
        let stone = if side == Side::First { 'X' } else { 'O' };
        rows[size - 1 - m.index() / size][m.index() % size] = stone;
        let after = position.play(m).expect("a legal move");
        let (fives, is_standard) = (fives(&rows), has_five(RuleName::Standard, &rows, stone));
        won[case % 5] += usize::from(fives != [false; 2]);
        closed += usize::from(rule >= RuleName::Caro && fives == [false; 2] && is_standard);
        let is_over_without = after.legal_moves().is_empty() && fives == [false; 2];
        assert!(
            is_over_without || after.outcome() == outcome(fives),
            "{after}\n{drawn}"
        );
    }
    assert!(
        won.iter().all(|&won| won > 10) && closed > 10,
        "{won:?} {closed}"
    );
}

#[test]
fn a_full_board_is_a_draw() {
    let rows = ["XXOOX", "OOXXO", "XXOOX", "OOXXO", "XXOO."];
    let position = Position::from_board(
        "standard-5".parse().expect("a variant"),
        &rows.join("\n"),
        None,
    );
    let position = position.expect("a drawn board");
    assert_eq!((position.side(), position.outcome()), (Side::First, None));
    assert_eq!(
        position.play_line("e1").expect("the last point").outcome(),
        Some(Outcome::Draw)
    );
}

/// Bottom row `XX.XXX`: the last but one empty point is an overline of Black.
const ALMOST_FULL: [&str; 6] = [".OXXOO", "XXOOXX", "OOXXOO", "XXOOXX", "OOXXOO", "XX.XXX"];

fn renju_6(side: Side) -> Position {
    let position = Position::from_board(
        "renju-6".parse().expect("a variant"),
        &ALMOST_FULL.join("\n"),
        Some(side),
    );
    position.expect("a drawn board")
}

#[test]
fn black_has_lost_when_only_forbidden_points_are_left() {
    let black = renju_6(Side::First);
    let written = |moves: &[Move]| {
        moves
            .iter()
            .map(|&m| black.write_move(m))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (black.outcome(), written(&black.legal_moves())),
        (None, vec!["a6".to_owned()])
    );
    let forbidden: Vec<Move> = black
        .forbidden_moves()
        .into_iter()
        .map(|(m, _)| m)
        .collect();
    assert_eq!(written(&forbidden), ["c1"]);

    let stuck = renju_6(Side::Second)
        .play_line("a6")
        .expect("an empty point");
    assert_eq!(
        (
            stuck.outcome(),
            stuck.legal_moves(),
            stuck.forbidden_moves()
        ),
        (SECOND, vec![], vec![])
    );
    assert_eq!(
        renju_6(Side::Second)
            .play_line("c1 a6")
            .expect("two empty points")
            .outcome(),
        Some(Outcome::Draw)
    );
}

#[test]
fn white_has_no_forbidden_points() {
    let position = Position::from_line(Variant::RENJU_15, "a1 i8 a15 j8 o1 h9 o15 h10 a8")
        .expect("a legal line");
    assert_eq!(position.forbidden_moves(), []);
    let board: Gomoku<Renju> = position.game();
    assert_eq!(
        board.forbidden_at(position.parse_move("h8").expect("an empty point")),
        None
    );
}

/// A forbidden move ends the game, but the same stones in a legal order do not, so bytes and key
/// must differ.
#[test]
fn lost_by_forbidden_move_has_its_own_key() {
    let position = |line| Position::from_line(Variant::RENJU_15, line).expect("a legal line");
    let lost = position("i8 a1 j8 a15 h9 o1 h10 o15 h8");
    let lawful = position("h8 a1 i8 a15 j8 o1 h9 o15 h10");
    assert_eq!((lost.outcome(), lawful.outcome()), (SECOND, None));
    assert_ne!(lost.key(), lawful.key());
    for position in [lost, lawful] {
        let canonical = position.canonical();
        let again = Position::unpack(Variant::RENJU_15, canonical.packed).expect("packed by us");
        assert_eq!(
            (again.outcome(), again.key()),
            (position.outcome(), canonical.key)
        );
    }
    let two_fives = ["X....", "X....", "X....", "X....", "X...O"].join("\n");
    let renju_5 = "renju-5".parse().expect("a variant");
    let mut packed = Position::from_board(renju_5, &two_fives, Some(Side::Second))
        .expect("a board")
        .canonical()
        .packed;
    packed.0[0] = 2;
    assert!(
        Position::unpack(renju_5, packed).is_err(),
        "a forbidden move after a five"
    );
}

#[test]
fn a_board_where_both_have_five_is_refused() {
    let rows = ["XXXXX", ".....", ".....", ".....", "OOOOO"].join("\n");
    let error = Position::from_board("freestyle-5".parse().expect("a variant"), &rows, None)
        .expect_err("two fives");
    assert_eq!(
        error.to_string(),
        "this is no freestyle-5 position: both sides have five in a row"
    );
}

#[test]
fn undo_restores_every_field() {
    let line = "i8 a1 j8 a15 h9 o1 h10 o15 h8";
    let position = Position::from_line(Variant::RENJU_15, line).expect("a legal line");
    let mut board = Gomoku::<Renju>::start(Variant::RENJU_15);
    let mut boards = vec![];
    for &m in position.moves() {
        boards.push(board.clone());
        board.play(m);
    }
    while let Some(before) = boards.pop() {
        board.undo();
        assert_eq!(board, before);
    }
}

/// Returns the moves of `side` that end the game by a five, found by playing each. The side to move
/// comes first in the packed form.
fn fives<R: Rule>(game: &Gomoku<R>, side: Side) -> Vec<Move> {
    let Packed(mut bytes) = game.pack(Symmetry::IDENTITY);
    bytes[0] = side as u8;
    let mut turned = Gomoku::<R>::unpack(game.variant(), &Packed(bytes)).expect("the same stones");
    let mut moves = Vec::new();
    turned.moves(&mut moves);
    moves.retain(|&m| {
        turned.play(m);
        let is_won = turned.outcome() == Some(Outcome::Win(side));
        turned.undo();
        is_won
    });
    moves
}

fn check_fives<R: Rule>(variant: Variant, seed: u64) {
    let (mut dice, mut game) = (Dice::new(seed), Gomoku::<R>::start(variant));
    loop {
        let mut moves = Vec::new();
        game.moves(&mut moves);
        if moves.is_empty() {
            return;
        }
        for side in [Side::First, Side::Second] {
            let found = fives(&game, side);
            let claimed = moves.iter().filter(|m| game.makes_five(**m, side));
            // A point that is forbidden to Black is no five of Black's, and White may play there.
            assert!(
                claimed.eq(found.iter().filter(|m| moves.contains(m))),
                "{variant}, seed {seed}, {side:?}"
            );
            for m in (0..game.cells().len()).map(|code| Move::new(code as u16)) {
                if game.cells()[m.index()] != Some(side) {
                    continue;
                }
                // Without the stone, a five that contains it is none.
                let is_part = |five: &Move| {
                    let mut own: Vec<Move> = (0..game.cells().len())
                        .map(|code| Move::new(code as u16))
                        .collect();
                    own.retain(|at| game.cells()[at.index()].is_some() && *at != m);
                    let mut rows = vec!['.'; game.cells().len()];
                    own.iter().for_each(|at| {
                        rows[at.index()] = if game.cells()[at.index()] == Some(Side::First) {
                            'X'
                        } else {
                            'O'
                        }
                    });
                    let size = usize::from(game.size());
                    let drawn: Vec<String> = rows
                        .chunks(size)
                        .rev()
                        .map(|row| row.iter().collect())
                        .collect();
                    let board = Position::from_board(variant, &drawn.join("\n"), Some(side))
                        .expect("fewer stones");
                    let stones: Gomoku<R> = board.game();
                    !stones.makes_five(*five, side)
                };
                // A five may contain the stone in one direction and not need it in another.
                let (is_in_four, has_five) = (
                    game.is_in_four(m),
                    moves.iter().any(|five| game.makes_five(*five, side)),
                );
                let is_right = is_in_four || !found.iter().any(is_part);
                assert!(
                    is_right && (has_five || !is_in_four),
                    "{variant}, seed {seed}, {side:?}, {}",
                    m.code()
                );
            }
        }
        game.play(moves[dice.roll(moves.len())]);
    }
}

#[test]
fn makes_five_agrees_with_playing() {
    for seed in 0..cases(6) as u64 {
        check_fives::<Freestyle>("freestyle-7".parse().expect("a variant"), seed);
        check_fives::<Standard>("standard-9".parse().expect("a variant"), seed);
        check_fives::<Renju>("renju-9".parse().expect("a variant"), seed);
        check_fives::<Caro<false>>("caro-9".parse().expect("a variant"), seed);
        check_fives::<Caro<true>>("caro-overline-7".parse().expect("a variant"), seed);
    }
}
