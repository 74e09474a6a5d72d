//! The shared state of the cluster: connected workers, open questions, running analyses.

pub(crate) mod hub;
pub(crate) mod links;
pub(crate) mod shallow;
pub(crate) mod state;
pub(crate) mod watched;
