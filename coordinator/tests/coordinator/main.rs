//! Coordinators with books, real workers and workers that a test controls, in one process.

mod analyses;
mod auth;
mod beats;
mod builds;
mod hostile;
mod idle;
mod limits;
mod lives;
mod proofs;
mod scenarios;
mod slow;
mod trust;
mod workers;
mod world;
