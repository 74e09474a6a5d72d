//! Reading a book: the commands of the registry of views, `query`, `explore`, `open` and
//! `practice`.

pub(crate) mod explore;
pub(crate) mod open;
pub(crate) mod practice;
mod practised;
pub(crate) mod query;
pub(crate) mod view;
