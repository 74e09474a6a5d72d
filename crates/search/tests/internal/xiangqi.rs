//! Laws of the board: what is kept up to date is what a fresh look would find, and the rules' own
//! board agrees.

use kagetsu_game::xiangqi::{Square, Xiangqi, ends};
use kagetsu_game::{
    Answer, Chase, Effort, Game, Move, Outcome, Position, Question, Score, Symmetry, Variant,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::Board;
use super::exchange::exchange;
use crate::heuristics::{Heuristics, Situation};
use crate::{Control, Engine, EngineOptions};

/// Positions with few pieces and much to capture, to check and to repeat.
const SPARSE: [&str; 8] = [
    "3k5/4a4/4P4/9/5n3/2R6/9/4B4/9/4K4 w",
    "3ak4/9/3P5/3R5/9/6c2/9/4C4/4r4/3K5 w",
    "4k4/4c4/9/9/9/9/9/4R4/9/3K5 w",
    "5k3/9/9/9/n8/9/9/9/1R7/3K5 w",
    "2b1ka3/9/4b4/9/2p3N2/6P2/9/3cp4/4A4/4KA3 w",
    "4kab2/9/4b4/p3C4/9/2P6/8r/4B4/4A4/3AK1B2 b",
    "3k5/9/9/3R5/3r5/9/4p4/3C5/4A4/3K5 b",
    "3a1k3/4P4/9/1N7/9/9/3p5/9/3p5/4K4 b",
];

/// One of the sparse positions, and what the picks make of it while the game goes on.
pub(crate) fn few_pieces(most: usize) -> impl Strategy<Value = Position> {
    played(0..SPARSE.len(), most)
}

/// The same, or the start and what becomes of it.
fn position(most: usize) -> impl Strategy<Value = Position> {
    played(0..SPARSE.len() + 3, most)
}

fn played(numbers: std::ops::Range<usize>, most: usize) -> impl Strategy<Value = Position> {
    let variants = [
        Variant::XIANGQI,
        Variant::Xiangqi {
            chase: Chase::Simple,
        },
    ];
    let begin = (numbers, select(variants.to_vec())).prop_map(|(number, variant)| {
        match SPARSE.get(number) {
            Some(fen) => Position::from_fen(variant, fen).expect("a position"),
            None => Position::start(variant),
        }
    });
    let picks = prop::collection::vec(any::<Index>(), 0..most);
    (begin, picks).prop_map(|(position, picks)| play_picks(position, &picks))
}

/// Plays a legal move for each pick, while the game goes on.
pub(crate) fn play_picks(mut position: Position, picks: &[Index]) -> Position {
    for pick in picks {
        let legal = position.legal_moves();
        if !legal.is_empty() {
            position = position.play(*pick.get(&legal)).expect("legal");
        }
    }
    position
}

/// A search may stop at any time: every move has a verdict, every line is legal, and every mate
/// score has its proof.
pub(crate) fn claims_nothing_false(position: &Position, nodes: u64) -> Result<(), TestCaseError> {
    prop_assume!(position.outcome().is_none());
    let options = EngineOptions::default();
    let question = |effort| Question::new(position.clone(), effort);
    let answer = ask(options, &question(Effort::nodes(nodes)), &Control::new());
    prop_assert!(answer.best().is_some());
    for (m, verdict) in answer.verdicts() {
        let line: Vec<String> = verdict
            .line
            .iter()
            .map(|&m| position.write_move(m))
            .collect();
        prop_assert!(
            position.play_line(&line.join(" ")).is_ok(),
            "{position}: {line:?}"
        );
        prop_assert!(line.is_empty() || verdict.line[0] == *m);
        prop_assert_eq!(verdict.score.is_mate(), verdict.proof.is_some());
    }
    let stopped = Control::new();
    stopped.stop();
    prop_assert!(
        ask(options, &question(Effort::depth(9)), &stopped)
            .best()
            .is_some()
    );
    Ok(())
}

pub(crate) fn ask(options: EngineOptions, question: &Question, control: &Control) -> Answer {
    let options = EngineOptions {
        table_bytes: options.table_bytes.min(1 << 16),
        ..options
    };
    let mut engine = Engine::new(options).expect("an engine");
    engine
        .answer(question, control, &mut |_| {})
        .expect("supported and legal")
}

fn legal(game: &Xiangqi) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves_on_board(&mut moves);
    moves
}

