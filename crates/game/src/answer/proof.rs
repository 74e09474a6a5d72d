use core::cmp::Ordering;

use crate::Score;

/// A proven outcome, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// The game is drawn.
    Draw,
    /// The side to move loses.
    Loss,
    /// The side to move wins.
    Win,
}

crate::names!(Claim { Draw = "draw", Loss = "loss", Win = "win" });

impl Claim {
    /// Returns the same outcome from the other side's view.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Draw => Self::Draw,
            Self::Loss => Self::Win,
            Self::Win => Self::Loss,
        }
    }
}

/// The method of a proof, in order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofKind {
    /// Asserted by a user.
    Manual,
    /// A full search, apart from moves shown to be irrelevant.
    Search,
    /// Victory by continuous threes and fours (VCT).
    Vct,
    /// Victory by continuous fours (VCF).
    Vcf,
    /// Derived from the proofs of the successors in the book.
    Tree,
    /// The rules: the game is over.
    Terminal,
}

crate::names!(ProofKind {
    Manual = "manual",
    Search = "search",
    Vct = "vct",
    Vcf = "vcf",
    Tree = "tree",
    Terminal = "terminal",
});

/// A proven fact about a position or a move. It is stored apart from the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proof {
    /// The outcome, from the view of the side to move.
    pub claim: Claim,
    /// The method.
    pub kind: ProofKind,
    /// Maximum plies to the end of the game if the winner plays well; 0 for a draw and for a
    /// finished game.
    pub plies: u16,
}

impl Proof {
    /// Returns a proof by its fields.
    #[must_use]
    pub const fn new(claim: Claim, kind: ProofKind, plies: u16) -> Self {
        Self { claim, kind, plies }
    }

    /// Returns claim and kind as one frozen number: 6 · claim + kind, each counted in the order of
    /// its declaration.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.claim as u8 * ProofKind::ALL.len() as u8 + self.kind as u8
    }

    /// Returns the proof with a number of [`Self::code`]; `None` for a number that no proof has.
    #[must_use]
    pub fn from_code(code: u8, plies: u16) -> Option<Self> {
        let code = usize::from(code);
        Some(Self {
            claim: *Claim::ALL.get(code / ProofKind::ALL.len())?,
            kind: ProofKind::ALL[code % ProofKind::ALL.len()],
            plies,
        })
    }

    /// Returns the score that follows from the claim.
    #[must_use]
    pub fn score(self) -> Score {
        match self.claim {
            Claim::Win => Score::win_in(self.plies),
            Claim::Loss => Score::loss_in(self.plies),
            Claim::Draw => Score::ZERO,
        }
    }

    /// Returns the fact for the side that moves into a position of which `self` is proven.
    #[must_use]
    pub fn before(self) -> Self {
        let plies = if self.claim == Claim::Draw {
            0
        } else {
            (self.plies + 1).min(Score::MAX_PLIES)
        };
        Self {
            claim: self.claim.negated(),
            kind: self.kind,
            plies,
        }
    }

    /// Whether both cannot be true.
    #[must_use]
    pub fn contradicts(self, other: Self) -> bool {
        self.claim != other.claim
    }
}

/// Orders proofs by strength: checked before asserted, then by shorter distance, then by method.
impl Ord for Proof {
    fn cmp(&self, other: &Self) -> Ordering {
        let strength = |p: &Self| {
            (
                p.kind != ProofKind::Manual,
                core::cmp::Reverse(p.plies),
                p.kind,
                p.claim,
            )
        };
        strength(self).cmp(&strength(other))
    }
}

impl PartialOrd for Proof {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_codes_are_read_as_written() {
        for code in 0..18 {
            let proof = Proof::from_code(code, 7).expect("a proof has it");
            assert_eq!((proof.code(), proof.plies), (code, 7));
        }
        assert!((18..=255).all(|code| Proof::from_code(code, 0).is_none()));
    }
}
