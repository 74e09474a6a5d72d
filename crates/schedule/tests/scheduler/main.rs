//! Tests of the scheduler's public interface: laws of splitting and merging, single events, and
//! whole clusters under a virtual clock.

mod clockwork;
mod cluster;
mod deadlines;
mod dispatch;
mod engine;
mod excluding;
mod harness;
mod leases;
mod merging;
mod nonsense;
mod reports;
mod shared_search;
