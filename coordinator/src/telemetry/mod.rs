//! Metrics and probes.

pub(crate) mod census;
pub(crate) mod metrics;
pub(crate) mod monitor;
