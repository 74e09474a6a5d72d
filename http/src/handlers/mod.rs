//! The handlers of the API, one file for each subject.

pub(crate) mod analyses;
pub(crate) mod annotations;
pub(crate) mod builds;
mod events;
pub(crate) mod position;
pub(crate) mod status;
pub(crate) mod views;
pub(crate) mod workers;
