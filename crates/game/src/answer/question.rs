use alloc::vec::Vec;

use crate::{Effort, Move, Position, Score};

/// A window of values, from the view of the side to move. Outside it a bound is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The lower end: what the asker already has.
    pub alpha: Score,
    /// The upper end: what the opponent already has.
    pub beta: Score,
}

impl Window {
    /// The full window.
    pub const FULL: Self = Self {
        alpha: Score::MIN,
        beta: Score::MAX,
    };

    /// Whether only a proof is of use: that every move loses, or which move wins.
    #[must_use]
    pub fn asks_for_proof(self) -> bool {
        self.beta <= -Score::OPINION_MAX || self.alpha >= Score::OPINION_MAX
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::FULL
    }
}

/// A question about a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The position.
    pub position: Position,
    /// The moves to compare, in search order; empty: all moves that are worth searching.
    pub moves: Vec<Move>,
    /// The window of values that matter.
    pub window: Window,
    /// The limits of the search.
    pub effort: Effort,
    /// Number of best moves that need an exact value; at least 1.
    pub width: u16,
}

impl Question {
    /// Asks for the best move among all moves, with the full window.
    #[must_use]
    pub const fn new(position: Position, effort: Effort) -> Self {
        Self {
            position,
            moves: Vec::new(),
            window: Window::FULL,
            effort,
            width: 1,
        }
    }
}
