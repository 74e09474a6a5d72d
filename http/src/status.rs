//! What this server is: `/status`, `/healthz`, `/readyz`; and how long its answers about the book hold.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;

use crate::access::Rights;
use crate::refusal::Refusal;
use crate::routes::Door;
use crate::services::Services;

#[derive(Serialize)]
struct StatusJson {
    version: &'static str,
    /// Whether it has a book, and how many positions that holds.
    has_book: bool,
    positions: u64,
    epoch: Option<u64>,
    /// Whether it can analyse and build.
    is_cluster: bool,
    /// Whether you may start, pause, resume and cancel builds, and have positions analysed.
    may_change: bool,
    may_analyse: bool,
    /// Whether tokens say who may.
    takes_tokens: bool,
}

/// `GET /api/v1/status`.
pub(crate) async fn status<S: Services>(
    State(door): State<Arc<Door<S>>>,
    rights: Option<Extension<Rights>>,
) -> Response {
    let Rights {
        analyse,
        build,
        by_token,
    } = rights.map(|Extension(rights)| rights).unwrap_or_default();
    let is_open = door.access.may_change && door.services.is_cluster();
    let epoch = door.services.epoch();
    Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        has_book: epoch.is_some(),
        positions: door.services.positions(),
        epoch,
        is_cluster: door.services.is_cluster(),
        may_change: is_open && build,
        may_analyse: is_open && analyse,
        takes_tokens: by_token,
    })
    .into_response()
}

/// `GET /api/v1/openapi.json`.
pub(crate) async fn description() -> Response {
    (
        [(axum::http::header::CONTENT_TYPE, "application/json")],
        include_str!("../openapi.json"),
    )
        .into_response()
}

/// `GET /healthz`: the process answers.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: it does what it is for.
pub(crate) async fn ready<S: Services>(
    State(door): State<Arc<Door<S>>>,
) -> Result<&'static str, Refusal> {
    let unready = || {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "the server is ending",
        )
    };
    if door.shutdown.is_cancelled() {
        Err(unready())
    } else {
        Ok("ready\n")
    }
}

/// Tells the services how long a route took.
pub(crate) async fn timed<S: Services>(
    State((door, route)): State<(Arc<Door<S>>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let (begun, method) = (Instant::now(), request.method().clone());
    let answer = next.run(request).await;
    door.services
        .answered(method.as_str(), route, begun.elapsed());
    answer
}

/// An answer about the book holds until the book changes: who has it asks whether the book is still the same.
pub(crate) async fn fresh<S: Services>(
    State(door): State<Arc<Door<S>>>,
    request: Request,
    next: Next,
) -> Response {
    let epoch = door.services.epoch().unwrap_or_default();
    let tag = format!("\"{:x}-{epoch:x}\"", door.instance);
    let seen = request
        .headers()
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let is_same = seen.is_some_and(|seen| seen.split(',').any(|seen| seen.trim() == tag));
    let mut response = if is_same && matches!(*request.method(), Method::GET | Method::HEAD) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        next.run(request).await
    };
    let is_held = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if let Some(tag) = HeaderValue::from_str(&tag).ok().filter(|_| is_held) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
