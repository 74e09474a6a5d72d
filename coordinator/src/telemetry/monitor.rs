//! The endpoints for monitoring: `/metrics`, `/healthz`, `/readyz`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use kagetsu_book::BACKUP_MARK;
use tokio_util::sync::CancellationToken;

use crate::auth::Authenticator;
use crate::book::handle::BookHandle;
use crate::cluster::shared::Cluster;
use crate::replication::leadership::Leadership;
use crate::telemetry::cluster_metrics::Snapshot;
use crate::telemetry::metrics::{self, Metrics};

/// The state that the endpoints show.
#[derive(Clone)]
pub(crate) struct Monitor {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) book: Option<BookHandle>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) leadership: Leadership,
    pub(crate) shutdown: CancellationToken,
    /// The folder of the book, where it is one.
    pub(crate) folder: Option<PathBuf>,
}

impl Monitor {
    /// `/metrics`.
    pub(crate) fn routes(self) -> Router {
        Router::new()
            .route("/metrics", get(metrics))
            .with_state(self)
    }

    /// `/healthz` and `/readyz`, where no other door has them.
    pub(crate) fn probes(self) -> Router {
        Router::new()
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(ready))
            .with_state(self)
    }

    /// The book and its jobs count once: at the coordinator that leads.
    fn snapshot(&self) -> Snapshot {
        let leads = self.leadership.is_leader();
        let own = self.book.as_ref().filter(|_| leads);
        let jobs = own.map(|book| book.jobs().borrow().to_vec());
        let jobs = jobs.unwrap_or_default();
        let book = own.map(|book| (book.size().positions(), book.size().entries()));
        let folder = self.folder.as_deref();
        let backed_up = |folder: &Path| {
            let marked = folder.join(BACKUP_MARK).metadata().ok()?.modified().ok()?;
            Some(
                marked
                    .duration_since(SystemTime::UNIX_EPOCH)
                    .ok()?
                    .as_secs(),
            )
        };
        Snapshot {
            leads,
            counts: self.cluster.counts(),
            workers: self.cluster.workers(),
            quarantines: self.cluster.quarantines(),
            jobs,
            book,
            disk_free: folder.and_then(|folder| fs4::available_space(folder).ok()),
            backed_up: folder.and_then(backed_up),
            refusals: self.authenticator.rejections(),
        }
    }
}

async fn metrics(State(monitor): State<Monitor>) -> Response {
    match monitor.cluster.metrics().render(monitor.snapshot()) {
        Ok(text) => ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn ready(State(monitor): State<Monitor>, RawQuery(query): RawQuery) -> Response {
    let is_ending = monitor.shutdown.is_cancelled();
    let leads = monitor.leadership.is_leader();
    kagetsu_http::readiness(is_ending, leads, query.as_deref())
        .map_err(|why| (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")))
        .into_response()
}

/// Measures how long the services of gRPC take to answer.
pub(crate) fn metered(router: Router, metrics: &Arc<Metrics>) -> Router {
    router.layer(from_fn_with_state(Arc::clone(metrics), measure))
}

async fn measure(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let (begun, path) = (Instant::now(), request.uri().path().to_string());
    let response = next.run(request).await;
    metrics.answered(&path, begun.elapsed());
    response
}
