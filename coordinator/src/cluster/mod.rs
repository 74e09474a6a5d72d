//! The shared state of the cluster: connected workers, open questions, running analyses.

mod admission;
pub(crate) mod analysis_progress;
pub(crate) mod applicant;
mod assignments;
pub(crate) mod connections;
mod dispatcher;
mod purpose;
mod reports;
pub(crate) mod shared;
mod verdicts;
