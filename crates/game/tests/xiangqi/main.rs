//! Xiangqi against published games and verdicts, and against a plain implementation of check.
#![expect(clippy::print_stdout, reason = "tests say what they skipped")]

#[path = "../data/mod.rs"]
mod data;
mod endings;
mod plain;
mod records;
mod scoresheet;
mod text;
