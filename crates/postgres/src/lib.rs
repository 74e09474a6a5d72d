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
//!
//! Without the feature `client` the crate has the same names, and [`BookUrl::parse`] refuses every
//! address: nothing else of it can then be reached.

#[cfg(not(feature = "client"))]
mod absent;
#[cfg(feature = "client")]
mod client;
mod scheme;
mod transfer_report;

#[cfg(not(feature = "client"))]
pub use absent::{BookLease, BookUrl, BookUrlError, PostgresJournal, pull, push};
#[cfg(feature = "client")]
pub use client::{BookLease, BookUrl, BookUrlError, PostgresJournal, SCHEMA_VERSION, pull, push};
pub use transfer_report::TransferReport;
