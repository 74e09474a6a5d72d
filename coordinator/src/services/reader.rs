//! A server that only reads a book.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use kagetsu_http::{AccessPolicy, Backend, ServerInfo, with_browser_headers};
use kagetsu_proto::v1::books_server::BooksServer;
use kagetsu_proto::{Listener, MESSAGE_LIMIT, ResponseBudget, keepalive};
use kagetsu_reader::Source;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use crate::auth::{Authenticator, Principal, authenticate_http, authenticate_rpcs};
use crate::server::{bounded_server, described};
use crate::services::archive::Archive;
use crate::services::books::BooksService;
use crate::services::concurrency::ServiceLimits;

/// A server of a book that no process grows: the service of books over gRPC, and the coordinator's
/// HTTP API.
pub struct Reader {
    book: Arc<Source>,
    authenticator: Arc<Authenticator>,
    shutdown: CancellationToken,
    limits: ServiceLimits,
    archive: Option<Archive>,
}

impl Reader {
    /// A server of a book until the shutdown.
    #[must_use]
    pub fn new(
        book: Source,
        authenticator: Arc<Authenticator>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            book: Arc::new(book),
            authenticator,
            shutdown,
            limits: ServiceLimits::default(),
            archive: None,
        }
    }

    /// Offers the compiled books of a folder for download over HTTP.
    #[must_use]
    pub fn with_archive(self, folder: PathBuf) -> Self {
        Self {
            archive: Some(Archive::new(folder)),
            ..self
        }
    }

    /// Its HTTP API and page. Must be called in a tokio runtime.
    pub fn http(&self, access: AccessPolicy) -> axum::Router {
        let backend = Backend {
            services: self.authorized(Routes::new(self.service())),
            info: Arc::new(ReaderInfo {
                book: Arc::clone(&self.book),
            }),
            internal: Principal::internal().into(),
        };
        let router = kagetsu_http::router(backend, access.clone(), self.shutdown.clone());
        let router = match &self.archive {
            Some(archive) => router.merge(archive.clone().routes()),
            None => router,
        };
        with_browser_headers(authenticate_http(router, &self.authenticator), access)
    }

    fn service(&self) -> BooksServer<BooksService> {
        let source = Arc::clone(&self.book);
        let books = BooksService::of_source(Some(source), self.shutdown.clone(), &self.limits);
        BooksServer::new(books).max_decoding_message_size(MESSAGE_LIMIT)
    }

    /// Holds every rpc of `routes` to its permission.
    fn authorized(&self, routes: Routes) -> axum::Router {
        authenticate_rpcs(routes.into_axum_router(), &self.authenticator)
    }

    /// Serves gRPC on a listener until the shutdown.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn listen(self, listener: Listener) -> Result<()> {
        let (health, healthy) = tonic_health::server::health_reporter();
        health.set_serving::<BooksServer<BooksService>>().await;
        let routes = described(Routes::new(self.service()).add_service(healthy))?;
        let serving = bounded_server(Some(keepalive()))
            .layer(ResponseBudget::default().layer())
            .add_routes(Routes::from(self.authorized(routes)))
            .serve_with_incoming_shutdown(listener, self.shutdown.cancelled());
        tokio::select! {
            served = serving => served.context("cannot serve"),
            () = self.authenticator.watch() => Ok(()),
        }
    }
}

/// The state of a reader, for its HTTP API.
struct ReaderInfo {
    book: Arc<Source>,
}

impl ServerInfo for ReaderInfo {
    fn epoch(&self) -> Option<u64> {
        Some(self.book.version())
    }

    fn positions(&self) -> u64 {
        self.book.positions().unwrap_or_default()
    }

    fn is_cluster(&self) -> bool {
        false
    }
}
