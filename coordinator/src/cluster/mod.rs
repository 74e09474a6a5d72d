//! The shared state of the cluster: connected workers, open questions, running analyses.

mod admission;
pub(crate) mod analysis_progress;
pub(crate) mod applicant;
pub(crate) mod connections;
mod dispatcher;
mod expectation;
mod purpose;
mod reports;
pub(crate) mod shared;
mod verdicts;
