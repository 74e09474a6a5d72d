//! The command `kagetsu`: builds, queries and maintains opening books.
//!
//! The crate reads arguments, calls the crates below, and prints. It refuses rules of its own.
#![forbid(unsafe_code)]

mod arguments;
mod cli;
mod client;
mod commands;
mod help;
mod output;

pub use cli::{Cli, command};
pub use commands::bench::run_beside;
pub use help::groups;
