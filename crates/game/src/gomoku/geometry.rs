use crate::Side;

/// Columns of the largest board.
pub const MAX_SIZE: usize = 22;
/// Points of the largest board.
pub const MAX_CELLS: usize = MAX_SIZE * MAX_SIZE;

/// The stone on a point, if any.
pub type Cell = Option<Side>;
