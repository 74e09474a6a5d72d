//! Text shared by several games: FEN and lines of moves.

pub(crate) mod fen;
pub(crate) mod line;

pub use fen::FenError;
