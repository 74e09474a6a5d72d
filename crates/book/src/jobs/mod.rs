//! Build jobs: their settings, their state, and which position each searches next.

pub(crate) mod day;
pub(crate) mod frontier;
pub(crate) mod job;
pub(crate) mod lifecycle;
pub(crate) mod look_back;
pub(crate) mod move_filter;
pub(crate) mod policies;
pub(crate) mod questions;
pub(crate) mod spec;
pub(crate) mod state;
pub(crate) mod winning_moves;
pub(crate) mod work_queue;
