//! Surakarta for the search.

mod board;
mod heuristics;
#[cfg(test)]
#[path = "../../tests/internal/surakarta.rs"]
pub(crate) mod laws;
#[cfg(test)]
mod opening;
mod rings;
mod weights;

pub(crate) use board::Board;
