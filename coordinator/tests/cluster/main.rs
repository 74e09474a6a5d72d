//! Whole clusters in one process: coordinators with their books, real workers, and workers moved by hand.

mod analyses;
mod beats;
mod builds;
mod cluster;
mod hostile;
mod idle;
mod limits;
mod lives;
mod proofs;
mod puppet;
mod scenarios;
mod slow;
mod trust;
mod workers;
