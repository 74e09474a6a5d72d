//! The positions of a book, their links and values, and how an entry of the journal changes them.

pub(crate) mod cache;
pub(crate) mod derive;
pub(crate) mod frontier;
pub(crate) mod frontier_change;
pub(crate) mod growth;
pub(crate) mod id;
pub(crate) mod index;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod node;
pub(crate) mod row;
pub(crate) mod value;
