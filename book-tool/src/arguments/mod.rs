//! Arguments that several commands take.

pub(crate) mod effort;
pub(crate) mod position;
pub(crate) mod split;
