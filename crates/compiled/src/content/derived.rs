use kagetsu_game::{Move, Proof, Score};

/// The value of a position, derived from its facts and from the positions behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// Its value, from the view of the side to move.
    pub score: Score,
    /// Its proof, if it has one.
    pub proof: Option<Proof>,
    /// The move that reaches the value; `None` where nothing is known.
    pub best: Option<Move>,
    /// Plies to the leaf of this value, with the leaf's search; 0 without a search.
    pub depth: u16,
    /// Whether a move without a place in the book may be better than all that have one.
    pub is_open: bool,
}

impl Derived {
    /// Whether anything is known of how good the position is.
    #[must_use]
    pub fn has_value(&self) -> bool {
        self.best.is_some() || self.proof.is_some()
    }
}
