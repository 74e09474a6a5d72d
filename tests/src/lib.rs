//! What the system tests share: real programs on real sockets, with ports chosen by the system; and the one engine that books
//! are held against, by the coordinator's tests too.
//!
//! What this crate refuses: tests of what happens inside one process.
#![forbid(unsafe_code)]

mod alone;
mod browser;
mod data;
mod dialogue;
mod http;
mod program;
mod scratch;
mod stub;

pub use alone::Alone;
pub use browser::Browser;
pub use data::shared_data;
pub use dialogue::Dialogue;
pub use http::{Answered, events, http};
pub use program::{Finished, Program, Running};
pub use scratch::Scratch;
pub use stub::stub_engine;
