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
    let (is_ending, leads) = (app.shutdown.is_cancelled(), app.server.leads());
    readiness(is_ending, leads, query.as_deref())
        .map_err(|why| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", why))
}

/// Answers `/readyz`, whose query may ask for the server that leads its book.
///
/// # Errors
/// Why the server is not ready.
pub fn readiness(
    is_ending: bool,
    leads: bool,
    query: Option<&str>,
) -> Result<&'static str, &'static str> {
    let mut words = query.unwrap_or_default().split('&');
    if is_ending {
        Err("the server is ending")
    } else if !leads && words.any(|word| word.starts_with("leader")) {
        Err("another server leads")
    } else {
        Ok("ready\n")
    }
}
