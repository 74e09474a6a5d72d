//! The server itself: `/status`, `/openapi.json`, `/healthz`, `/readyz`.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use kagetsu_api::StatusJson;

use crate::access::Rights;
use crate::error::ApiError;
use crate::state::AppState;

/// Describes the server, and what the caller may do.
#[utoipa::path(
    get,
    path = "/api/v1/status",
    responses((status = 200, description = "The status", body = StatusJson), ApiError),
)]
pub(crate) async fn status(
    State(app): State<Arc<AppState>>,
    rights: Option<Extension<Rights>>,
) -> Json<StatusJson> {
    let rights = rights.map(|Extension(rights)| rights).unwrap_or_default();
    let is_changeable = app.access.may_change && app.server.is_cluster();
    let epoch = app.server.epoch();
    Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        has_book: epoch.is_some(),
        positions: app.server.positions(),
        epoch,
        is_cluster: app.server.is_cluster(),
        may_change: is_changeable && app.server.grows() && rights.build,
        may_analyse: is_changeable && rights.analyse,
        takes_tokens: rights.by_token,
        offers_engine: !app.program.is_empty(),
    })
}

/// Answers while the process runs.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Answers while the server is not shutting down; with `?leader`, while it leads its book.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String), ApiError))]
pub(crate) async fn ready(
    State(app): State<Arc<AppState>>,
    RawQuery(query): RawQuery,
) -> Result<&'static str, ApiError> {
    let message = if app.shutdown.is_cancelled() {
        "the server is ending"
    } else if asks_for_leader(query.as_deref()) && !app.server.leads() {
        "another server leads"
    } else {
        return Ok("ready\n");
    };
    Err(ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "unavailable",
        message,
    ))
}

/// Whether the query of `/readyz` asks for the server that leads its book.
#[must_use]
pub fn asks_for_leader(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|word| word.starts_with("leader")))
}
