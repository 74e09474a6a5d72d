use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::{Bound, Move, Proof, Score, Symmetry, Variant};

/// Who said it, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// Name and version of the engine, as in `kagetsu 0.1.0`.
    pub engine: Arc<str>,
    /// Days since 1970-01-01 (UTC).
    pub day: u32,
}

/// What is known of one move: its value from the view of the player who makes it, and how well it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The value of making the move, for the player who makes it. A win counts this move: a five is `win in 1`.
    pub score: Score,
    /// What the score says about the value.
    pub bound: Bound,
    /// Plies searched, this move included.
    pub depth: u8,
    /// Positions visited for it; 0 where nothing was counted.
    pub nodes: u64,
    /// The expected play, this move first. Empty where only a bound is known.
    pub line: Vec<Move>,
    /// The fact, where there is one; then `score` is the proof's.
    pub proof: Option<Proof>,
    /// Who said it.
    pub by: Provenance,
}

impl Verdict {
    /// Whether the score can be compared as a value: exact, or proven.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.bound == Bound::Exact || self.proof.is_some()
    }

    /// Whether it says no more than that the move was made, in a game or in somebody's list: nobody has looked how good it is.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.depth == 0
            && self.bound == Bound::Lower
            && self.proof.is_none()
            && self.score <= -Score::OPINION_MAX
    }

    /// The verdict with its line turned by `symmetry`.
    #[must_use]
    pub fn turned(mut self, variant: Variant, symmetry: Symmetry) -> Self {
        self.line
            .iter_mut()
            .for_each(|m| *m = variant.image(*m, symmetry));
        self
    }
}

/// The stronger evidence is greater: a proof, then the deeper search, then an exact value, then of two bounds to the same side the
/// closer, then more nodes. What remains breaks ties, so that this is a total order and taking the greater of two is a merge.
impl Ord for Verdict {
    fn cmp(&self, other: &Self) -> Ordering {
        let closeness = |v: &Self| match v.bound {
            Bound::Upper => (0, -i32::from(v.score.raw())),
            Bound::Lower => (1, v.score.raw().into()),
            Bound::Exact => (2, 0),
        };
        let strength = |v: &Self| (v.proof, v.depth, closeness(v), v.nodes, v.score);
        strength(self)
            .cmp(&strength(other))
            .then_with(|| self.line.cmp(&other.line))
            .then_with(|| self.by.cmp(&other.by))
    }
}

impl PartialOrd for Verdict {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
