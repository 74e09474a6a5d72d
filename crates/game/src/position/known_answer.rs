use alloc::vec::Vec;

use super::position::Position;
use crate::Move;

/// A position with a known answer.
#[derive(Clone, Debug)]
pub struct KnownAnswer {
    /// The position.
    pub position: Position,
    /// The only good moves; empty if every legal move will do.
    pub moves: Vec<Move>,
}

impl KnownAnswer {
    /// A position in which every legal move will do.
    #[must_use]
    pub const fn any_legal_move(position: Position) -> Self {
        Self {
            position,
            moves: Vec::new(),
        }
    }
}
