use kagetsu_game::{Position, Variant};

use crate::error::ApiError;
use crate::extract::Params;

/// The parameters that name a position.
pub(crate) const PARAMETERS: [&str; 3] = ["variant", "moves", "fen"];

/// The position that `variant`, `fen` and `moves` name.
///
/// # Errors
/// The first thing in it that cannot be.
pub(crate) fn from_query(params: &Params) -> Result<Position, ApiError> {
    let variant = params
        .text("variant")
        .ok_or_else(|| ApiError::wrong("variant is missing, as in freestyle-15"))?;
    read(
        variant,
        params.text("fen"),
        params.text("moves").unwrap_or_default(),
    )
}

/// # Errors
/// The first thing in it that cannot be.
pub(crate) fn read(variant: &str, fen: Option<&str>, moves: &str) -> Result<Position, ApiError> {
    let variant: Variant = variant
        .parse()
        .map_err(|error| ApiError::wrong(format!("{error}")))?;
    let start = match fen {
        Some(fen) => Position::from_fen(variant, fen)
            .map_err(|error| ApiError::wrong(format!("fen: {error}")))?,
        None => Position::start(variant),
    };
    start
        .play_line(moves)
        .map_err(|error| ApiError::wrong(format!("moves: {error}")))
}
