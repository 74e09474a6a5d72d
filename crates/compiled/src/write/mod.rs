//! Compiled books that are written.

pub(crate) mod compiler;
pub(crate) mod delta;
pub(crate) mod put;
