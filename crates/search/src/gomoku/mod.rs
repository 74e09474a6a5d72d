//! Gomoku for the search: boards with threats and evaluation, for all rules.

mod board;
mod cells;
#[cfg(test)]
#[path = "../../tests/internal/gomoku.rs"]
mod laws;
mod patterns;
mod places;
mod threats;

pub(crate) use board::Board;
pub use patterns::evaluation::Evaluation;
pub(crate) use patterns::fitted::Fitted;
pub use patterns::fitted::{CLASSES, FLAGS};
pub use patterns::kind::KINDS;
pub use patterns::line::{LINE_CLASSES, shorter_line};
pub use patterns::network::{CHANNELS, COUNTS, DEEP_UNITS, UNITS};
pub(crate) use threats::lambda::{LambdaCandidate, LambdaSearch, LambdaWin};
pub(crate) use threats::memory::TemplateMemory;
pub(crate) use threats::vct::{ProofTable, ProofTemplate, Vct, VctDecision};
