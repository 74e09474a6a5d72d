//! Gomoku as the engine sees it, for the rules whose fives are the same for both sides.

mod board;
mod kind;
#[cfg(test)]
mod laws;
mod places;
mod shape;
mod vcf;
mod weights;

pub(crate) use board::Board;
