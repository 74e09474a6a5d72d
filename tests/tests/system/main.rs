//! The whole system: programs as a user starts them, on real sockets, with real kills.

mod analyze;
mod brain;
mod build;
mod care;
mod chaos;
mod clients;
mod cluster;
mod compiled;
mod deploy;
mod disk;
mod engines;
mod fairy;
mod http;
mod kills;
mod liar;
mod metrics;
mod page;
mod proofs;
mod pygomo;
mod relay;
mod secure;
mod slurm;
mod surakarta;
mod upkeep;
mod wrong;
mod xiangqi;
