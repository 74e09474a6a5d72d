//! Wins by continuous threats are held against every defence, by a checker that knows nothing but
//! the rules.

#[path = "../../game/tests/data/mod.rs"]
mod data;

use std::collections::HashMap;

use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{Effort, Game, Move, Outcome, Position, RuleName, Side, Variant, with_rule};
use kagetsu_search::Control;
use kagetsu_search::threats::{self, ThreatClass, ThreatSearch};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Replays a claim: after the move that is claimed to win, every legal reply must leave a position
/// that is claimed won again, two plies sooner, down to the five on the board.
struct Checker<R> {
    game: Gomoku<R>,
    threats: ThreatSearch,
    class: ThreatClass,
    /// Positions whose claim was replayed, and within how many plies they were claimed won.
    checked: HashMap<u64, u16>,
}

impl<R: Rule> Checker<R> {
    fn new(position: &Position, class: ThreatClass) -> Self {
        Self {
            game: position.game(),
            threats: ThreatSearch::new(4 << 20),
            class,
            checked: HashMap::new(),
        }
    }

    /// Returns the win that the search claims for a position.
    fn claim(&mut self, position: &Position, effort: Effort) -> Option<(u16, Vec<Move>)> {
        let found = self
            .threats
            .search(position, self.class, effort, &Control::new())
            .expect("gomoku");
        match found.outcome {
            threats::ThreatOutcome::Win { plies, line, .. } => Some((plies, line)),
            threats::ThreatOutcome::NoWin | threats::ThreatOutcome::Unknown => None,
        }
    }

    /// Whether the side to move wins within `most` plies, as is claimed and as every reply
    /// confirms.
    fn confirm(&mut self, position: &Position, most: u16) -> Result<(), String> {
        if self
            .checked
            .get(&self.game.hash())
            .is_some_and(|&plies| plies <= most)
        {
            return Ok(());
        }
        let effort = Effort {
            depth: Some(most as u8),
            ..Effort::default()
        };
        let Some((plies, line)) = self.claim(position, effort) else {
            return Err(format!(
                "{position}: won within {most} plies by the claims before, not found again"
            ));
        };
        if plies > most || line.len() > usize::from(plies) {
            return Err(format!(
                "{position}: {} moves, {plies} plies, {most} were left",
                line.len()
            ));
        }
        self.checked.insert(self.game.hash(), plies);
        let m = *line
            .first()
            .ok_or_else(|| format!("{position}: a win without a move"))?;
        if !legal(&self.game).contains(&m) {
            return Err(format!(
                "{position}: the winning move {} is not legal",
                position.write_move(m)
            ));
        }
        let attacker = self.game.side();
        let next = position.play(m).expect("legal");
        self.game.play(m);
        let result = match self.game.outcome() {
            Some(outcome) if outcome == Outcome::Win(attacker) => Ok(()),
            Some(outcome) => Err(format!("{next}: ends with {outcome:?}")),
            None if plies < 3 => Err(format!("{next}: no five after {plies} plies")),
            None => self.confirm_replies(&next, plies - 2),
        };
        self.game.undo();
        result
    }

    fn confirm_replies(&mut self, position: &Position, most: u16) -> Result<(), String> {
        let (attacker, defender) = (self.game.side().other(), self.game.side());
        if !fives(&self.game, defender).is_empty() {
            return Err(format!("{position}: the defender makes five"));
        }
        let points = fives(&self.game, attacker);
        for reply in legal(&self.game) {
            // A point that is left is a five on the next ply.
            if !R::CLOSES && points.iter().any(|&point| point != reply) {
                continue;
            }
            let next = position.play(reply).expect("legal");
            self.game.play(reply);
            let result = match self.game.outcome() {
                None if !fives(&self.game, attacker).is_empty() => Ok(()),
                None => self.confirm(&next, most),
                Some(outcome) => Err(format!("{next}: ends with {outcome:?}")),
            };
            self.game.undo();
            result?;
        }
        Ok(())
    }
}

fn legal<R: Rule>(game: &Gomoku<R>) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

/// The empty points where a stone of `side` makes five.
fn fives<R: Rule>(game: &Gomoku<R>, side: Side) -> Vec<Move> {
    let size = i32::from(game.size());
    let has = |side: Side, x: i32, y: i32| {
        (0..size).contains(&x)
            && (0..size).contains(&y)
            && game.cells()[(y * size + x) as usize] == Some(side)
    };
    let run = |x: i32, y: i32, dx: i32, dy: i32| {
        let own = (1..)
            .take_while(|n| has(side, x + n * dx, y + n * dy))
            .count();
        let end = own as i32 + 1;
        (own, has(side.other(), x + end * dx, y + end * dy))
    };
    let makes_five = |cell: usize| {
        let (x, y) = (cell as i32 % size, cell as i32 / size);
        let directions = [(1, 0), (0, 1), (1, 1), (1, -1)];
        directions.iter().any(|&(dx, dy)| {
            let ((up, is_above), (down, is_below)) = (run(x, y, dx, dy), run(x, y, -dx, -dy));
            R::is_five(side, 1 + up + down, || is_above && is_below)
        })
    };
    let empty = (0..game.cells().len()).filter(|&cell| game.cells()[cell].is_none());
    empty
        .filter(|&cell| makes_five(cell))
        .map(|cell| Move::new(cell as u16))
        .collect()
}

