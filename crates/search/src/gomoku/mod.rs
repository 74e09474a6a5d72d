//! Gomoku for the search: boards with threats and evaluation, for all three rules.

/// Runs code with a rule's name as its type.
macro_rules! with_rule {
    ($rule:expr, $r:ident => $run:expr) => {
        match $rule {
            ::kagetsu_game::RuleName::Freestyle => {
                type $r = ::kagetsu_game::gomoku::Freestyle;
                $run
            }
            ::kagetsu_game::RuleName::Standard => {
                type $r = ::kagetsu_game::gomoku::Standard;
                $run
            }
            ::kagetsu_game::RuleName::Renju => {
                type $r = ::kagetsu_game::gomoku::Renju;
                $run
            }
        }
    };
}

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
pub(crate) use patterns::fitted::{CLASSES, FLAGS, Fitted};
pub(crate) use patterns::kind::KINDS;
pub(crate) use patterns::line::{LINE_CLASSES, shorter_line};
pub(crate) use patterns::network::{CHANNELS, COUNTS, DEEP_UNITS, UNITS};
pub(crate) use threats::lambda::{LambdaCandidate, LambdaSearch, LambdaWin};
pub(crate) use threats::vct::{ProofTable, ProofTemplate, Vct, VctDecision};
pub(crate) use with_rule;
