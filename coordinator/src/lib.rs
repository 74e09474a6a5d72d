//! The coordinator: divides positions among workers and keeps the book.
//!
//! Inside is plain state: a [`Scheduler`](kagetsu_schedule::Scheduler) and who is connected, under one lock that is never
//! held across an await. The book lives on a thread of its own, the keeper: what workers report is acknowledged when the
//! keeper has it on disk, many reports with one fsync.
//!
//! What this crate refuses: the inside of a board.
#![forbid(unsafe_code)]

mod analysis;
mod audit;
mod books;
mod builds;
mod busy;
mod census;
mod compare;
mod config;
mod desk;
mod door;
mod exam;
mod guard;
mod herald;
mod hub;
mod keeper;
mod library;
mod links;
mod metrics;
mod monitor;
mod progress;
mod prover;
mod quarantine;
mod reader;
mod server;
mod shallow;
mod state;
mod trust;
mod unheard;
mod watched;
mod workers;

pub use config::Config;
pub use guard::{
    Guard, GuardLayer, Need, Pass, Protected, Protection, Refusal, Role, TokenEntry, Tokens,
    TokensError,
};
pub use library::Shelf;
pub use reader::Reader;
pub use server::{Coordinator, Server};
