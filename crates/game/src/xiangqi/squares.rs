use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXorAssign, Not};

/// Files `a` to `i`.
pub const FILES: usize = 9;
/// Ranks 0 to 9, Red at 0.
pub const RANKS: usize = 10;
/// Points of the board.
pub const SQUARES: usize = FILES * RANKS;

/// A point of the board: `rank * 9 + file`, `a0` being 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The point with this number, if there is one.
    #[must_use]
    pub const fn new(number: usize) -> Option<Self> {
        if number < SQUARES {
            Some(Self(number as u8))
        } else {
            None
        }
    }

    /// The point on this file (0 is `a`) and rank (0 is Red's first), if there is one.
    #[must_use]
    pub const fn at(file: usize, rank: usize) -> Option<Self> {
        if file < FILES {
            Self::new(rank.saturating_mul(FILES) + file)
        } else {
            None
        }
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 for `a` to 8 for `i`.
    #[must_use]
    pub const fn file(self) -> usize {
        self.index() % FILES
    }

    /// 0 to 9, 0 being Red's first.
    #[must_use]
    pub const fn rank(self) -> usize {
        self.index() / FILES
    }
}

/// A set of points, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Squares(pub(super) u128);

impl Squares {
    /// No point.
    pub const NONE: Self = Self(0);

    /// All of them.
    pub const ALL: Self = Self((1 << SQUARES) - 1);

    /// The set whose points are those bits, `a0` the lowest; what is off the board is left out.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// One point.
    #[must_use]
    pub const fn one(square: Square) -> Self {
        Self(1 << square.0)
    }

    /// Whether the point is in the set.
    #[must_use]
    pub const fn has(self, square: Square) -> bool {
        self.0 >> square.0 & 1 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The one with the lowest number.
    #[must_use]
    pub const fn lowest(self) -> Option<Square> {
        Square::new(self.0.trailing_zeros() as usize)
    }

    /// The one with the highest number.
    #[must_use]
    pub const fn highest(self) -> Option<Square> {
        Square::new(127usize.wrapping_sub(self.0.leading_zeros() as usize))
    }
}

/// From the lowest number up.
impl IntoIterator for Squares {
    type Item = Square;
    type IntoIter = Iter;
    fn into_iter(self) -> Iter {
        Iter(self)
    }
}

/// The points of a [`Squares`].
#[derive(Clone, Debug)]
pub struct Iter(Squares);

impl Iterator for Iter {
    type Item = Square;
    fn next(&mut self) -> Option<Square> {
        let square = self.0.lowest()?;
        self.0.0 &= self.0.0 - 1;
        Some(square)
    }
}

impl FromIterator<Square> for Squares {
    fn from_iter<T: IntoIterator<Item = Square>>(squares: T) -> Self {
        squares
            .into_iter()
            .fold(Self::NONE, |set, square| set | Self::one(square))
    }
}

impl BitAnd for Squares {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Squares {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Squares {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }
}

impl BitAndAssign for Squares {
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for Squares {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitXorAssign for Squares {
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}
