//! Compiled books: one immutable file made from a book.

pub(crate) mod buckets;
pub(crate) mod delta;
pub(crate) mod encoding;
pub(crate) mod key_tail;
pub(crate) mod links;
pub(crate) mod map;
pub(crate) mod reader;
pub(crate) mod simd;
pub(crate) mod writer;
