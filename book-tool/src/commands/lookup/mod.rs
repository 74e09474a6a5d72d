//! Reading a book: `query`, `pick`, `tree`, `explore`, `bottlenecks`, `stats`.

pub(crate) mod bottlenecks;
mod branches;
pub(crate) mod explore;
mod games;
pub(crate) mod pick;
pub(crate) mod practice;
pub(crate) mod query;
pub(crate) mod stats;
pub(crate) mod suspects;
pub(crate) mod tree;
