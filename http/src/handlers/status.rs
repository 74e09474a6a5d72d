//! The server itself: `/status`, `/openapi.json`, `/healthz`, `/readyz`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::StatusJson;

use crate::access::Rights;
use crate::error::ApiError;
use crate::state::AppState;

/// `GET /api/v1/status`.
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
        may_change: is_changeable && rights.build,
        may_analyse: is_changeable && rights.analyse,
        takes_tokens: rights.by_token,
    })
}

/// `GET /api/v1/openapi.json`.
pub(crate) async fn description() -> Response {
    (
        [(axum::http::header::CONTENT_TYPE, "application/json")],
        include_str!("../../openapi.json"),
    )
        .into_response()
}

/// `GET /healthz`: the process answers.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the server is not shutting down.
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
