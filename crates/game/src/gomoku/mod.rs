//! Gomoku: five in a row, by several rules.
//!
//! [`Gomoku`] is the board; [`forbidden()`] finds renju's forbidden points for any stones given as
//! [`Lines`].
//!
//! ```
//! use kagetsu_game::{Position, Variant};
//!
//! let position = Position::from_line(Variant::RENJU_15, "i8 a1 j8 a15 h9 o1 h10 o15")?;
//! let h8 = position.parse_move("h8")?; // joins the rows h8 i8 j8 and h8 h9 h10
//! assert_eq!(position.forbidden_moves(), [(h8, "double-three")]);
//! assert!(!position.legal_moves().contains(&h8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod around;
mod board;
mod drawing;
mod forbidden;
mod geometry;
mod info;
mod lines;
mod notation;
mod packing;
mod point;
mod rule;

pub use around::Around;
pub use board::{Gomoku, number};
pub(crate) use drawing::pack_stones;
pub use forbidden::{Forbidden, allowed, forbidden};
pub use geometry::{Cell, MAX_CELLS, MAX_SIZE};
pub(crate) use info::{GAME, code};
pub use lines::Lines;
pub use point::Point;
pub use rule::{Caro, Freestyle, Renju, Rule, Standard};
