use kagetsu_compiled::Derived;
use kagetsu_game::{Move, Score};
use serde::{Deserialize, Serialize};

use crate::base::record::ProofBody;

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
