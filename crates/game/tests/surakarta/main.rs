//! Surakarta against other programs' judgements, and against a plain twin of its table of captures.
#![expect(clippy::print_stdout, reason = "tests say what they skipped")]

#[path = "../data/mod.rs"]
mod data;
#[path = "../gomoku/dice.rs"]
mod dice;
mod endings;
mod records;
mod text;
mod tracks;
