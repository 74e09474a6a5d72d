//! Gomoku: five in a row, by three rules.
//!
//! [`Gomoku`] is the board; [`forbidden()`] judges renju's forbidden points on any set of stones kept as [`Lines`].

mod around;
mod board;
mod drawing;
mod forbidden;
mod lines;
mod notation;
mod packing;
mod point;
mod rule;

pub use around::Around;
pub use board::{Cell, Gomoku, MAX_CELLS, MAX_SIZE};
pub use drawing::BoardError;
pub(crate) use drawing::read_board;
pub use forbidden::{Forbidden, forbidden};
pub use lines::Lines;
pub use point::Point;
pub use rule::{Freestyle, Renju, Rule, Standard};
