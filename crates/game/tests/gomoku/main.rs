//! Gomoku's three rules against tables of judged positions and against slow, plain twins of the fast code.
#![expect(
    clippy::print_stdout,
    reason = "tests say what they skipped and counted"
)]

mod data;
mod definition;
mod dice;
mod endings;
mod forbidden;
mod games;
mod hashes;
mod text;
