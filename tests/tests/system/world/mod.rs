//! Small worlds for the tests: a cluster, a network that fails, workers that misbehave.

mod book_contents;
mod cluster;
mod late_worker;
mod lying_worker;
mod refusal;
mod relay;

pub(crate) use book_contents::held;
pub(crate) use cluster::{Cluster, growing, grows_alike, until, until_or, worker};
pub(crate) use late_worker::Laggard;
pub(crate) use lying_worker::Liar;
pub(crate) use refusal::refused;
pub(crate) use relay::Relay;
