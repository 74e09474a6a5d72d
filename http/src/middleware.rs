//! Layers around the routes: access, caching by the book's epoch, timing.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::state::AppState;

/// Rejects requests that the server's [`AccessPolicy`](crate::AccessPolicy) does not allow.
pub(crate) async fn check_access(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let is_preflight =
        request.method() == Method::OPTIONS && app.access.allowed(request.headers()).is_some();
    match app.access.check(request.method(), request.headers()) {
        Err(error) => error.into_response(),
        Ok(()) if is_preflight => StatusCode::NO_CONTENT.into_response(),
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
    let is_tagged = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if let Some(tag) = HeaderValue::from_str(&tag).ok().filter(|_| is_tagged) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
