//! Features and tables for fitting the evaluation.

use kagetsu_game::gomoku::{Freestyle, Renju, Rule, Standard};
use kagetsu_game::{Position, RuleName, Side, Variant};

use crate::EngineOptions;
use crate::gomoku::{Board, CLASSES, FLAGS, Fitted};
use crate::heuristics::{Heuristics, Situation};

/// Number of classes of empty cells.
pub const CELL_CLASSES: usize = CLASSES;
/// Number of sets of threats.
pub const THREAT_SETS: usize = FLAGS;

/// The features of a position that the evaluation uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellFeatures {
    /// The side to move.
    pub side: Side,
    /// The class of every empty cell, below [`CELL_CLASSES`], by side. Dead cells are left out.
    pub classes: [Vec<u16>; 2],
    /// The set of threats, below [`THREAT_SETS`].
    pub threats: u16,
}

/// Returns the features of a gomoku position, or `None` where a threat must be met, because such
/// positions are not evaluated.
#[must_use]
pub fn features(position: &Position) -> Option<CellFeatures> {
    match position.variant() {
        Variant::Gomoku {
            rule: RuleName::Freestyle,
            ..
        } => of::<Freestyle>(position),
        Variant::Gomoku {
            rule: RuleName::Standard,
            ..
        } => of::<Standard>(position),
        Variant::Gomoku {
            rule: RuleName::Renju,
            ..
        } => of::<Renju>(position),
        _ => None,
    }
}

fn of<R: Rule>(position: &Position) -> Option<CellFeatures> {
    let board = Board::<R>::new(&position.game(), &EngineOptions::default());
    (board.situation() == Situation::Free).then(|| CellFeatures {
        side: position.side(),
        classes: [Side::First, Side::Second].map(|side| board.classes(side)),
        threats: board.flags() as u16,
    })
}

/// Returns the table in use: values by class and by set of threats, in centi-units.
#[must_use]
pub fn table(rule: RuleName, side: Side) -> (Vec<i16>, Vec<i16>) {
    let Fitted { values, threats } = Fitted::of(rule, side);
    (values, threats)
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
