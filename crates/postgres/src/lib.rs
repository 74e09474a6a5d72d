//! The journal of a book in PostgreSQL.
//!
//! A [`PostgresJournal`] keeps the entries of a book in a table, in groups that are committed
//! together. Any number of processes may read it. One process at a time may append: it holds a
//! [`BookLease`], and every commit names the epoch of the lease, so a former leader appends nothing
//! after another has taken over. [`push`] and [`pull`] copy a journal between a folder and a
//! database. `FORMAT.md` describes the tables.
//!
//! The SQL is the subset that databases with PostgreSQL's wire protocol have in common.
//!
//! The crate refuses games, positions, async, and replication of its own.

mod book_url;
mod connect;
mod error;
mod group;
mod journal;
mod lease;
mod password;
mod schema;
mod session;
mod state;
mod tls;
mod transfer;

pub use book_url::{BookUrl, BookUrlError};
pub use journal::PostgresJournal;
pub use lease::BookLease;
pub use schema::SCHEMA_VERSION;
pub use transfer::{TransferReport, pull, push};