/// Replays what is claimed of a position; gives the number of claims that were replayed.
fn check(position: &Position, class: ThreatClass, effort: Effort) -> Result<usize, String> {
    let (rule, _) = position.variant().gomoku().expect("gomoku");
    with_rule!(rule, R => check_by::<R>(position, class, effort))
}

fn check_by<R: Rule>(
    position: &Position,
    class: ThreatClass,
    effort: Effort,
) -> Result<usize, String> {
    let mut checker = Checker::<R>::new(position, class);
    let Some((plies, line)) = checker.claim(position, effort) else {
        return Ok(0);
    };
    let whole = [position.moves(), &line].concat();
    if let Err(error) = Position::new(position.variant(), position.setup().cloned(), &whole) {
        return Err(format!("{position}: the line is not legal: {error}"));
    }
    checker.confirm(position, plies)?;
    Ok(checker.checked.len())
}

fn variant(name: &str) -> Variant {
    name.parse().expect("a variant")
}

/// Stones thrown onto the middle of a board, so that there is much to threaten.
fn crowded(variant: Variant, middle: u8, most: usize) -> impl Strategy<Value = Position> {
    let Variant::Gomoku { size, .. } = variant else {
        unreachable!("gomoku")
    };
    let (low, high) = ((size - middle) / 2, (size - middle) / 2 + middle);
    proptest::collection::vec((low..high, low..high), 6..most).prop_map(move |points| {
        let mut position = Position::start(variant);
        for (x, y) in points {
            let m = Move::new(u16::from(y) * u16::from(size) + u16::from(x));
            if position.legal_moves().contains(&m) {
                position = position.play(m).expect("legal");
            }
        }
        position
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_defence_stands_on_random_boards(
        position in prop_oneof![
            crowded(variant("freestyle-15"), 9, 60), crowded(variant("standard-15"), 9, 60), crowded(variant("renju-15"), 9, 60), crowded(variant("freestyle-7"), 7, 60),
            crowded(variant("standard-8"), 8, 60), crowded(variant("renju-9"), 9, 60), crowded(variant("freestyle-20"), 11, 60),
            crowded(variant("caro-15"), 9, 60), crowded(variant("caro-9"), 9, 60), crowded(variant("caro-overline-15"), 9, 60), crowded(variant("caro-overline-8"), 8, 60),
        ],
        class in prop_oneof![1 => Just(ThreatClass::Vcf), 4 => Just(ThreatClass::Vct)],
    ) {
        prop_assume!(position.outcome().is_none());
        check(&position, class, Effort::nodes(3_000)).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_defence_stands_against_fours_on_crowded_boards(
        position in prop_oneof![crowded(variant("standard-15"), 13, 120), crowded(variant("renju-15"), 13, 120), crowded(variant("freestyle-15"), 13, 120), crowded(variant("caro-15"), 13, 120), crowded(variant("caro-overline-15"), 13, 120)],
    ) {
        prop_assume!(position.outcome().is_none());
        check(&position, ThreatClass::Vcf, Effort::nodes(20_000)).map_err(TestCaseError::fail)?;
    }
}

/// Positions of real games, each after every so many plies.
fn game_positions(step: usize) -> Option<Vec<Position>> {
    let folder = data::folder("gomoku/games")?;
    let mut positions = Vec::new();
    for row in data::json_lines(&folder.join("engine_games.jsonl")) {
        let rule = ["freestyle", "standard", "?", "?", "renju"]
            [row["rule"].as_u64().expect("a rule") as usize];
        let size = row["size"].as_u64().expect("a size");
        let variant: Variant = format!("{rule}-{size}").parse().expect("a variant");
        let moves = row["moves_xy"]
            .as_array()
            .expect("moves")
            .iter()
            .map(|point| {
                let [x, y] = [0, 1].map(|at| point[at].as_u64().expect("a coordinate"));
                Move::new((y * size + x) as u16)
            });
        let moves: Vec<Move> = moves.collect();
        let shift = positions.len() % step;
        for plies in (6 + shift..moves.len()).step_by(step) {
            positions.push(Position::new(variant, None, &moves[..plies]).expect("a legal game"));
        }
    }
    Some(positions)
}

/// A four of White's stands beside the five that another four of his promised: six in a row are no
/// five any more.
const SPOILED: &str = "
    ...............
    ...............
    ...............
    ...X.....XO....
    .....OX.O......
    ...XO.XO.O.....
    .....X...OX....
    ....OXOO.X.....
    ...OXXXOX.O....
    ...O.O....X....
    ...X.XXO.......
    ...............
    ...............
    ...............
    ...............";

#[test]
fn four_that_becomes_an_overline_does_not_win() {
    for (name, side) in [
        ("standard-15", Side::First),
        ("standard-15", Side::Second),
        ("renju-15", Side::First),
    ] {
        let position = Position::from_board(variant(name), SPOILED, Some(side)).expect("a board");
        for class in [ThreatClass::Vcf, ThreatClass::Vct] {
            check(&position, class, Effort::nodes(20_000)).expect("every claim holds");
        }
    }
}

/// A four leaves a second five that one more stone could have closed.
#[test]
fn closable_five_ends_a_line_of_fours() {
    let line = "f7 i2 b7 b9 b4 b3 i6 e6 e9 b1 d7 b2 d3 a8 a7 g8 c6 g6 f6 h3 g3 c1 h4 c8 d8 i3 a6 g7 \
                g2 h7 i4 d4";
    let position = Position::from_line(variant("caro-overline-9"), line).expect("a line");
    let held = check(&position, ThreatClass::Vcf, Effort::nodes(20_000));
    assert!(held.is_ok_and(|claims| claims > 0));
}

#[test]
fn no_defence_stands_in_real_games() {
    let positions = kagetsu_builders::needed!(game_positions(11));
    let mut counts = Vec::new();
    for position in positions
        .iter()
        .filter(|position| position.outcome().is_none())
    {
        counts.push(
            check(
                position,
                ThreatClass::Vct,
                Effort {
                    depth: Some(7),
                    ..Effort::nodes(2_000)
                },
            )
            .expect("every claim holds"),
        );
    }
    let won = counts.iter().filter(|&&count| count > 0).count();
    println!(
        "{} claims held, of {won} wins in {} positions",
        counts.iter().sum::<usize>(),
        counts.len()
    );
    assert!(won >= 10, "only {won} wins were found");
}

/// Crowded boards of a rule, the same ones every time.
fn crowded_boards(rule: &str) -> impl Iterator<Item = Position> {
    let of = |size: u8, middle, most| crowded(variant(&format!("{rule}-{size}")), middle, most);
    let boards = prop_oneof![
        of(15, 9, 60),
        of(15, 13, 120),
        of(9, 9, 60),
        of(20, 16, 160)
    ];
    let mut runner = TestRunner::deterministic();
    std::iter::repeat_with(move || boards.new_tree(&mut runner).expect("a board").current())
}

/// As many claims as `KAGETSU_CASES` says, 100,000 without; as many of each rule and class, from
/// games as far as they go and from crowded boards.
#[test]
#[ignore = "takes minutes"]
fn no_defence_stands_for_very_many_claims() {
    let wanted = std::env::var("KAGETSU_CASES")
        .map_or(100_000, |text| text.parse().expect("a number of cases"));
    let positions = kagetsu_builders::needed!(game_positions(1));
    let mut total = 0;
    for rule in RuleName::ALL {
        let is_of_rule = |position: &&Position| {
            position
                .variant()
                .gomoku()
                .is_some_and(|(own, _)| own == rule)
        };
        let games = positions.iter().filter(is_of_rule);
        let games: Vec<&Position> = games
            .filter(|position| position.outcome().is_none())
            .collect();
        for (class, nodes) in [(ThreatClass::Vcf, 20_000), (ThreatClass::Vct, 500)] {
            let (mut of_games, mut held, mut wins) = (0, 0, 0);
            for &position in &games {
                let found =
                    check(position, class, Effort::nodes(nodes)).expect("every claim holds");
                (of_games, wins) = (of_games + found, wins + usize::from(found > 0));
                if 4 * RuleName::ALL.len() * of_games >= wanted {
                    break;
                }
            }
            for position in
                crowded_boards(rule.name()).filter(|position| position.outcome().is_none())
            {
                if 2 * RuleName::ALL.len() * (of_games + held) >= wanted {
                    break;
                }
                let found =
                    check(&position, class, Effort::nodes(nodes)).expect("every claim holds");
                (held, wins) = (held + found, wins + usize::from(found > 0));
            }
            println!(
                "{rule}, {class:?}: {of_games} claims from games and {held} from crowded boards, of {wins} wins"
            );
            total += of_games + held;
        }
    }
    println!("{total} claims held");
    assert!(total >= wanted);
}
