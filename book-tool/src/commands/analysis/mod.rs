//! Positions without a book: `analyze`, `moves`, `perft`.

pub(crate) mod analyze;
pub(crate) mod moves;
pub(crate) mod perft;
pub(crate) mod tables;
