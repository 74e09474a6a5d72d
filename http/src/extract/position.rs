use kagetsu_game::{Position, Variant};
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
    let variant: Variant = variant
        .parse()
        .map_err(|error| ApiError::bad_request(format!("{error}")))?;
    let start = match fen.filter(|fen| !fen.is_empty()) {
        Some(fen) => Position::from_fen(variant, fen)
            .map_err(|error| ApiError::bad_request(format!("fen: {error}")))?,
        None => Position::start(variant),
    };
    start
        .play_line(moves)
        .map_err(|error| ApiError::bad_request(format!("moves: {error}")))
}
