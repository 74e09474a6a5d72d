//! Clusters in one process: coordinators with books, real workers, and scripted ones.

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
