//! Gomoku: five in a row.

mod board;
mod notation;
mod rule;

pub use board::{Cell, Gomoku, MAX_CELLS, MAX_SIZE};
pub use rule::{Freestyle, Rule};
