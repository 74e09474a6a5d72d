//! Layers around the routes: access, caching by the book's epoch, timing.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::services::Services;
use crate::state::AppState;

/// Lets a request through, or not.
pub(crate) async fn check_access<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    request: Request,
    next: Next,
) -> Response {
    let is_question =
        request.method() == Method::OPTIONS && app.access.allowed(request.headers()).is_some();
    match app.access.check(request.method(), request.headers()) {
        Err(refusal) => refusal.into_response(),
        Ok(()) if is_question => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
    }
}

/// Tells the services how long a route took.
pub(crate) async fn measure<S: Services>(
    State((app, route)): State<(Arc<AppState<S>>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let (begun, method) = (Instant::now(), request.method().clone());
    let answer = next.run(request).await;
    app.services
        .answered(method.as_str(), route, begun.elapsed());
    answer
}

/// An answer about the book holds until the book changes: who has it asks whether the book is still the same.
pub(crate) async fn revalidate<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    request: Request,
    next: Next,
) -> Response {
    let epoch = app.services.epoch().unwrap_or_default();
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
    let is_held = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if let Some(tag) = HeaderValue::from_str(&tag).ok().filter(|_| is_held) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
