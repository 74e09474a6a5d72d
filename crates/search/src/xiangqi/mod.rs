//! Xiangqi as an engine sees it.

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
