//! Tasks: their history, and how they get into a worker's hands and out of them.

mod dispatch;
mod eligibility;
mod lease;
mod reports;
mod resumption;
mod task;

pub(crate) use task::Part;
