use std::collections::BTreeSet;

use kagetsu_game::surakarta::{POINTS, Surakarta};
use kagetsu_game::{
    Claim, Effort, Game, Move, Outcome, Position, Question, Score, Side, Symmetry, Variant,
};
use proptest::prelude::*;
use proptest::sample::Index;

use super::Board;
use super::board::join;
use crate::heuristics::{Heuristics, Situation};
use crate::xiangqi::laws::{ask, claims_nothing_false, play_picks};
use crate::{Constants, Control, EngineOptions};

/// Two to seven stones on any points, any side to move, any count of quiet plies below the limit,
/// and up to 12 moves after it.
pub(crate) fn few_stones(limit: u8) -> impl Strategy<Value = Position> {
    let stones = prop::collection::btree_map(0..POINTS, any::<bool>(), 2..8);
    let picks = prop::collection::vec(any::<Index>(), 0..12);
    (stones, any::<bool>(), 0..limit, picks).prop_map(move |(stones, is_first, quiet, picks)| {
        let letter = |at| {
            stones
                .get(&at)
                .map_or('1', |&is_first| if is_first { 'b' } else { 'w' })
        };
        play_picks(from_letters(letter, is_first, quiet, limit), &picks)
    })
}

/// Any stones, any side to move, any count of quiet plies below the limit.
fn any_game() -> impl Strategy<Value = Surakarta> {
    let stones = prop::collection::vec(0u8..10, POINTS);
    (stones, 1u8..=5, any::<bool>(), 0..7u8).prop_map(|(stones, many, is_first, quiet)| {
        // The fewer stones, the more captures.
        let letter = |at: usize| match stones[at] {
            stone if stone < many => 'b',
            stone if stone < 2 * many => 'w',
            _ => '1',
        };
        from_letters(letter, is_first, quiet, 7).game()
    })
}

fn from_letters(letter: impl Fn(usize) -> char, is_first: bool, quiet: u8, limit: u8) -> Position {
    let letters: Vec<char> = (0..POINTS).map(letter).collect();
    let rows: Vec<String> = letters.chunks(6).map(|row| row.iter().collect()).collect();
    let fen = format!(
        "{} {} {quiet}",
        rows.join("/"),
        if is_first { 'b' } else { 'w' }
    );
    Position::from_fen(Variant::Surakarta { limit }, &fen).expect("a board")
}

fn board(game: &Surakarta) -> Board {
    Board::new(game, &EngineOptions::default())
}

fn legal(game: &Surakarta) -> BTreeSet<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves.into_iter().collect()
}

/// Returns the score that the rules give a finished game.
fn expected(game: &Surakarta) -> Option<Score> {
    Some(match game.outcome()? {
        Outcome::Win(side) if side == game.side() => Score::win_in(0),
        Outcome::Win(_) => Score::loss_in(0),
        Outcome::Draw => Score::ZERO,
    })
}

