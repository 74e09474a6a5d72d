//! Reading a book: the commands of the registry of views, `query`, `suspects`, `explore` and
//! `practice`.

pub(crate) mod explore;
pub(crate) mod practice;
pub(crate) mod query;
pub(crate) mod suspects;
pub(crate) mod view;
