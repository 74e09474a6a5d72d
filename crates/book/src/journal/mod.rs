//! The journal: what was learned, in the order in which it was learned.

pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod manifest;
pub(crate) mod record;
pub(crate) mod rewrite;
