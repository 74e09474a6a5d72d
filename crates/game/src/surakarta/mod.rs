//! Surakarta: 6x6 points, twelve stones a side, captures along two circuits that leave the board at
//! its corners.
//!
//! A stone steps to an empty neighbour, in any of eight directions. It captures along a circuit:
//! over empty points, around at least one of the eight arcs, to the first stone in the way, which
//! must be an enemy stone. Its own starting point counts as empty. Captures are not compulsory.
//!
//! A side without stones has lost. The game also ends when a position occurs for the third time,
//! when a limit of plies without a capture is reached (a part of the
//! [variant](crate::Variant::Surakarta)), and when the side to move has no move; then more stones
//! win, and equal numbers draw. The count of quiet plies belongs to the game, not to the position:
//! [`Game::pack`](crate::Game::pack) and the key ignore it.
//!
//! ```
//! use kagetsu_game::{Position, Variant};
//!
//! let start = Position::from_fen(Variant::SURAKARTA, "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b")?;
//! assert_eq!(start, Position::start(Variant::SURAKARTA));
//! assert_eq!(start.legal_moves().len(), 16);
//! # Ok::<(), kagetsu_game::PositionError>(())
//! ```

mod board;
mod circuits;
mod info;
mod notation;
mod packing;
mod rules;

pub use board::{Board, NEIGHBOURS};
pub use circuits::{CIRCUITS, routes};
pub(crate) use info::{GAME, code};
pub use rules::Surakarta;

/// Columns, and rows, of the board.
pub const SIZE: usize = 6;
/// Points of the board; `a1` is 0, `f1` is 5, `a2` is 6.
pub const POINTS: usize = SIZE * SIZE;
