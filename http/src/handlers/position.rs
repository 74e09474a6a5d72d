//! Positions by the rules alone: `/position`.

use axum::Json;
use kagetsu_api::{ForbiddenJson, PositionJson};
use kagetsu_game::Outcome;

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
    let position = query.position()?;
    let name = |m| position.write_move(m);
    let forbidden = position.forbidden_moves().into_iter();
    let outcome = position.outcome().map(|outcome| match outcome {
        Outcome::Win(side) => side.to_string(),
        Outcome::Draw => "draw".into(),
    });
    Ok(Json(PositionJson {
        variant: position.variant().to_string(),
        moves: position.moves().iter().map(|&m| name(m)).collect(),
        side: position.side().to_string(),
        key: position.key().to_string(),
        fen: position.fen().ok(),
        outcome,
        legal: position.legal_moves().into_iter().map(name).collect(),
        forbidden: forbidden
            .map(|(m, reason)| ForbiddenJson {
                r#move: name(m),
                reason: reason.to_string(),
            })
            .collect(),
    }))
}
