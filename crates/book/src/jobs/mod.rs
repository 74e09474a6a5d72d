//! Build jobs: their settings, their state, and which position each searches next.

pub(crate) mod building;
pub(crate) mod job;
pub(crate) mod move_filter;
pub(crate) mod prover;
pub(crate) mod state;
