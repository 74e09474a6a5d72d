//! Workers: their capacity, leases and speed.

mod capacity;
mod latency;
mod roster;
mod suspension;
mod worker;

pub use capacity::Capacity;
pub(crate) use latency::{LatencyEstimate, SearchSpeed, is_too_slow};
pub(crate) use roster::{Candidate, Roster, Vacancy};
pub use suspension::Suspension;
pub(crate) use worker::{Lease, WaitingTasks, Worker};
