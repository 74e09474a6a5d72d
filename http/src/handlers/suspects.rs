//! Positions whose value is doubtful: `/suspects`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::{SuspectJson, SuspectsJson, read_suspect};
use kagetsu_proto::v1;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiError;
use crate::extract::position::parse;
use crate::extract::{ApiQuery, Caller, in_range};
use crate::handlers::books::damaged;
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SuspectsQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// The number of positions, 20 by default.
    top: Option<u32>,
}

/// Ranks the positions from one on by the doubt about their values.
#[utoipa::path(
    get,
    path = "/api/v1/suspects",
    params(SuspectsQuery),
    responses((status = 200, description = "The positions", body = SuspectsJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn suspects(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<SuspectsQuery>,
) -> Result<Json<SuspectsJson>, ApiError> {
    let position = parse(&query.variant, query.fen.as_deref(), &query.moves)?;
    let request = caller.request(v1::SuspectsRequest {
        position: Some((&position).into()),
        top: in_range("top", query.top, 20, 1..=1_000)?,
    });
    let found = app.services.books().suspects(request).await?.into_inner();
    if !found.is_held {
        return Err(app.not_in_book(&caller, &position).await);
    }
    let mut suspects = Vec::new();
    for suspect in &found.suspects {
        let suspect = read_suspect(suspect).map_err(|error| damaged(error.to_string()))?;
        suspects.push(SuspectJson::from(&suspect));
    }
    Ok(Json(SuspectsJson { suspects }))
}
