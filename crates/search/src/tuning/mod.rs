//! Features and tables for fitting the evaluation.

use kagetsu_game::gomoku::{MAX_CELLS, Rule};
use kagetsu_game::{Effort, Move, Position, Score, Side, Variant, with_rule};

use crate::alphabeta::AlphaBeta;
use crate::alphabeta::sample::LeafSample;
use crate::alphabeta::table::TranspositionTable;
use crate::control::limits::SearchLimits;
use crate::gomoku::{Board, Fitted};
use crate::heuristics::{Heuristics, Situation};
use crate::{Control, EngineOptions, Evaluation};

mod pieces;

pub use crate::gomoku::{
    CHANNELS, CLASSES as CELL_CLASSES, COUNTS as KIND_COUNTS, DEEP_UNITS, FLAGS as THREAT_SETS,
    KINDS as CELL_KINDS, LINE_CLASSES, UNITS as HIDDEN_UNITS, shorter_line,
};
pub use crate::networks::weights::weight_names;
pub use crate::xiangqi::{
    DEEP_UNITS as PIECE_DEEP_UNITS, HEADS as PIECE_HEADS, INPUTS as PIECE_INPUTS,
    UNITS as PIECE_UNITS, mirrored_input, turned_input,
};
pub use pieces::{PIECE_LOGIT_CENTI, PieceFeatures, piece_value, pieces};

/// Memory of the table of a search for leaves, in bytes.
const LEAF_TABLE_BYTES: usize = 4 << 20;

/// Fixed point of the hidden units.
const UNIT: f32 = 512.0;

/// Centi-units of one logit.
pub const LOGIT_CENTI: f32 = 200.0;

/// The features of a position that the evaluation uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellFeatures {
    /// The side to move.
    pub side: Side,
    /// The classes of every empty cell for the first and the second side, below [`CELL_CLASSES`].
    pub classes: Vec<[u16; 2]>,
    /// The classes of the four lines through every empty cell for the first and the second side,
    /// below [`LINE_CLASSES`].
    pub lines: Vec<[[u16; 2]; 4]>,
    /// Numbers of empty cells by side and kind.
    pub kinds: [[u16; CELL_KINDS]; 2],
    /// The set of threats, below [`THREAT_SETS`].
    pub threats: u16,
}

/// Returns the features of a gomoku position, or `None` where the game is decided or a four must be
/// met, because such positions are not evaluated.
#[must_use]
pub fn features(position: &Position) -> Option<CellFeatures> {
    let Variant::Gomoku { rule, .. } = position.variant() else {
        return None;
    };
    with_rule!(rule, R => of::<R>(position))
}

fn of<R: Rule>(position: &Position) -> Option<CellFeatures> {
    let board = Board::<R>::new(&position.game(), &EngineOptions::default());
    is_evaluated(board.situation()).then(|| CellFeatures {
        side: position.side(),
        classes: board.classes().collect(),
        lines: board.line_classes().collect(),
        kinds: board.kind_counts(),
        threats: board.flags() as u16,
    })
}

/// Returns the static value of a position in centi-units for the side to move, with the weights of
/// `evaluation` or those in use; `None` where [`features`] has none.
#[must_use]
pub fn value(position: &Position, evaluation: Option<Evaluation>) -> Option<i32> {
    let Variant::Gomoku { rule, .. } = position.variant() else {
        return None;
    };
    let options = EngineOptions {
        evaluation,
        ..EngineOptions::default()
    };
    with_rule!(rule, R => value_of::<R>(position, &options))
}

fn value_of<R: Rule>(position: &Position, options: &EngineOptions) -> Option<i32> {
    let board = Board::<R>::new(&position.game(), options);
    is_evaluated(board.situation()).then(|| board.evaluate().raw().into())
}

/// The features of a position that the move order uses.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFeatures {
    /// The side to move.
    pub side: Side,
    /// The moves that the search may try, each with the classes of its cell for the mover and for
    /// the opponent, below [`CELL_CLASSES`].
    pub candidates: Vec<(Move, [u16; 2])>,
    /// The positive hidden units of the network for the side to move.
    pub units: [f32; HIDDEN_UNITS],
}

