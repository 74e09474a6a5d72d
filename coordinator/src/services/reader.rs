//! A server that only reads a book.

use std::sync::Arc;

use anyhow::{Context, Result};
use kagetsu_http::{Access, Services, Unimplemented, headed};
use kagetsu_proto::v1::books_server::BooksServer;
use kagetsu_proto::{DESCRIPTORS, Listener, MESSAGE_LIMIT, ResponseBudget, keepalive};
use tokio_util::sync::CancellationToken;

use crate::auth::{Guard, GuardLayer, guard_http};
use crate::book::library::{Library, Shelf};
use crate::server::{CONNECTION_WINDOW, STREAM_WINDOW, STREAMS};
use crate::services::books::BooksService;
use crate::services::busy::Limits;

/// A server of a book that does not change: the service of books over gRPC, and the same HTTP door as a coordinator's.
pub struct Reader {
    shelf: Arc<Shelf>,
    guard: Arc<Guard>,
    shutdown: CancellationToken,
    limits: Limits,
}

impl Reader {
    /// Of a book, behind a guard, until the shutdown.
    #[must_use]
    pub fn new(shelf: Shelf, guard: Arc<Guard>, shutdown: CancellationToken) -> Self {
        Self {
            shelf: Arc::new(shelf),
            guard,
            shutdown,
            limits: Limits::default(),
        }
    }

    fn books(&self) -> BooksService {
        let (library, shutdown) = (
            Library::Shelf(Arc::clone(&self.shelf)),
            self.shutdown.clone(),
        );
        BooksService {
            library,
            shutdown,
            places: self.limits.exports.clone(),
            lookups: Arc::clone(&self.limits.lookups),
        }
    }

    /// Its door for HTTP. Must be called in a tokio runtime.
    pub fn door(&self, access: Access) -> axum::Router {
        let services = ReaderDoor {
            books: self.books(),
            positions: self.shelf.positions(),
        };
        let router = kagetsu_http::router(services, access.clone(), self.shutdown.clone());
        headed(guard_http(router, &self.guard), access)
    }

    /// Serves gRPC to who comes to a listener until the shutdown.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn listen(self, listener: Listener) -> Result<()> {
        let (every, patience) = keepalive();
        let (health, healthy) = tonic_health::server::health_reporter();
        health.set_serving::<BooksServer<BooksService>>().await;
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        let books = BooksServer::new(self.books()).max_decoding_message_size(MESSAGE_LIMIT);
        let serving = tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(every))
            .http2_keepalive_timeout(Some(patience))
            .tcp_nodelay(true)
            .max_concurrent_streams(STREAMS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .layer(GuardLayer::new(Arc::clone(&self.guard)))
            .layer(ResponseBudget::default().layer())
            .add_service(healthy)
            .add_service(reflection)
            .add_service(books)
            .serve_with_incoming_shutdown(listener, self.shutdown.cancelled());
        tokio::select! {
            served = serving => served.context("cannot serve"),
            () = self.guard.watch() => Ok(()),
        }
    }
}

/// The services of a reader, as its HTTP door calls them.
struct ReaderDoor {
    books: BooksService,
    positions: u64,
}

impl Services for ReaderDoor {
    type Analysis = Unimplemented;
    type Books = BooksService;
    type Builds = Unimplemented;
    type Workers = Unimplemented;

    fn analysis(&self) -> &Unimplemented {
        &Unimplemented
    }

    fn books(&self) -> &BooksService {
        &self.books
    }

    fn builds(&self) -> &Unimplemented {
        &Unimplemented
    }

    fn workers(&self) -> &Unimplemented {
        &Unimplemented
    }

    fn epoch(&self) -> Option<u64> {
        // It does not change.
        Some(0)
    }

    fn positions(&self) -> u64 {
        self.positions
    }

    fn is_cluster(&self) -> bool {
        false
    }
}
