//! The ordered key-value store below a book.
//!
//! [`LsmStore`] is a log-structured merge store without a log of its own, because the journal of a
//! book is one. Changes gather in a memtable in memory. When the memtable is large, a background
//! thread merges all levels into a new sorted file (an SSTable). [`Store::flush`] puts a small
//! memtable into a tree of sled instead, which is quicker than a new sorted file. Every level is
//! verified against checksums when the store is opened.
//!
//! Another store is another crate with a type that implements [`Store`] and has the functions
//! `create`, `open` and `copy_to_read`.
//!
//! The crate refuses any knowledge of positions, and durability of changes that were not
//! flushed.

mod bloom;
mod encoding;
mod error;
mod lsm;
mod manifest;
mod memtable;
mod merge;
mod partitions;
mod sled_db;
mod sled_level;
mod sstable;
mod store;

pub use encoding::{FORMAT_VERSION, body, decode, digest, encode, version};
pub use error::StoreError;
pub use lsm::LsmStore;
pub use partitions::{Partition, map_partitions};
pub use sled_db::catch_panics;
pub use store::{Batch, Pair, Pairs, Store};
