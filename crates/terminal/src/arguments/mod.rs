//! Arguments that several commands take.

pub mod effort;
