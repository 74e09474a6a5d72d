//! Gomoku as the engine sees it, by all three rules.

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

pub(crate) use board::Board;
pub(crate) use fitted::{CLASSES, FLAGS, Fitted};
pub(crate) use vct::{Decision, Table as ProofTable, Vct};
