//! The journal of a book in PostgreSQL.
//!
//! A table keeps the entries of a book, in groups that are committed together. Any number of
//! processes may [`open`] it and read. One process at a time of those that [`join`] the book may
//! append: it holds the [`BookLease`], and every commit names the epoch of the lease, so a former
//! leader appends nothing after another has taken over. [`push`] and [`pull`] copy a journal
//! between a folder and a database. `FORMAT.md` describes the tables.
//!
//! The SQL is the subset that databases with PostgreSQL's wire protocol have in common.
//!
//! The crate refuses games, positions, async, and replication of its own.
//!
//! Without the feature `client` the crate has the same names, and [`BookUrl::parse`] refuses every
//! address: nothing else of it can then be reached.

#[cfg(not(feature = "client"))]
mod absent;
mod book_lease;
#[cfg(feature = "client")]
mod client;
mod scheme;
mod shared_book;
mod transfer_report;

#[cfg(not(feature = "client"))]
pub use absent::{BookUrl, BookUrlError, join, open, pull, push};
pub use book_lease::BookLease;
#[cfg(feature = "client")]
pub use client::{BookUrl, BookUrlError, PostgresJournal, SCHEMA_VERSION, join, open, pull, push};
pub use shared_book::SharedBook;
pub use transfer_report::TransferReport;
