use serde::Serialize;

use crate::answer::ValueJson;

/// A book move, as an engine chooses it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Pick))]
pub struct PickJson {
    /// The move.
    pub r#move: String,
    /// Its value, from the view of the side that makes it.
    #[serde(flatten)]
    pub value: ValueJson,
    /// Plies of the search that valued it.
    pub depth: u32,
    /// Moves that may be better: the book has only an upper bound of them.
    pub rivals: Vec<String>,
}

/// The best lines of the book.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Tree))]
pub struct TreeJson {
    /// The game.
    pub variant: String,
    /// The moves to the root of the tree.
    pub moves: Vec<String>,
    /// The moves from the root, best first.
    pub branches: Vec<BranchJson>,
    /// Whether the tree was cut because it needed too many look-ups.
    pub is_cut: bool,
}

/// A move of a [`TreeJson`].
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Branch))]
pub struct BranchJson {
    /// The move.
    pub r#move: String,
    /// Its value, from the view of the side that makes it.
    #[serde(flatten)]
    pub value: ValueJson,
    /// Plies of the search that valued it.
    pub depth: u8,
    /// The replies in the book, best first; empty where the book or the tree ends.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub branches: Vec<BranchJson>,
}

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

/// The moves from a position and the lines to it that the book knows.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Transpositions))]
pub struct TranspositionsJson {
    /// The positions of the book that one move leads to.
    pub behind: Vec<SuccessorJson>,
    /// Other positions of the book from which one move leads here.
    pub before: Vec<ParentJson>,
}

/// A position of the book, and every move that leads to it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Successor))]
pub struct SuccessorJson {
    /// The key of the position.
    pub key: String,
    /// The moves, which are equal by symmetry.
    pub moves: Vec<String>,
}

/// A position of the book from which one move leads to the position that was asked about.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Parent))]
pub struct ParentJson {
    /// The moves to that position.
    pub moves: Vec<String>,
    /// The move from there.
    pub r#move: String,
    /// The value of the move there, where the book has one.
    #[serde(flatten)]
    pub value: Option<ValueJson>,
}
