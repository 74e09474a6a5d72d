//! TLS 1.3, with certificates on one side or on both.

mod agreements;
mod client;
mod files;
mod listener;
mod paced;
mod seldom;
mod server;

pub(crate) use client::Client;
pub use files::TlsError;
pub use listener::{Connection, Listener};
pub use seldom::Seldom;
pub use server::{ServerFiles, ServerTls};
