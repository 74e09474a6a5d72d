use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::{Bound, Move, Proof, Score, Symmetry, Variant};

/// The origin of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// Name and version of the engine, as in `kagetsu 0.1.0`.
    pub engine: Arc<str>,
    /// Days since 1970-01-01 (UTC).
    pub day: u32,
}

/// The evidence about one move: its value from the view of the side that makes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The value of the move. A win counts the move itself: a five is `win in 1`.
    pub score: Score,
    /// The relation of the score to the true value.
    pub bound: Bound,
    /// Depth in plies, including this move.
    pub depth: u8,
    /// Positions visited; 0 if unknown.
    pub nodes: u64,
    /// The principal variation from this move on. Empty if only a bound is known.
    pub line: Vec<Move>,
    /// The proof, if there is one; then `score` follows from it.
    pub proof: Option<Proof>,
    /// The origin.
    pub by: Provenance,
}

impl Verdict {
    /// Returns the verdict that a proof gives: its score, and its plies as depth.
    #[must_use]
    pub fn proven(proof: Proof, line: Vec<Move>, nodes: u64, by: Provenance) -> Self {
        Self {
            score: proof.score(),
            bound: Bound::Exact,
            depth: u8::try_from(proof.plies).unwrap_or(u8::MAX),
            nodes,
            line,
            proof: Some(proof),
            by,
        }
    }

    /// Whether the score is a value: exact or proven.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.bound == Bound::Exact || self.proof.is_some()
    }

    /// Whether it only says that the move was played or listed, without any search.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.depth == 0
            && self.bound == Bound::Lower
            && self.proof.is_none()
            && self.score <= -Score::OPINION_MAX
    }

    /// Returns the verdict for the image of the position under `symmetry`.
    #[must_use]
    pub fn turned(mut self, variant: Variant, symmetry: Symmetry) -> Self {
        self.line
            .iter_mut()
            .for_each(|m| *m = variant.image(*m, symmetry));
        self
    }
}

/// Orders verdicts by strength: proof, depth, exact value, the tighter of two bounds to the same
/// side, nodes. The remaining fields break ties, so the order is total and taking the maximum is a
/// merge.
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
