//! The bytes of a compiled book.

pub(crate) mod buckets;
pub(crate) mod encoding;
pub(crate) mod header;
pub(crate) mod key_tail;
pub(crate) mod simd;
