//! The positions of a book, their links and values, and how an entry of the journal changes them.

pub(crate) mod cache;
pub(crate) mod derive;
pub(crate) mod frontier;
pub(crate) mod frontier_change;
pub(crate) mod growth;
pub(crate) mod index;
pub(crate) mod job_state;
pub(crate) mod keys;
pub(crate) mod row;
