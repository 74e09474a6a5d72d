//! The shared state of the cluster: connected workers, open questions, running analyses.

pub(crate) mod admission;
pub(crate) mod analysis_progress;
mod assignments;
pub(crate) mod connections;
mod dispatcher;
pub(crate) mod shared;
mod verdicts;
