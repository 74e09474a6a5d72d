//! Metrics and probes.

pub(crate) mod cluster_metrics;
pub(crate) mod metrics;
pub(crate) mod monitor;
