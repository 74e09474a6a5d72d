//! System tests: programs as a user starts them, with real sockets, disks and signals.

mod cluster;
mod commands;
mod deployment;
mod engines;
mod servers;
mod world;
