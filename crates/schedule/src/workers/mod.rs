//! Workers: their capacity, leases and speed.

mod capacity;
mod latency;
mod roster;
mod worker;

pub use capacity::Capacity;
pub(crate) use latency::LatencyEstimate;
pub(crate) use roster::{Candidate, Roster, Vacancy};
pub(crate) use worker::{Lease, Worker};
