//! Arguments that several commands take.

pub(crate) mod path;
pub(crate) mod position;
pub(crate) mod query;
