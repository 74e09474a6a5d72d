//! Metrics and probes.

pub(crate) mod cluster_metrics;
mod labels;
pub(crate) mod metrics;
pub(crate) mod monitor;
