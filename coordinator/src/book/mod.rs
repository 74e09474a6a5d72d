//! The threads that own the book and make it durable, and read-only books.

pub(crate) mod committer;
mod following;
pub(crate) mod handle;
pub(crate) mod lost_replies;
pub(crate) mod rates;
mod status;
pub(crate) mod writer;

pub(crate) use status::status;
