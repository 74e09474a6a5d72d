//! Layers around the routes: access, caching by the book's epoch, timing.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::state::AppState;

/// Whether `If-None-Match` names a tag, or any (`*`). A weak tag is as good here.
#[must_use]
pub fn names_tag(headers: &HeaderMap, tag: &str) -> bool {
    let seen = headers.get(IF_NONE_MATCH);
    let seen = seen
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let is_same = |seen: &str| seen == "*" || seen.strip_prefix("W/").unwrap_or(seen) == tag;
    seen.split(',').any(|seen| is_same(seen.trim()))
}

/// Rejects requests of hosts that the server's [`AccessPolicy`](crate::AccessPolicy) does not
/// allow.
pub(crate) async fn check_host(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    match app.access.check_host(request.headers()) {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    }
}

/// Rejects changes that the policy does not allow. It stands behind the choice of the route, so
/// that a method which no route takes is named as such.
pub(crate) async fn check_change(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    match app.access.check_change(request.method(), request.headers()) {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    }
}

/// Records the response time of a route.
pub(crate) async fn measure(
    State((app, route)): State<(Arc<AppState>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let (begun, method) = (Instant::now(), request.method().clone());
    let answer = next.run(request).await;
    app.server.record(method.as_str(), route, begun.elapsed());
    answer
}

/// Tags answers about the book with its epoch, and confirms a tag that is still current.
pub(crate) async fn revalidate(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let epoch = app.server.epoch().unwrap_or_default();
    let tag = format!("\"{:x}-{epoch:x}\"", app.instance);
    let is_same = names_tag(request.headers(), &tag);
    let mut response = if is_same && matches!(*request.method(), Method::GET | Method::HEAD) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        next.run(request).await
    };
    let is_tagged = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if let Some(tag) = HeaderValue::from_str(&tag).ok().filter(|_| is_tagged) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
