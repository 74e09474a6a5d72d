//! Whole clusters in one process: coordinators with their books, real workers, and workers moved by hand.

mod analyses;
mod builds;
mod cluster;
mod hostile;
mod limits;
mod lives;
mod proofs;
mod puppet;
mod trust;
mod workers;
