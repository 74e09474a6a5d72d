//! The workers of the cluster: `/workers`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::WorkerJson;
use kagetsu_proto::v1;

use crate::error::ApiError;
use crate::extract::{ApiQuery, Caller, NoParameters};
use crate::state::AppState;

/// Lists the workers; a server without a cluster has none.
#[utoipa::path(
    get,
    operation_id = "list_workers",
    path = "/api/v1/workers",
    responses((status = 200, description = "The workers", body = [WorkerJson]), ApiError),
)]
pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    _: ApiQuery<NoParameters>,
) -> Result<Json<Vec<WorkerJson>>, ApiError> {
    if !app.server.is_cluster() {
        return Ok(Json(Vec::new()));
    }
    let request = caller.request(v1::ListWorkersRequest::default());
    let listed = app.services.workers().list(request).await?.into_inner();
    Ok(Json(listed.workers.into_iter().map(Into::into).collect()))
}
