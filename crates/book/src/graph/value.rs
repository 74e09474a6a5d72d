use kagetsu_game::{Move, Proof, Score};
use serde::{Deserialize, Serialize};

use crate::journal::record::ProofBody;

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
    pub(crate) fn has_value(&self) -> bool {
        self.best.is_some() || self.proof.is_some()
    }
}

#[derive(PartialEq, Serialize, Deserialize)]
pub(crate) struct DerivedBody {
    score: i16,
    proof: Option<ProofBody>,
    best: Option<u16>,
    depth: u16,
    is_open: bool,
}

impl From<Derived> for DerivedBody {
    fn from(value: Derived) -> Self {
        let proof = value.proof.map(Into::into);
        let best = value.best.map(Move::code);
        Self {
            score: value.score.raw(),
            proof,
            best,
            depth: value.depth,
            is_open: value.is_open,
        }
    }
}

impl DerivedBody {
    pub(crate) fn derived(self) -> Option<Derived> {
        let proof = match self.proof {
            None => None,
            Some(body) => Some(body.proof()?),
        };
        let best = self.best.map(Move::new);
        Some(Derived {
            score: Score::from_raw(self.score)?,
            proof,
            best,
            depth: self.depth,
            is_open: self.is_open,
        })
    }
}