fn agree(board: &Board, game: &Xiangqi) -> Result<(), TestCaseError> {
    let new = Board::of_game(game);
    prop_assert_eq!(board.state(), new.state());
    prop_assert_eq!(board.hash(), game.hash());
    prop_assert_eq!(board.is_check(), game.is_check());
    prop_assert_eq!(board.legal(), legal(game));
    prop_assert_eq!(board.evaluate(), new.evaluate());
    let mut all = board.moves(&Situation::Free).sorted();
    all.sort();
    let mut legal = legal(game);
    legal.sort();
    prop_assert_eq!(&all, &legal);
    for &m in &legal {
        let mut next = game.clone();
        next.play(m);
        prop_assert_eq!(
            board.force(m).attacks,
            next.is_check() || game.captured(m).is_some()
        );
    }
    // The rules judge by the third time, and so does the board where the search has just begun.
    let over = matches!(
        new.situation(),
        Situation::Over(_) | Situation::Repeated { .. }
    );
    prop_assert_eq!(over, game.outcome().is_some());
    Ok(())
}

proptest! {
    #[test]
    fn play_and_undo_keep_what_a_new_board_would_find(
        position in position(60), picks in prop::collection::vec((any::<Index>(), prop::bool::weighted(0.25)), 1..60),
    ) {
        let mut game: Xiangqi = position.game();
        let mut board = Board::of_game(&game);
        let begun = game.history().len();
        for (pick, back) in picks {
            let moves = legal(&game);
            if moves.is_empty() || back && game.history().len() > begun {
                if game.history().len() == begun {
                    break;
                }
                game.undo();
                board.undo();
            } else {
                let m = *pick.get(&moves);
                game.play(m);
                board.play(m);
            }
            agree(&board, &game)?;
        }
    }

    #[test]
    fn an_image_of_a_position_is_worth_the_same(position in position(80), number in 0u8..4) {
        let (variant, symmetry) = (position.variant(), Symmetry::new(number));
        let game: Xiangqi = position.game();
        let image = Xiangqi::unpack(variant, &game.pack(symmetry)).expect("an image is a position");
        let (board, image) = (Board::of_game(&game), Board::of_game(&image));
        prop_assert_eq!(board.evaluate(), image.evaluate());
        let worths = |board: &Board| {
            let mut moves = board.moves(&Situation::Free);
            let mut worths: Vec<i32> = std::iter::from_fn(|| moves.take()).map(|(worth, _)| worth).collect();
            worths.sort_unstable();
            worths
        };
        prop_assert_eq!(worths(&board), worths(&image));
    }

    #[test]
    fn a_search_of_an_image_finds_the_same_value(position in few_pieces(30), number in 1u8..4, depth in 1u8..=3) {
        prop_assume!(position.outcome().is_none());
        let game: Xiangqi = position.game();
        let options =
            EngineOptions { table_bytes: 0, leaf_fours: 0, selective: false, ..EngineOptions::default() };
        let value = |symmetry| {
            let image = Position::unpack(position.variant(), game.pack(symmetry)).expect("an image is a position");
            let answer = ask(options, &Question::new(image, Effort::depth(depth)), &Control::new());
            answer.best().map(|(_, verdict)| verdict.score)
        };
        prop_assert_eq!(value(Symmetry::IDENTITY), value(Symmetry::new(number)));
    }

    #[test]
    fn stopped_search_claims_nothing_false(position in position(60), nodes in 0u64..3_000) {
        claims_nothing_false(&position, nodes)?;
    }

    #[test]
    fn a_null_move_only_changes_the_side(position in position(60)) {
        let board = Board::of_game(&position.game());
        let mut passed = board.clone();
        if passed.pass() {
            prop_assert_eq!(passed.sum(), board.sum());
            prop_assert_ne!(passed.hash(), board.hash());
            passed.undo();
        }
        prop_assert_eq!(passed.state(), board.state());
    }
}

/// Replays a claimed mate by the rules alone: the attacker checks with every move, every reply is
/// tried, and the game ends within the plies.
fn mates(game: &mut Xiangqi, plies: u16) -> bool {
    let mut all = Vec::new();
    game.moves(&mut all);
    all.into_iter().any(|m| {
        game.play(m);
        let mates = game.is_check() && answers_fail(game, plies.saturating_sub(1));
        game.undo();
        mates
    })
}

fn answers_fail(game: &mut Xiangqi, plies: u16) -> bool {
    let winner = game.side().other();
    if let Some(outcome) = game.outcome() {
        return outcome == Outcome::Win(winner);
    }
    let mut all = Vec::new();
    game.moves(&mut all);
    plies >= 2
        && all.into_iter().all(|m| {
            game.play(m);
            let mates = game.outcome().is_none() && mates(game, plies - 1);
            game.undo();
            mates
        })
}

