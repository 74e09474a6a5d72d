//! Compiled books that are read.

pub(crate) mod buckets;
pub(crate) mod compiled;
#[cfg(feature = "files")]
pub(crate) mod file;
#[cfg(feature = "files")]
pub(crate) mod named;
pub(crate) mod source;
