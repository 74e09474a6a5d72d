use alloc::vec::Vec;

use crate::{Effort, Move, Position, Score};

/// The values that matter to who asks: below `alpha` and above `beta` a bound is enough. From the side to move's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// What the asker already has.
    pub alpha: Score,
    /// What the opponent already has.
    pub beta: Score,
}

impl Window {
    /// Every value matters.
    pub const FULL: Self = Self {
        alpha: Score::MIN,
        beta: Score::MAX,
    };
}

impl Default for Window {
    fn default() -> Self {
        Self::FULL
    }
}

/// What is asked about a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// Where.
    pub position: Position,
    /// The moves to compare, first one searched first; empty: all that are worth it.
    pub moves: Vec<Move>,
    /// Which values matter.
    pub window: Window,
    /// How hard to think.
    pub effort: Effort,
    /// How many best moves need an exact value; at least 1.
    pub width: u16,
}

impl Question {
    /// All moves, every value, one best move.
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
