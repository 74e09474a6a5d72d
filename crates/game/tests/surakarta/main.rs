//! Surakarta against results of other programs, and against a plain implementation of captures.
#![expect(clippy::print_stdout, reason = "tests say what they skipped")]

#[path = "../data/mod.rs"]
mod data;
#[path = "../gomoku/dice.rs"]
mod dice;
mod endings;
mod records;
mod text;
mod tracks;
