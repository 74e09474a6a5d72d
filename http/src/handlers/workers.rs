//! Who works: `/workers`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use kagetsu_api::WorkerJson;
use kagetsu_proto::v1;
use kagetsu_proto::v1::workers_server::Workers as _;
use tonic::Request;

use crate::error::ApiError;
use crate::extract::Params;
use crate::services::Services;
use crate::state::AppState;

/// `GET /api/v1/workers`.
pub(crate) async fn list<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(&[])?;
    let listed = app
        .services
        .workers()
        .list(Request::new(v1::ListWorkersRequest::default()))
        .await?
        .into_inner();
    let workers: Vec<WorkerJson> = listed.workers.into_iter().map(Into::into).collect();
    Ok(Json(workers).into_response())
}
