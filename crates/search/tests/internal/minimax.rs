//! Alpha-beta against plain minimax, which has no window, no table and no order to go wrong.

use kagetsu_game::gomoku::{Freestyle, Standard};
use kagetsu_game::{Effort, Move, Position, Score, Variant};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::alphabeta::table::TranspositionTable;
use crate::alphabeta::{AlphaBeta, RootScore};
use crate::control::limits::SearchLimits;
use crate::gomoku::Board;
use crate::heuristics::{Heuristics, Moves, Situation};
use crate::surakarta;
use crate::surakarta::laws::few_stones;
use crate::xiangqi::{self, laws::few_pieces, laws::play_picks};
use crate::{Control, EngineOptions};

/// The value of a node by the definition that the search documents: every move that is to be
/// searched, to the end.
fn minimax<H: Heuristics>(board: &mut H, depth: i32, leaf_fours: u32) -> Score {
    let situation = board.situation();
    let (floor, next) = match situation {
        Situation::Over(score) | Situation::Known(score) | Situation::Repeated { score, .. } => {
            return score;
        }
        Situation::Forced { otherwise: 2 } => (Score::loss_in(2), depth.max(0)),
        _ if depth <= 0 => return leaf(board, leaf_fours),
        Situation::Forced { otherwise } => (Score::loss_in(otherwise), depth - 1),
        Situation::Free if board.moves(&situation).complete => (Score::MIN, depth - 1),
        Situation::Free => (-Score::OPINION_MAX, depth - 1),
    };
    let moves = board.moves(&situation).sorted();
    best(board, floor, moves, next, leaf_fours)
}

/// A win by continuous threats, or the best of the opinion and of the captures.
fn leaf<H: Heuristics>(board: &mut H, leaf_fours: u32) -> Score {
    let line = if board.may_have_vcf() {
        board.quick_vcf(&mut leaf_fours.clone())
    } else {
        None
    };
    let captures = || board.captures().map_or_else(Vec::new, Moves::sorted);
    match line {
        Some(line) => Score::win_in(line.len() as u16),
        None => best(board, board.evaluate(), captures(), 0, leaf_fours),
    }
}

fn best<H: Heuristics>(
    board: &mut H,
    floor: Score,
    moves: Vec<Move>,
    depth: i32,
    leaf_fours: u32,
) -> Score {
    let values = moves.into_iter().map(|m| {
        board.play(m);
        let value = minimax(board, depth, leaf_fours).before();
        board.undo();
        value
    });
    values.fold(floor, Ord::max)
}

/// Every root move by both ways.
fn compare<H: Heuristics>(
    position: &Position,
    depth: u8,
    leaf_fours: u32,
    table: &TranspositionTable,
) -> Result<(), TestCaseError> {
    let options = EngineOptions {
        candidates: 7,
        leaf_fours,
        selective: false,
        ..EngineOptions::default()
    };
    let mut board = H::new(&position.game(), &options);
    let control = Control::new();
    let limits = SearchLimits::new(&control, Effort::default());
    let mut search = AlphaBeta::new(board.clone(), table, &limits, &options);
    for m in board.moves(&board.situation()).sorted() {
        board.play(m);
        let plain = minimax(&mut board, i32::from(depth) - 1, leaf_fours).before();
        board.undo();
        let RootScore {
            score: value, line, ..
        } = search
            .root_move(m, depth, Score::MIN, Score::MAX)
            .expect("it is not stopped");
        prop_assert_eq!(value, plain, "{}: {}", position, position.write_move(m));
        prop_assert_eq!(line.first(), Some(&m));
        // A null window around the value tells on which side of it the truth lies.
        for raw in [plain.raw() - 1, plain.raw()] {
            let (Some(alpha), Some(beta)) = (Score::from_raw(raw), Score::from_raw(raw + 1)) else {
                continue;
            };
            let value = search
                .root_move(m, depth, alpha, beta)
                .expect("it is not stopped")
                .score;
            prop_assert_eq!(
                value >= beta,
                plain >= beta,
                "{}: {}",
                position,
                position.write_move(m)
            );
        }
    }
    Ok(())
}

fn position(name: &'static str, most: usize) -> impl Strategy<Value = Position> {
    let variant: Variant = name.parse().expect("a variant");
    prop::collection::vec(any::<Index>(), 1..most)
        .prop_map(move |picks| play_picks(Position::start(variant), &picks))
}

fn cases(few: u32) -> u32 {
    std::env::var("KAGETSU_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(few)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn alpha_beta_has_the_value_of_minimax(position in position("freestyle-8", 30), depth in 1u8..=4, fours in 0u32..6) {
        prop_assume!(position.outcome().is_none());
        compare::<Board<Freestyle>>(&position, depth, fours, &TranspositionTable::new(0))?;
    }

    #[test]
    fn alpha_beta_equals_minimax_with_exact_fives(
        position in position("standard-7", 36), depth in 1u8..=4, fours in 0u32..6,
    ) {
        prop_assume!(position.outcome().is_none());
        compare::<Board<Standard>>(&position, depth, fours, &TranspositionTable::new(0))?;
    }

    /// Without a table, as what it holds may have come by another path than the one that repeats.
    #[test]
    fn alpha_beta_equals_minimax_with_repetitions(position in few_pieces(24), depth in 1u8..=4) {
        prop_assume!(position.outcome().is_none());
        compare::<xiangqi::Board>(&position, depth, 0, &TranspositionTable::new(0))?;
    }

    /// Within three plies nothing is repeated that stood once.
    #[test]
    fn the_table_changes_no_value_of_xiangqi(position in few_pieces(2), depth in 1u8..=3) {
        prop_assume!(position.outcome().is_none());
        compare::<xiangqi::Board>(&position, depth, 0, &TranspositionTable::new(1 << 20))?;
    }

    #[test]
    fn alpha_beta_equals_minimax_with_material(position in few_stones(40), depth in 1u8..=3) {
        prop_assume!(position.outcome().is_none());
        compare::<surakarta::Board>(&position, depth, 0, &TranspositionTable::new(0))?;
    }

    /// Where too few plies are allowed for a repetition.
    #[test]
    fn the_table_changes_no_value_of_surakarta(position in few_stones(7), depth in 1u8..=3) {
        prop_assume!(position.outcome().is_none());
        compare::<surakarta::Board>(&position, depth, 0, &TranspositionTable::new(1 << 20))?;
    }
}

/// A case that the property tests once failed on.
#[test]
fn minimax_agrees_on_a_known_hard_position() {
    const CELLS: [u16; 29] = [
        8, 37, 11, 20, 26, 13, 21, 22, 23, 2, 25, 24, 39, 7, 34, 41, 27, 10, 45, 1, 3, 16, 19, 5,
        36, 0, 31, 4, 30,
    ];
    let start = Position::start("standard-7".parse().expect("a variant"));
    let position = CELLS.into_iter().fold(start, |position, cell| {
        position.play(Move::new(cell)).expect("legal")
    });
    compare::<Board<Standard>>(&position, 4, 4, &TranspositionTable::new(0)).expect("equal values");
}
