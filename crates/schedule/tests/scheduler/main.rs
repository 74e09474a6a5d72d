//! The scheduler seen from outside: laws of splitting and merging, tables of single events, and whole clusters under a
//! virtual clock.

mod clockwork;
mod cluster;
mod engine;
mod events;
mod merging;