#[test]
fn mates_by_checks_are_found_and_are_the_shortest() {
    for (fen, plies) in [
        ("3k5/R8/9/9/9/5R3/9/9/9/4K4 w", 1),
        ("4k4/9/9/9/9/9/9/R8/1R7/4K4 w", 3),
        ("3aka3/9/9/9/9/4C4/9/9/4C4/4K4 w", 1),
    ] {
        let position = Position::from_fen(Variant::XIANGQI, fen).expect("a position");
        let mut game: Xiangqi = position.game();
        let line = Board::of_game(&game)
            .vcf(&mut 10_000, 10)
            .unwrap_or_else(|| panic!("{fen}"));
        assert_eq!(line.len(), plies, "{fen}");
        assert!(
            mates(&mut game, plies as u16) && (plies < 3 || !mates(&mut game, plies as u16 - 2)),
            "{fen}"
        );
    }
}

#[test]
fn perpetual_check_is_no_mate() {
    let position =
        Position::from_fen(Variant::XIANGQI, "3k5/R8/9/9/9/9/9/9/9/4K4 w").expect("a position");
    let mut budget = 10_000;
    assert_eq!(Board::of_game(&position.game()).vcf(&mut budget, 30), None);
    assert!(budget > 0, "checks that repeat are tried no further");
}

/// Cycles, and what the position is worth to the side to move when it has come again.
#[test]
fn a_repetition_in_the_search_is_judged_by_the_rules() {
    let forfeit = Score::OPINION_MAX;
    for (variant, fen, cycle, value) in [
        (
            "xiangqi",
            "3k5/R8/9/9/9/9/9/9/9/4K4 w",
            ["a8a9", "d9d8", "a9a8", "d8d9"],
            -forfeit,
        ),
        (
            "xiangqi",
            "4k4/4c4/9/9/9/9/9/4R4/9/3K5 w",
            ["e2d2", "e8d8", "d2e2", "d8e8"],
            Score::ZERO,
        ),
        (
            "xiangqi",
            "5k3/9/9/9/n8/9/9/9/1R7/3K5 w",
            ["b1a1", "a5b7", "a1b1", "b7a5"],
            Score::ZERO,
        ),
        (
            "xiangqi-chase",
            "5k3/9/9/9/n8/9/9/9/1R7/3K5 w",
            ["b1a1", "a5b7", "a1b1", "b7a5"],
            -forfeit,
        ),
    ] {
        let variant: Variant = variant.parse().expect("a variant");
        let position = Position::from_fen(variant, fen).expect("a position");
        let once = position.play_line(&cycle.join(" ")).expect("legal");
        let moves = once.moves().to_vec();
        let mut board = Board::of_game(&position.game());
        for (count, &m) in moves.iter().enumerate() {
            assert!(
                !matches!(board.situation(), Situation::Repeated { .. }),
                "{fen} {count}"
            );
            board.play(m);
        }
        assert_eq!(
            board.situation(),
            Situation::Repeated {
                score: value,
                plies: 4
            },
            "{fen}"
        );
        // Moves played before the search count as the rules count them.
        let mut board = Board::of_game(&once.game());
        assert_eq!(board.situation(), Situation::Free, "{fen}");
        moves[..3].iter().for_each(|&m| board.play(m));
        assert_eq!(board.situation(), Situation::Free, "{fen}");
        board.play(moves[3]);
        assert_eq!(
            board.situation(),
            Situation::Repeated {
                score: value,
                plies: 4
            },
            "{fen}"
        );
    }
}

#[test]
fn exchanges_gain_what_the_least_pieces_leave() {
    for (fen, m, gain) in [
        // A free soldier; one that a rook protects; a rook for a horse that a cannon behind its
        // screen protects.
        ("4k4/9/9/9/9/2p6/9/9/2R6/3K5 w", "c1c4", 100),
        ("4k4/9/9/2r6/9/2p6/9/9/2R6/3K5 w", "c1c4", 100 - 950),
        ("4k4/9/2r6/9/2p6/9/9/2R6/2R6/3K5 w", "c2c5", 100),
        ("4k4/9/2c6/2p6/9/2n6/9/9/2R6/3K5 w", "c1c4", 420 - 950),
        ("4k4/9/9/2p6/9/2n6/9/9/2R6/3K5 w", "c1c4", 420),
        // The cannon's screen goes away with the first capture.
        ("4k4/9/9/2p6/9/9/2R6/2C6/9/3K5 w", "c3c6", 100),
    ] {
        let position = Position::from_fen(Variant::XIANGQI, fen).expect("a position");
        let m = position.parse_move(m).expect("a move");
        let (from, to): (Square, Square) = ends(m).expect("two points");
        assert_eq!(
            exchange(&Board::of_game(&position.game()).pieces, from, to),
            gain,
            "{fen}"
        );
    }
}
