//! What a fit of the evaluation needs to know: the features of a position, and the tables they are written to.

use kagetsu_game::gomoku::{Freestyle, Renju, Rule, Standard};
use kagetsu_game::{Position, RuleName, Side, Variant};

use crate::EngineOptions;
use crate::gomoku::{Board, CLASSES, FLAGS, Fitted};
use crate::heuristics::{Heuristics, Situation};

/// How many classes of empty cells there are.
pub const CELL_CLASSES: usize = CLASSES;
/// How many sets of threats there are.
pub const THREAT_SETS: usize = FLAGS;

/// What the evaluation sees of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellFeatures {
    /// Who is to move.
    pub side: Side,
    /// The class of every empty cell, below [`CELL_CLASSES`], by side; dead cells are left out.
    pub classes: [Vec<u16>; 2],
    /// The set of threats, below [`THREAT_SETS`].
    pub threats: u16,
}

/// The features of a gomoku position, if nothing forces there: else its value is not asked for.
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

/// The table in use, as values by class and by set of threats, in centi-units.
#[must_use]
pub fn table(rule: RuleName, side: Side) -> (Vec<i16>, Vec<i16>) {
    let Fitted { values, threats } = Fitted::of(rule, side);
    (values, threats)
}

/// The text of a table, as it stands in `data/`.
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
