//! A coordinator and its workers: scheduling, faults, limits and access.

mod chaos;
mod connection_limits;
mod database_faults;
mod databases;
mod full_disk;
mod kills;
mod metrics;
mod patroni;
mod politeness;
mod replication;
mod security;
pub(crate) mod updates;
mod workers;
