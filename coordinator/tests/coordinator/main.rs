//! Coordinators with books, real workers and workers that a test controls, in one process.

mod analyses;
mod auth;
mod beats;
mod builds;
mod hostile;
mod idle;
mod limits;
mod proofs;
mod restarts;
mod scenarios;
mod slow;
mod trust;
mod workers;
mod world;
