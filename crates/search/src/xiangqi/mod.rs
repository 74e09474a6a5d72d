//! Xiangqi for the search.

mod board;
mod evaluation;
mod exchange;
mod heuristics;
#[cfg(test)]
#[path = "../../tests/internal/xiangqi.rs"]
pub(crate) mod laws;
mod mate;
mod network;
mod values;

pub(crate) use board::Board;
pub use network::{DEEP_UNITS, HEADS, INPUTS, UNITS, mirrored_input, turned_input};
pub(crate) use network::{PieceNetwork, head_at};
