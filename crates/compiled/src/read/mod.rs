//! Compiled books that are read.

pub(crate) mod compiled;
pub(crate) mod map;
