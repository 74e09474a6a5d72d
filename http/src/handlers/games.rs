//! The imported games: `/games`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::{GamesJson, read_games};
use kagetsu_proto::v1;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiError;
use crate::extract::position::parse;
use crate::extract::{ApiQuery, Caller, in_range};
use crate::handlers::books::damaged;
use crate::state::AppState;

/// The results that a query may name.
const RESULTS: [&str; 5] = ["", "1-0", "0-1", "1/2-1/2", "*"];

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GamesQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// A part of a player's name.
    #[serde(default)]
    player: String,
    /// A part of the event's name.
    #[serde(default)]
    event: String,
    /// Only games with this result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    #[serde(default)]
    result: String,
    /// The number of games to list, 20 by default.
    top: Option<u32>,
}

/// Returns the imported games that passed a position, with their players and results.
#[utoipa::path(
    get,
    path = "/api/v1/games",
    params(GamesQuery),
    responses((status = 200, description = "The games", body = GamesJson), ApiError),
)]
pub(crate) async fn games(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<GamesQuery>,
) -> Result<Json<GamesJson>, ApiError> {
    let position = parse(&query.variant, query.fen.as_deref(), &query.moves)?;
    if !RESULTS.contains(&&*query.result) {
        let message = format!("result={}: must be 1-0, 0-1, 1/2-1/2 or *", query.result);
        return Err(ApiError::bad_request(message));
    }
    let request = caller.request(v1::GamesRequest {
        position: Some((&position).into()),
        player: query.player,
        event: query.event,
        result: query.result,
        top: in_range("top", query.top, 20, 1..=1_000)?,
    });
    let found = app.services.books().games(request).await?.into_inner();
    let found = read_games(&found).map_err(|error| damaged(error.to_string()))?;
    Ok(Json(GamesJson::new(&position, &found)))
}
