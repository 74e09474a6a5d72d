use crate::{RuleName, Side, Variant};

/// Columns of the largest board.
pub const MAX_SIZE: usize = 22;
/// Points of the largest board.
pub const MAX_CELLS: usize = MAX_SIZE * MAX_SIZE;

/// The stone on a point, if any.
pub type Cell = Option<Side>;

/// Returns the rule and the size of a gomoku board; `None` for other games.
pub(super) const fn dimensions(variant: Variant) -> Option<(RuleName, u8)> {
    match variant {
        Variant::Gomoku { rule, size } => Some((rule, size)),
        Variant::Xiangqi { .. } | Variant::Surakarta { .. } => None,
    }
}
