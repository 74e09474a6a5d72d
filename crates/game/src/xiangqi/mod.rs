//! Xiangqi (Chinese chess).
//!
//! # How a game ends
//! - The side to move has no legal move: it has lost, in check or not. (Where a position was set up with the general to be
//!   taken, that may be done, and leaves none.)
//! - 120 plies without a capture: a draw.
//! - A position stands for the third time. Judged is what was played since it stood for the first time. One side that gave
//!   check with every move, and the other did not, has lost; if both did, it is a draw. Else, by the variant's
//!   [`Chase`](crate::Chase): where a chase counts, one side that chased the same piece with every move, and the other did
//!   not, has lost. All else is a draw.
//!
//! The chase is the simplified one of the UCCI league: a move that gives no check chases what the piece that has just moved
//! attacks, if that is a rook attacked by a horse or a cannon, or an unprotected cannon attacked by a horse or a rook, an
//! unprotected horse attacked by a cannon or a rook, or an unprotected soldier beyond the river attacked by any of the
//! three. Pins count for nothing, discovered attacks are none. This is not the full law of Asian or world rules.
//!
//! An ending by repetition or by the 120 plies comes from the history, never from the position: a position packed, or set up
//! by FEN, has no history, and its key knows nothing of one. A value that came so must not be stored as the position's.
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
