//! The opening book: records, journal, store, growth, propagation.
//!
//! A book is a folder. Its **journal** is the truth: an append-only file of checksummed entries, each of which says what was
//! learned. Its **store** is an index made from the journal: records, values, links and frontier, in sled. A result may be
//! acknowledged when its journal entry is on disk ([`Syncer`]); the store follows, and is rebuilt from the journal where it
//! is damaged. `FORMAT.md` draws the bytes.
//!
//! [`Book::compile`] writes what a book believes into one file that never changes, which any number of processes
//! look into at once: a [`Compiled`] book.
//!
//! What this crate refuses: networks, searching, async.

mod backup;
mod book;
mod buckets;
mod building;
mod bytes;
mod cache;
mod cells;
mod check;
mod choice;
mod compact;
mod compaction;
mod compile;
mod compiled;
mod derive;
mod entry;
mod error;
mod filter;
mod grades;
mod growth;
mod id;
mod index;
mod job;
mod journal;
mod layers;
mod lock;
mod manifest;
mod map;
mod node;
mod opening;
mod pieces;
mod processor;
mod prover;
mod prune;
mod reach;
mod record;
mod repair;
mod rewrite;
mod scanned;
mod sealed;
mod sled_store;
mod state;
mod stats;
mod store;
mod survey;
mod value;
mod way;

pub use backup::{BackupReport, backup};
pub use book::{Book, BookOptions, Entry};
pub use check::CheckReport;
pub use choice::Choice;
pub use compact::{Compact, CompactMove};
pub use compaction::CompactReport;
pub use compile::{CompileReport, Compiler};
pub use compiled::{Compiled, ENGINE};
pub use error::BookError;
pub use grades::{Grade, Grades, Hole};
pub use id::Place;
pub use job::{Aside, Bounds, Deepen, Job, JobChange, JobId, JobSpec, JobState, Policy, Work};
pub use journal::{Sequence, Syncer};
pub use opening::Notice;
pub use prune::{PruneReport, Pruning};
pub use repair::{RepairReport, repair};
pub use stats::Stats;
pub use value::Derived;
