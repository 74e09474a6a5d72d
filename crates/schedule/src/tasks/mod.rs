//! Tasks: their history, their assignment, leases and reports.

mod dispatch;
mod eligibility;
mod lease;
mod reports;
mod resumption;
mod task;

pub(crate) use task::TaskState;
