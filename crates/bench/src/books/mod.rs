//! Measurements of books on disk.

mod folder;
pub(crate) mod format;
pub(crate) mod growth;
