/// The proof number of a refuted position, and the disproof number of a proven one.
pub(super) const INFINITE: u32 = u32::MAX / 4;

/// A number of plies that no search reaches.
pub(super) const NEVER: u16 = u16::MAX;

/// Known facts about the attacker's win in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VctProofNumbers {
    /// Proof number: the least number of positions to win for a proof within the limit of the
    /// search.
    pub(super) pn: u32,
    /// Disproof number: the least number of positions to refute.
    pub(super) dn: u32,
    /// Plies within which the attacker wins; [`NEVER`] if unknown.
    pub(super) won: u16,
    /// Plies within which the attacker has no win by threats; [`NEVER`] if there is none at all.
    pub(super) lost: u16,
}

impl VctProofNumbers {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        pn: 1,
        dn: 1,
        won: NEVER,
        lost: 0,
    };
    /// There is no win by threats, however long.
    pub(super) const REFUTED: Self = Self {
        pn: INFINITE,
        dn: 0,
        won: NEVER,
        lost: NEVER,
    };

    /// A win within `plies`.
    pub(super) const fn won(plies: u16) -> Self {
        Self {
            pn: 0,
            dn: INFINITE,
            won: plies,
            lost: 0,
        }
    }

    /// A win within `plies`, and none within fewer.
    pub(super) const fn exactly(plies: u16) -> Self {
        Self {
            lost: plies - 1,
            ..Self::won(plies)
        }
    }

    /// No win within `plies`, but perhaps a longer one.
    pub(super) const fn lost(plies: u16) -> Self {
        Self {
            pn: INFINITE,
            dn: 0,
            won: NEVER,
            lost: plies,
        }
    }

    /// Returns the same facts with the proof numbers for a win within `plies`; `guess` gives them
    /// where the facts do not decide.
    pub(super) fn within(self, plies: u16, guess: impl FnOnce() -> (u32, u32)) -> Self {
        let (pn, dn) = match () {
            () if self.won <= plies => (0, INFINITE),
            () if self.lost >= plies => (INFINITE, 0),
            () if self.is_open() => (self.pn, self.dn),
            () => guess(),
        };
        Self { pn, dn, ..self }
    }

    /// As [`VctProofNumbers::lost`] for the position one ply earlier.
    pub(super) const fn lost_before(self) -> u16 {
        self.lost.saturating_add(1)
    }

    pub(super) const fn is_won(self) -> bool {
        self.pn == 0
    }

    pub(super) const fn is_lost(self) -> bool {
        self.dn == 0
    }

    /// Whether neither is decided.
    pub(super) const fn is_open(self) -> bool {
        self.pn != 0 && self.dn != 0
    }

    /// Adds the facts of another value of the same position.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            won: self.won.min(other.won),
            lost: self.lost.max(other.lost),
            ..self
        }
    }
}
