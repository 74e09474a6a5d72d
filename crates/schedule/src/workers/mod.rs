//! Workers: what they can take, what they hold, how fast they are.

mod capacity;
mod latency;
mod roster;
mod suspension;
mod worker;

pub use capacity::Capacity;
pub(crate) use latency::{Forecast, Pace, is_behind};
pub(crate) use roster::{Room, Roster, Turn};
pub use suspension::Suspension;
pub(crate) use worker::{Hold, Waits, Worker};
