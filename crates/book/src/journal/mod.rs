//! The journal: everything that happened to a book, in order.

pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod frame;
pub(crate) mod frozen;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod reader;
pub(crate) mod rewrite;
pub(crate) mod salvage;
