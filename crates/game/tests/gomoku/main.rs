//! The three rules of gomoku against judged positions and against plain, slow implementations.
#![expect(
    clippy::print_stdout,
    reason = "tests say what they skipped and counted"
)]

#[path = "../data/mod.rs"]
mod data;
mod definition;
mod dice;
mod endings;
mod forbidden;
mod games;
mod hashes;
mod text;
