//! Laws of every parser: no input makes it panic, and what it accepts comes back the same when it
//! is written and read again. The fuzz targets (`fuzz`) and a test of this crate call them.
//!
//! Each function panics where its law does not hold.

mod engine_lines;
mod fen;
mod formats;
mod gomoku_board;
mod gomoku_line;
mod gomoku_packed;
mod http_request;
mod names;
mod piece_line;
mod piece_packed;
mod positions;
mod variants;
mod wire_messages;

pub use engine_lines::engine_lines;
pub use fen::fen;
pub use formats::formats;
pub use gomoku_board::gomoku_board;
pub use gomoku_line::gomoku_line;
pub use gomoku_packed::gomoku_packed;
pub use http_request::http_request;
pub use names::names;
pub use piece_line::piece_line;
pub use piece_packed::piece_packed;
pub use wire_messages::wire_messages;
