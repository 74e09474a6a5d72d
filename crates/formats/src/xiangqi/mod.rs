//! Formats of xiangqi programs.

pub(crate) mod colours;
pub(crate) mod eleeye;
pub(crate) mod obk;
pub(crate) mod pgn;
pub(crate) mod squares;
pub(crate) mod xqf;
pub(crate) mod zobrist;
