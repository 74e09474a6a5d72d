//! The client of the database.

mod book_url;
mod connect;
mod error;
mod group;
mod journal;
mod lease;
mod password;
mod rights;
mod schema;
mod session;
mod state;
mod tls;
mod transfer;

pub use book_url::{BookUrl, BookUrlError};
pub use journal::{PostgresJournal, join, open};
pub use schema::SCHEMA_VERSION;
pub use transfer::{pull, push};
