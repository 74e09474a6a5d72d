/// A side. `First` is Black in gomoku, Red in xiangqi, the side on ranks 1 and 2 in surakarta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The side that makes the first move of a game.
    First,
    /// The other side.
    Second,
}

// As in every JSON answer.
crate::names!(Side { First = "first", Second = "second" });

impl Side {
    /// Returns the opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Returns the first side where this holds, else the second.
    #[must_use]
    pub const fn first_if(holds: bool) -> Self {
        if holds { Self::First } else { Self::Second }
    }

    /// Returns 0 for [`Side::First`], 1 for [`Side::Second`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
