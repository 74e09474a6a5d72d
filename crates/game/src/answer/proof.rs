use core::cmp::Ordering;
use core::fmt;

use crate::Score;

/// What is proven, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// The game is drawn.
    Draw,
    /// The side to move loses.
    Loss,
    /// The side to move wins.
    Win,
}

impl Claim {
    /// The same fact from the other side's view.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Draw => Self::Draw,
            Self::Loss => Self::Win,
            Self::Win => Self::Loss,
        }
    }
}

/// How it was proven; a later one is trusted more when all else is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofKind {
    /// Somebody said so.
    Manual,
    /// Every move of the defender was searched, or shown not to matter.
    Search,
    /// Continuous threes and fours.
    Vct,
    /// Continuous fours.
    Vcf,
    /// From the proofs of the following positions in the book.
    Tree,
    /// The rules: the game is over.
    Terminal,
}

/// A fact about a position or a move: a field of its own, never read off a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proof {
    /// Who wins, from the view of the side to move.
    pub claim: Claim,
    /// How this is known.
    pub kind: ProofKind,
    /// The game ends within this many plies if the winner plays well; 0 for a draw and for a finished game.
    pub plies: u16,
}

impl Proof {
    /// The score that goes with the claim.
    #[must_use]
    pub fn score(self) -> Score {
        match self.claim {
            Claim::Win => Score::win_in(self.plies),
            Claim::Loss => Score::loss_in(self.plies),
            Claim::Draw => Score::ZERO,
        }
    }

    /// The fact for the player who moves into a position of which `self` is proven.
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

    /// Whether the two cannot both be true.
    #[must_use]
    pub fn contradicts(self, other: Self) -> bool {
        self.claim != other.claim
    }
}

/// The stronger proof is greater: what is checked beats what was only said, then the shorter distance, then the kind.
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

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draw => "draw",
            Self::Loss => "loss",
            Self::Win => "win",
        })
    }
}

impl fmt::Display for ProofKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manual => "manual",
            Self::Search => "search",
            Self::Vct => "vct",
            Self::Vcf => "vcf",
            Self::Tree => "tree",
            Self::Terminal => "terminal",
        })
    }
}
