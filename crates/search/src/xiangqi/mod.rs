//! Xiangqi for the search.

mod board;
mod evaluation;
mod exchange;
mod heuristics;
#[cfg(test)]
#[path = "../../tests/internal/xiangqi.rs"]
pub(crate) mod laws;
mod mate;
mod values;

pub(crate) use board::Board;
