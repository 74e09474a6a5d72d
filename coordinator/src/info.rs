use std::sync::Arc;
use std::time::Duration;

use kagetsu_http::ServerInfo;
use kagetsu_reader::Source;

use crate::cluster::shared::Cluster;
use crate::replication::leadership::Leadership;

/// The state of a coordinator, for its HTTP API.
pub(crate) struct CoordinatorInfo {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) source: Option<Arc<Source>>,
    pub(crate) only_reads: bool,
    pub(crate) leadership: Leadership,
}

impl ServerInfo for CoordinatorInfo {
    fn epoch(&self) -> Option<u64> {
        self.source.as_ref().map(|source| source.version())
    }

    fn positions(&self) -> u64 {
        let source = self.source.as_ref();
        source.and_then(|source| source.positions()).unwrap_or(0)
    }

    fn is_cluster(&self) -> bool {
        !self.only_reads
    }

    fn leads(&self) -> bool {
        self.leadership.is_leader()
    }

    fn grows(&self) -> bool {
        matches!(self.source.as_deref(), Some(Source::Growing(_)))
    }

    fn record(&self, method: &str, route: &'static str, time: Duration) {
        self.cluster.metrics().answered_http(method, route, time);
    }
}
