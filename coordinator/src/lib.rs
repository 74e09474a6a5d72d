//! The coordinator: divides positions among workers and keeps the book.
//!
//! Inside is plain state: a [`Scheduler`](kagetsu_schedule::Scheduler) and who is connected, under one lock that is never
//! held across an await. The book lives on a thread of its own, the keeper: what workers report is acknowledged when the
//! keeper has it on disk, many reports with one fsync.
//!
//! What this crate refuses: the inside of a board.
#![forbid(unsafe_code)]

mod auth;
mod book;
mod candidates;
mod cluster;
mod config;
mod replication;
mod server;
mod services;
mod telemetry;
mod verification;

pub use auth::{
    AuthError, AuthLayer, Authenticator, Permission, Principal, Protected, Protection,
    RequestCredentials, Role, TokenEntry, Tokens, TokensError,
};
pub use book::registry::BookSource;
pub use config::Config;
pub use server::{Coordinator, Server};
pub use services::reader::Reader;
