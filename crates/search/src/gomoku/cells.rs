use kagetsu_game::gomoku::MAX_CELLS;

/// Words of a set of cells.
pub(super) const WORDS: usize = MAX_CELLS.div_ceil(64);

/// A set of cells of a board, by their indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells([u64; WORDS]);

impl Cells {
    /// The empty set.
    pub(super) const NONE: Self = Self([0; WORDS]);

    #[inline]
    pub(super) const fn contains(&self, cell: usize) -> bool {
        self.0[cell / 64 % WORDS] >> (cell % 64) & 1 != 0
    }

    /// Adds the cell if it is not in the set, else takes it out.
    #[inline]
    pub(super) const fn flip(&mut self, cell: usize) {
        self.0[cell / 64 % WORDS] ^= 1 << (cell % 64);
    }

    /// Adds the cell.
    #[inline]
    pub(super) const fn insert(&mut self, cell: usize) {
        self.0[cell / 64 % WORDS] |= 1 << (cell % 64);
    }

    /// Adds the cells of another set, both within the first `words` words.
    #[inline]
    pub(super) fn add(&mut self, other: &Self, words: usize) {
        self.0
            .iter_mut()
            .zip(other.0)
            .take(words)
            .for_each(|(word, other)| *word |= other);
    }

    /// The cells that are in both sets.
    #[inline]
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        both.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(word, other)| *word &= other);
        both
    }

    /// The cell with the least number.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// In ascending order.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        let mut at = 0;
        let mut rest = words[0];
        std::iter::from_fn(move || {
            while rest == 0 {
                at += 1;
                rest = *words.get(at)?;
            }
            let cell = at * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(cell)
        })
    }
}

impl FromIterator<usize> for Cells {
    fn from_iter<I: IntoIterator<Item = usize>>(cells: I) -> Self {
        let mut set = Self::NONE;
        cells
            .into_iter()
            .for_each(|cell| set.0[cell / 64] |= 1 << (cell % 64));
        set
    }
}
