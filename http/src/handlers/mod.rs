//! The handlers of the API, one file for each subject.

pub(crate) mod analyses;
pub(crate) mod books;
pub(crate) mod builds;
mod events;
pub(crate) mod games;
pub(crate) mod overview;
pub(crate) mod priorities;
pub(crate) mod status;
pub(crate) mod suspects;
pub(crate) mod transpositions;
pub(crate) mod tree;
pub(crate) mod workers;
