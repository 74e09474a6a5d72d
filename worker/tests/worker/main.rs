//! A worker at the hands of a coordinator that does what the test says.

mod beats;
mod connections;
mod coordinator;
mod endings;
mod engines;
mod restarts;
mod tasks;
