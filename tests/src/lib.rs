//! Shared parts of the system tests: real programs on real sockets, with ports that the system
//! chooses, and the reference engine for books.
//!
//! What does this crate refuse? Tests of the inside of a process.
#![forbid(unsafe_code)]

mod browser;
mod data;
mod dialogue;
mod http;
mod port;
mod postgres;
mod program;
mod reference_engine;
mod scratch;
mod words;

pub use browser::Browser;
pub use data::shared_data;
pub use dialogue::Dialogue;
pub use http::{Answered, events, http};
pub use port::ReservedPort;
pub use postgres::PostgresServer;
pub use program::{Finished, Program, Running, stub_engine};
pub use reference_engine::ReferenceEngine;
pub use scratch::Scratch;
pub use words::words_of;
#[doc(hidden)]
pub use xshell;