/// The board agrees with the rules and with a new board: moves, captures, ends.
fn agrees(board: &Board, game: &Surakarta) -> Result<(), TestCaseError> {
    let new = Board::new(game, &EngineOptions::default());
    prop_assert_eq!(board.hash(), new.hash());
    prop_assert_eq!(board.captures(), new.captures());
    let score = match board.situation() {
        Situation::Over(score) | Situation::Repeated { score, .. } => Some(score),
        _ => None,
    };
    prop_assert_eq!(score, expected(game), "{:?}", game);
    prop_assert_eq!(board.situation(), new.situation());
    if score.is_some() {
        return Ok(());
    }
    prop_assert_eq!(board.evaluate(), new.evaluate());
    let legal = legal(game);
    prop_assert_eq!(
        board.legal().into_iter().collect::<BTreeSet<Move>>(),
        legal.clone()
    );
    let captures: BTreeSet<Move> = legal.into_iter().filter(|&m| game.is_capture(m)).collect();
    let found = board
        .captures()
        .map_or_else(Vec::new, |moves| moves.sorted());
    prop_assert_eq!(found.len(), captures.len());
    prop_assert_eq!(
        found.into_iter().collect::<BTreeSet<Move>>(),
        captures.clone()
    );
    prop_assert!(captures.iter().all(|&m| board.force(m).attacks));
    if let Situation::Known(score) = board.situation() {
        let won = board.urgent();
        prop_assert!(score == Score::win_in(1) && !won.is_empty());
        for m in won {
            let mut after = game.clone();
            after.play(m);
            prop_assert_eq!(after.outcome(), Some(Outcome::Win(game.side())));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn search_board_agrees_with_the_rules(game in any_game()) {
        agrees(&board(&game), &game)?;
    }

    #[test]
    fn symmetries_and_colours_change_nothing(game in any_game(), number in 0u8..16) {
        let image = Surakarta::unpack(game.variant(), &game.pack(Symmetry::new(number))).expect("its own bytes");
        let turned = |m: Move| Surakarta::image(game.variant(), m, Symmetry::new(number));
        for constants in [Constants::Own, Constants::Matrix, Constants::Count, Constants::Evalue] {
            let options = EngineOptions { constants, ..EngineOptions::default() };
            let (here, there) = (Board::new(&game, &options), Board::new(&image, &options));
            prop_assert_eq!(here.evaluate(), there.evaluate());
            let worth = |board: &Board, turned: &dyn Fn(Move) -> Move| {
                let mut moves = board.moves(&Situation::Free);
                let mut all: Vec<(Move, i32)> = std::iter::from_fn(|| moves.take()).map(|(worth, m)| (turned(m), worth)).collect();
                all.sort_unstable();
                all
            };
            prop_assert_eq!(worth(&here, &turned), worth(&there, &|m| m));
        }
    }
}

proptest! {
    #[test]
    fn play_and_undo_keep_what_a_new_board_would_find(
        picks in prop::collection::vec((any::<Index>(), prop::bool::weighted(0.2), prop::bool::weighted(0.1)), 1..150),
        limit in 1u8..30,
    ) {
        let mut game = Surakarta::start(Variant::Surakarta { limit });
        let mut board = board(&game);
        for (pick, back, passes) in picks {
            let moves: Vec<Move> = legal(&game).into_iter().collect();
            if moves.is_empty() || back && !game.history().is_empty() {
                if game.history().is_empty() { break }
                game.undo();
                board.undo();
            } else {
                let m = *pick.get(&moves);
                game.play(m);
                board.play(m);
            }
            let before = (board.hash(), board.situation());
            if passes && board.pass() {
                prop_assert!(board.hash() != before.0);
                board.undo();
                prop_assert_eq!((board.hash(), board.situation()), before);
            }
            agrees(&board, &game)?;
        }
    }

    #[test]
    fn repetitions_count_positions_before_the_search(plies in 0usize..=8) {
        let line = "b2b3 e5e4 b3b2 e4e5 b2b3 e5e4 b3b2 e4e5";
        let whole = Position::from_line(Variant::SURAKARTA, line).expect("legal until the end");
        prop_assert_eq!(whole.outcome(), Some(Outcome::Draw));
        let (before, after) = whole.moves().split_at(plies);
        let game: Surakarta = Position::new(Variant::SURAKARTA, None, before).expect("legal").game();
        let mut board = board(&game);
        after.iter().for_each(|&m| board.play(m));
        prop_assert_eq!(board.situation(), Situation::Repeated { score: Score::ZERO, plies: 8 });
        if !after.is_empty() {
            board.undo();
            prop_assert_eq!(board.situation(), Situation::Free);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_search_of_an_image_finds_the_same_value(position in few_stones(20), number in 0u8..16, depth in 1u8..=4) {
        prop_assume!(position.outcome().is_none());
        let game: Surakarta = position.game();
        let options = EngineOptions { selective: false, ..EngineOptions::default() };
        let value = |symmetry| {
            let image = Position::unpack(position.variant(), game.pack(symmetry)).expect("an image is a position");
            let answer = ask(options, &Question::new(image, Effort::depth(depth)), &Control::new());
            answer.best().map(|(_, verdict)| verdict.score)
        };
        prop_assert_eq!(value(Symmetry::IDENTITY), value(Symmetry::new(number)));
    }

    #[test]
    fn stopped_search_claims_nothing_false(position in few_stones(30), nodes in 0u64..3_000) {
        claims_nothing_false(&position, nodes)?;
    }

    /// A claimed win holds against every defence within its plies.
    #[test]
    fn proofs_agree_with_exhaustive_search(position in few_stones(40)) {
        prop_assume!(position.outcome().is_none());
        let question = Question::new(position.clone(), Effort::depth(5));
        let answer = ask(EngineOptions::default(), &question, &Control::new());
        let proof = answer.best().and_then(|(m, verdict)| Some((m, verdict.proof?)));
        if let Some((m, proof)) = proof.filter(|(_, proof)| proof.claim == Claim::Win && proof.plies <= 5) {
            let after = position.play(m).expect("legal");
            prop_assert!(wins(&after, position.side(), proof.plies - 1), "{position}: {proof:?}");
        }
    }
}

/// Whether the side wins within so many plies, by the rules alone.
fn wins(position: &Position, side: Side, plies: u16) -> bool {
    if let Some(outcome) = position.outcome() {
        return outcome == Outcome::Win(side);
    }
    let leads = |m: Move| wins(&position.play(m).expect("legal"), side, plies - 1);
    match plies {
        0 => false,
        _ if position.side() == side => position.legal_moves().into_iter().any(leads),
        _ => position.legal_moves().into_iter().all(leads),
    }
}

#[test]
fn lone_stone_passes_its_start() {
    // b2 stands twice on the outer circuit; around its own corner it meets itself, goes on and
    // takes b5 from both ends.
    let position = Position::from_fen(Variant::SURAKARTA, "6/1w4/6/6/1b4/6 b").expect("a board");
    let board = board(&position.game());
    let found = board
        .captures()
        .map_or_else(Vec::new, |moves| moves.sorted());
    assert_eq!(found, [join(7, 25)]);
    assert_eq!(board.situation(), Situation::Known(Score::win_in(1)));
    assert_eq!(board.side, Side::First);
}

#[test]
fn steps_and_ends_of_arcs_are_counted() {
    let of = |fen: &str| {
        let board = board(
            &Position::from_fen(Variant::SURAKARTA, fen)
                .expect("a board")
                .game(),
        );
        (
            [Side::First, Side::Second].map(|side| board.steps(side)),
            board.view.ends,
        )
    };
    // Four inner points of a rank have three empty ones beside them, the corners two.
    assert_eq!(of("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b"), ([16, 16], [8, 8]));
    // A stone in the corner is on no circuit, one on a2 on the outer, one on b2 twice.
    assert_eq!(of("w5/6/6/6/6/5b b"), ([3, 3], [0, 0]));
    assert_eq!(of("6/6/6/6/b4w/6 b"), ([5, 5], [4, 4]));
    assert_eq!(of("6/6/6/6/1b4/6 b"), ([8, 0], [8, 0]));
}

#[test]
fn only_wins_of_all_stones_are_proofs() {
    let best = |fen: &str| {
        let position = Position::from_fen(Variant::Surakarta { limit: 6 }, fen).expect("a board");
        let answer = ask(
            EngineOptions::default(),
            &Question::new(position, Effort::depth(5)),
            &Control::new(),
        );
        let (_, verdict) = answer.best().expect("the game is not over");
        (verdict.score, verdict.proof.map(|proof| proof.claim))
    };
    // A stone in the corner cannot be taken in one move, and two are more than one.
    assert_eq!(best("w5/6/6/6/6/bb4 b 5"), (Score::OPINION_MAX, None));
    assert_eq!(best("w5/6/6/6/6/bb4 w 5"), (-Score::OPINION_MAX, None));
    assert_eq!(
        best("6/1w4/6/6/1b4/6 b 3"),
        (Score::win_in(1), Some(Claim::Win))
    );
}
