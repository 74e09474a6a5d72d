//! The journal: everything that happened to a book, in order.

pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod manifest;
pub(crate) mod record;
pub(crate) mod rewrite;
