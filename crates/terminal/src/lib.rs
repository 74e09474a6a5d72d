//! The terminal side of the commands: tables, colours, JSON, and the arguments that several of them
//! take.
//!
//! The crate refuses any decision about games, books or clusters.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod colours;
pub mod echo;
pub mod json;
pub mod runtime;
pub mod table;
