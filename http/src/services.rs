//! The gRPC services behind the API, called in this process through their generated clients.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;

use crate::extract::Caller;

/// The server behind the API.
pub struct Backend {
    /// The gRPC services, with the layers that authorize their callers. A service that is missing
    /// answers `UNIMPLEMENTED`.
    pub services: Router,
    /// The server's state.
    pub info: Arc<dyn ServerInfo>,
    /// The caller of the rpcs that the API makes on its own account.
    pub internal: Caller,
}

/// The state of a server.
pub trait ServerInfo: Send + Sync + 'static {
    /// A number that changes whenever the book changes; `None` without a book.
    fn epoch(&self) -> Option<u64>;
    /// Positions in the book.
    fn positions(&self) -> u64;
    /// Whether the server analyses positions.
    fn is_cluster(&self) -> bool;
    /// Whether the server leads its book.
    fn leads(&self) -> bool {
        true
    }
    /// Whether the server grows its book.
    fn grows(&self) -> bool {
        self.is_cluster() && self.epoch().is_some()
    }
    /// Records the time until the head of a response, for metrics.
    fn record(&self, _method: &str, _route: &'static str, _time: Duration) {}
}

/// The clients of the services.
pub(crate) struct Services(pub(crate) Router);

// In this process a response of any size has been made already.
impl Services {
    pub(crate) fn analysis(&self) -> AnalysisClient<Router> {
        AnalysisClient::new(self.0.clone()).max_decoding_message_size(usize::MAX)
    }

    pub(crate) fn books(&self) -> BooksClient<Router> {
        BooksClient::new(self.0.clone()).max_decoding_message_size(usize::MAX)
    }

    pub(crate) fn builds(&self) -> BuildsClient<Router> {
        BuildsClient::new(self.0.clone()).max_decoding_message_size(usize::MAX)
    }

    pub(crate) fn workers(&self) -> WorkersClient<Router> {
        WorkersClient::new(self.0.clone()).max_decoding_message_size(usize::MAX)
    }
}
