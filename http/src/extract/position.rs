use kagetsu_api::read_position;
use kagetsu_game::Position;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiError;

/// The parameters that name a position.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PositionQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
}

impl PositionQuery {
    /// The named position.
    ///
    /// # Errors
    /// The first part that is not valid.
    pub(crate) fn position(&self) -> Result<Position, ApiError> {
        parse(&self.variant, self.fen.as_deref(), &self.moves)
    }
}

/// Parses a position. An empty `fen` is the same as none.
///
/// # Errors
/// The first part that is not valid.
pub(crate) fn parse(variant: &str, fen: Option<&str>, moves: &str) -> Result<Position, ApiError> {
    read_position(variant, fen, moves).map_err(|bad| ApiError::bad_request(bad.error.message))
}
