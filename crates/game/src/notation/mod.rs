//! Text formats shared by several games: drawn boards, FEN, lines of moves.

pub(crate) mod board_text;
pub(crate) mod fen;
pub(crate) mod line;
mod style;

pub use board_text::BoardError;
pub use fen::FenError;
pub use style::{Notation, NotationError};
