//! Positions by the rules alone: `/position`.

use axum::Json;
use kagetsu_api::PositionJson;

use crate::error::ApiError;
use crate::extract::ApiQuery;
use crate::extract::position::PositionQuery;

/// Describes a position by the rules alone: side, outcome, legal moves.
#[utoipa::path(
    get,
    path = "/api/v1/position",
    params(PositionQuery),
    responses((status = 200, description = "The position", body = PositionJson), ApiError),
)]
pub(crate) async fn position(
    ApiQuery(query): ApiQuery<PositionQuery>,
) -> Result<Json<PositionJson>, ApiError> {
    Ok(Json(PositionJson::from(&query.position()?)))
}
