use kagetsu_game::{Notation, Outcome, Position, Variant};
use serde::Serialize;

use crate::ErrorJson;

/// A position by the rules alone: what a page needs to draw it and to offer its moves.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Position))]
pub struct PositionJson {
    /// The game.
    pub variant: String,
    /// The moves to this position.
    pub moves: Vec<String>,
    /// The side to move: `first` or `second`.
    pub side: String,
    /// 32 hex digits, the same for every order of moves and every symmetry of the board.
    pub key: String,
    /// The position as FEN, in games that have it.
    pub fen: Option<String>,
    /// `first`, `second` or `draw` once the game is over.
    pub outcome: Option<String>,
    /// The legal moves.
    pub legal: Vec<String>,
    /// The points that renju forbids.
    pub forbidden: Vec<ForbiddenJson>,
}

/// A point that renju forbids.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Forbidden))]
pub struct ForbiddenJson {
    /// The point.
    pub r#move: String,
    /// `overline`, `double-four` or `double-three`.
    pub reason: String,
}

/// Reads a position. An empty `fen` is the same as none.
///
/// # Errors
/// The first part that is not valid.
pub fn read_position(variant: &str, fen: Option<&str>, moves: &str) -> Result<Position, ErrorJson> {
    let bad = |message| ErrorJson::new("bad_request", message);
    let variant: Variant = variant.parse().map_err(|error| bad(format!("{error}")))?;
    let start = match fen.filter(|fen| !fen.is_empty()) {
        Some(fen) => Position::from_fen(variant, fen),
        None => Ok(Position::start(variant)),
    };
    let start = start.map_err(|error| bad(format!("fen: {error}")))?;
    let position = start.play_line(moves);
    position.map_err(|error| bad(format!("moves: {error}")))
}

impl From<&Position> for PositionJson {
    fn from(position: &Position) -> Self {
        let name = |m| position.write_move(m);
        let outcome = position.outcome().map(|outcome| match outcome {
            Outcome::Win(side) => side.to_string(),
            Outcome::Draw => "draw".into(),
        });
        Self {
            variant: position.variant().to_string(),
            moves: position.moves().iter().map(|&m| name(m)).collect(),
            side: position.side().to_string(),
            key: position.key().to_string(),
            fen: position.fen().ok(),
            outcome,
            legal: position.legal_moves().into_iter().map(name).collect(),
            forbidden: ForbiddenJson::all(position, Notation::Engine),
        }
    }
}

impl ForbiddenJson {
    /// Returns the points of a position that renju forbids.
    #[must_use]
    pub fn all(position: &Position, notation: Notation) -> Vec<Self> {
        let forbidden = position.forbidden_moves().into_iter();
        let named = forbidden.map(|(m, reason)| Self {
            r#move: position.write_move_in(m, notation),
            reason: reason.to_string(),
        });
        named.collect()
    }
}
