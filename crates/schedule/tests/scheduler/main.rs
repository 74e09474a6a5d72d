//! The scheduler seen from outside: laws of splitting and merging, tables of single events, and whole clusters under a
//! virtual clock.

mod bars;
mod clockwork;
mod cluster;
mod deadlines;
mod desk;
mod dispatch;
mod engine;
mod leases;
mod merging;
mod nonsense;
mod pool;
mod reports;
