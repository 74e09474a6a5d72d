//! The coordinator: divides positions among workers and keeps the book.
//!
//! The state is plain: a [`Scheduler`](kagetsu_schedule::Scheduler), a
//! [`Verification`](kagetsu_verification::Verification) and the connected workers, under one lock
//! that is never held across an await. The book writer owns the book on a thread of its own. A
//! report is acknowledged when it is on disk; one fsync serves many reports.
//!
//! This crate refuses the inside of a board.
#![forbid(unsafe_code)]

mod auth;
mod book;
mod candidates;
mod cluster;
mod config;
mod info;
mod replication;
mod server;
mod services;
mod telemetry;
mod verification;

pub use auth::{
    AuthError, Authenticator, Permission, Principal, Protected, Protection, RequestCredentials,
    Role, TokenEntry, Tokens, TokensError,
};
pub use config::Config;
pub use server::{Coordinator, Server, stop_on_signals};
pub use services::archive::Archive;
