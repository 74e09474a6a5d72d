use serde::Serialize;

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
