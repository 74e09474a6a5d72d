//! Xiangqi (Chinese chess).
//!
//! # How a game ends
//! - The side to move has no legal move: it has lost, in check or not. (In a position set up so
//!   that the general can be captured, the capture is legal and ends the game.)
//! - 120 plies without a capture draw.
//! - A position occurs for the third time. The moves since its first occurrence decide. If one side
//!   gave check with every move and the other did not, it has lost; if both did, it is a draw.
//!   Otherwise, where the variant counts a [`Chase`](crate::Chase), a side that chased the same
//!   piece with every move has lost if the other did not. All else is a draw.
//!
//! The chase is the simplified rule of the UCCI league. A move that gives no check chases the
//! pieces that the moved piece attacks: a rook attacked by a horse or a cannon, an unprotected
//! cannon attacked by a horse or a rook, an unprotected horse attacked by a cannon or a rook, or an
//! unprotected soldier beyond the river attacked by any of the three. Pins and discovered attacks
//! are ignored. This is not the full Asian or world rule.
//!
//! Repetitions and the 120 plies belong to the history, not to the position: a packed position or a
//! FEN has no history, and the key ignores it. A value that rests on the history must not be stored
//! as the position's.
//!
//! ```
//! use kagetsu_game::{Position, Variant, xiangqi::Xiangqi};
//!
//! let start = Position::start(Variant::XIANGQI);
//! let m = start.parse_move("h2e2")?;
//! let board: Xiangqi = start.game();
//! assert_eq!((board.wxf(m), board.chinese(m)), ("C2=5".into(), "炮二平五".into()));
//! # Ok::<(), kagetsu_game::MoveError>(())
//! ```

mod board;
mod check;
mod draw;
mod entry_reader;
mod geometry;
mod info;
mod notation;
mod packing;
mod piece;
mod repetition;
mod rules;
mod scoresheet;
mod squares;

pub use board::{Board, reach};
pub use check::Danger;
pub use geometry::between;
pub(crate) use info::{GAME, code};
pub use notation::{ends, join, parse_from_one, write_from_one};
pub use piece::{Kind, Piece};
pub use repetition::judge;
pub use rules::{QUIET_LIMIT, Xiangqi, number};
pub use squares::{FILES, RANKS, SQUARES, Square, Squares};
