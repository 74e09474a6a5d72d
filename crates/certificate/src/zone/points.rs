use kagetsu_game::Move;

/// A set of points. Those of a zone are codes of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Zone<const WORDS: usize = 8>([u64; WORDS]);

impl<const WORDS: usize> Default for Zone<WORDS> {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

impl<const WORDS: usize> Zone<WORDS> {
    /// The number of points that it has room for.
    pub(super) const MAX_POINTS: usize = 64 * WORDS;

    /// Whether a point is in the set.
    #[must_use]
    pub const fn contains(&self, m: Move) -> bool {
        self.has(m.index())
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    pub(super) const fn has(&self, at: usize) -> bool {
        self.0[at / 64 % WORDS] >> (at % 64) & 1 != 0
    }

    pub(super) const fn with(mut self, at: usize) -> Self {
        self.0[at / 64 % WORDS] |= 1 << (at % 64);
        self
    }

    fn combine(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    pub(super) fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    pub(super) fn without(self, other: Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    pub(super) fn xor(self, other: Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    /// Returns the points at which a point of this set is `steps` further on.
    pub(super) fn back(self, steps: usize) -> Self {
        let (words, bits) = (steps / 64, steps % 64);
        let word = |at: usize| self.0.get(at).copied().unwrap_or_default();
        Self(std::array::from_fn(|at| {
            let (low, high) = (word(at + words), word(at + words + 1));
            low >> bits | high.checked_shl(64 - bits as u32).unwrap_or_default()
        }))
    }

    /// Returns the points `steps` further on than those of this set.
    pub(super) fn ahead(self, steps: usize) -> Self {
        let (words, bits) = (steps / 64, steps % 64);
        let word = |at: Option<usize>| at.map(|at| self.0[at]).unwrap_or_default();
        Self(std::array::from_fn(|at| {
            let (high, low) = (word(at.checked_sub(words)), word(at.checked_sub(words + 1)));
            high << bits | low.checked_shr(64 - bits as u32).unwrap_or_default()
        }))
    }

    pub(super) fn points(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    64 * at + bit
                })
            })
        })
    }
}

/// The stones of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZoneBoard<const WORDS: usize> {
    /// Stones of the winner.
    pub(super) own: Zone<WORDS>,
    /// Stones of the loser.
    pub(super) foe: Zone<WORDS>,
}

impl<const WORDS: usize> ZoneBoard<WORDS> {
    pub(super) fn stones(self) -> Zone<WORDS> {
        self.own.or(self.foe)
    }
}