/// Returns the features of a gomoku position for the move order; `None` where [`features`] has
/// none. The units are those of the network in `evaluation`, or of the one in use.
#[must_use]
pub fn order_features(
    position: &Position,
    evaluation: Option<Evaluation>,
) -> Option<OrderFeatures> {
    let Variant::Gomoku { rule, .. } = position.variant() else {
        return None;
    };
    with_rule!(rule, R => order_of::<R>(position, evaluation))
}

fn order_of<R: Rule>(position: &Position, evaluation: Option<Evaluation>) -> Option<OrderFeatures> {
    let options = EngineOptions {
        candidates: MAX_CELLS,
        evaluation,
        ..EngineOptions::default()
    };
    let board = Board::<R>::new(&position.game(), &options);
    let situation = board.situation();
    if !is_evaluated(situation) {
        return None;
    }
    let units = board.units()?;
    let classes = |m: &Move| {
        let classes = board.classes_of(m.index());
        [position.side(), position.side().other()].map(|side| classes[side.index()])
    };
    let moves = board.moves(&situation).sorted();
    Some(OrderFeatures {
        side: position.side(),
        candidates: moves.into_iter().map(|m| (m, classes(&m))).collect(),
        units: units.map(|unit| f32::from(unit) / UNIT),
    })
}

/// Whether the search evaluates such positions.
fn is_evaluated(situation: Situation) -> bool {
    matches!(
        situation,
        Situation::Free | Situation::Forced { otherwise: 4 }
    )
}

/// Returns one of `every` leaves of a search of `nodes` positions: what the evaluation has to
/// judge, quiet positions and others in which an open three must be met.
#[must_use]
pub fn leaves(position: &Position, nodes: u64, every: usize) -> Vec<Position> {
    let Variant::Gomoku { rule, .. } = position.variant() else {
        return Vec::new();
    };
    with_rule!(rule, R => leaves_of::<R>(position, nodes, every))
}

fn leaves_of<R: Rule>(position: &Position, nodes: u64, every: usize) -> Vec<Position> {
    let options = EngineOptions::default();
    let board = Board::<R>::new(&position.game(), &options);
    let Some(mut table) = TranspositionTable::of(LEAF_TABLE_BYTES) else {
        return Vec::new();
    };
    if !is_evaluated(board.situation()) {
        return Vec::new();
    }
    table.begin();
    let control = Control::new();
    let limits = SearchLimits::new(&control, Effort::nodes(nodes));
    let moves = board.moves(&board.situation()).sorted();
    let mut search =
        AlphaBeta::new(board, &table, &limits, &options).sampling(LeafSample::new(every));
    'deepening: for depth in 1..=Effort::MAX_DEPTH {
        let mut best = Score::MIN;
        for &m in &moves {
            let Some(found) = search.root_move(m, depth, best, Score::MAX) else {
                break 'deepening;
            };
            best = best.max(found.score);
        }
        if best.is_mate() {
            break;
        }
    }
    let paths = search.take_leaves();
    let after = |path: &Vec<_>| {
        path.iter()
            .try_fold(position.clone(), |position, &m| position.play(m).ok())
    };
    paths.iter().filter_map(after).collect()
}

/// Reads a table in the format of `data/`: values by class and by set of threats, in centi-units.
/// Returns `None` for a text of another form.
#[must_use]
pub fn read(text: &str) -> Option<(Vec<i16>, Vec<i16>)> {
    let table = Fitted::read(text)?;
    Some((table.values, table.threats))
}

/// Returns the text of a table, in the format of `data/`.
///
/// # Panics
/// If there are not [`CELL_CLASSES`] values and [`THREAT_SETS`] threats.
#[must_use]
pub fn write(values: Vec<i16>, threats: Vec<i16>) -> String {
    assert_eq!(
        (values.len(), threats.len()),
        (CELL_CLASSES, THREAT_SETS),
        "a table of another size"
    );
    Fitted { values, threats }.write()
}
