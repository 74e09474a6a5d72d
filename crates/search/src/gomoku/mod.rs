//! Gomoku as the engine sees it, by all three rules.

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

mod assault;
mod board;
mod cells;
mod fitted;
mod fours;
mod kind;
#[cfg(test)]
mod laws;
mod places;
mod shape;
mod vcf;
mod vct;
mod weights;

pub(crate) use assault::{Assault, Candidate, Won};
pub(crate) use board::Board;
pub(crate) use fitted::{CLASSES, FLAGS, Fitted};
pub(crate) use vct::{Decision, Sketch, Table as ProofTable, Vct};
pub(crate) use with_rule;
