//! Surakarta for the search.

mod board;
pub(crate) mod end_tables;
mod heuristics;
#[cfg(test)]
#[path = "../../tests/internal/surakarta.rs"]
pub(crate) mod laws;
mod rings;
mod weights;

pub(crate) use board::Board;
