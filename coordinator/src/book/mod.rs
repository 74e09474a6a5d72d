//! The threads that own the book and make it durable, and read-only books.

pub(crate) mod desk;
pub(crate) mod herald;
pub(crate) mod keeper;
pub(crate) mod library;
pub(crate) mod progress;
