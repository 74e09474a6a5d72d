//! Surakarta as the engine sees it.

mod board;
mod heuristics;
#[cfg(test)]
pub(crate) mod laws;
mod rings;
mod weights;

pub(crate) use board::Board;
