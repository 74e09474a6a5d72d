//! The door of Kagetsu: the command `kagetsu`, by which people and scripts build, ask and care for opening books.
//!
//! What it refuses: rules of its own. It reads arguments, asks the crates below, and prints.
#![forbid(unsafe_code)]

mod arguments;
mod books;
mod cli;
mod client;
mod commands;
mod output;
mod runtime;

pub use cli::Cli;
pub use commands::brain::{PlayArgs, gomocup};
