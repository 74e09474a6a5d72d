use std::sync::Arc;
use std::time::Duration;

use kagetsu_http::ServerInfo;
use kagetsu_reader::Source;

use crate::book::handle::BookHandle;
use crate::cluster::shared::Cluster;
use crate::replication::leadership::Leadership;

/// The state of a coordinator, for its HTTP API.
pub(crate) struct CoordinatorInfo {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) book: Option<BookHandle>,
    pub(crate) source: Option<Arc<Source>>,
    pub(crate) only_reads: bool,
    pub(crate) leadership: Leadership,
}

impl ServerInfo for CoordinatorInfo {
    fn epoch(&self) -> Option<u64> {
        match (&self.book, &self.source) {
            (Some(book), _) => Some(book.size().entries()),
            (None, source) => source.as_ref().map(|source| source.version()),
        }
    }

    fn positions(&self) -> u64 {
        match (&self.book, &self.source) {
            (Some(book), _) => book.size().positions(),
            (None, source) => source
                .as_ref()
                .and_then(|source| source.positions())
                .unwrap_or(0),
        }
    }

    fn is_cluster(&self) -> bool {
        !self.only_reads
    }

    fn leads(&self) -> bool {
        self.leadership.is_leader()
    }

    fn grows(&self) -> bool {
        self.book.is_some()
    }

    fn record(&self, method: &str, route: &'static str, time: Duration) {
        self.cluster.metrics().answered_http(method, route, time);
    }
}
