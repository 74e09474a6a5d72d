//! The server itself: `/status`, `/openapi.json`, `/healthz`, `/readyz`.

use std::sync::Arc;

use axum::extract::State;
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
        offers_engine: app.program.is_some(),
    })
}

/// Answers while the process runs.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Answers while the server is not shutting down.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String), ApiError))]
pub(crate) async fn ready(State(app): State<Arc<AppState>>) -> Result<&'static str, ApiError> {
    if app.shutdown.is_cancelled() {
        let message = "the server is ending";
        return Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            message,
        ));
    }
    Ok("ready\n")
}
