//! The views, one file for each.

pub mod annotations;
pub mod book;
pub mod books;
pub mod bottlenecks;
pub mod games;
pub mod pick;
pub mod priorities;
pub mod statistics;
pub mod suspects;
pub mod transpositions;
pub mod tree;
