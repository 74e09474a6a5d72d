//! What this server is: `/status`, `/healthz`, `/readyz`; and how long its answers about the book hold.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::StatusJson;

use crate::access::Rights;
use crate::error::ApiError;
use crate::services::Services;
use crate::state::AppState;

/// `GET /api/v1/status`.
pub(crate) async fn status<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    rights: Option<Extension<Rights>>,
) -> Response {
    let Rights {
        analyse,
        build,
        by_token,
    } = rights.map(|Extension(rights)| rights).unwrap_or_default();
    let is_open = app.access.may_change && app.services.is_cluster();
    let epoch = app.services.epoch();
    Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        has_book: epoch.is_some(),
        positions: app.services.positions(),
        epoch,
        is_cluster: app.services.is_cluster(),
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
        include_str!("../../openapi.json"),
    )
        .into_response()
}

/// `GET /healthz`: the process answers.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: it does what it is for.
pub(crate) async fn ready<S: Services>(
    State(app): State<Arc<AppState<S>>>,
) -> Result<&'static str, ApiError> {
    let unready = || {
        ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "the server is ending",
        )
    };
    if app.shutdown.is_cancelled() {
        Err(unready())
    } else {
        Ok("ready\n")
    }
}
