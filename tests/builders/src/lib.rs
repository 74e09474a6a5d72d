//! Builders of the values that tests of several crates need, and the one way in which a test that
//! lacks its tool is skipped.
//!
//! The crate refuses everything above the rules of the games: books, searches, servers.
#![forbid(unsafe_code)]

mod tools;
mod values;

pub use tools::{has_python_module, is_installed, skip};
pub use values::{opinion, position, position_of, provenance, undated, verdict};
