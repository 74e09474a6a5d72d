//! Parts of the search that can be left out, to measure what each is worth.

/// One part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The table's best move is searched first.
    TableMove,
    /// What cut off at the same ply, or answered the same move, is searched early.
    Killers,
    /// So is what cut off elsewhere.
    History,
    /// Captures are searched on at the leaves.
    Quiescence,
    /// Who stands above the window even after leaving the move to the other side is not searched.
    NullMove,
    /// Late moves are searched less deeply, or not at all.
    LateMoves,
    /// All moves but the first are searched with a window of nothing, and again only if they are better.
    NullWindow,
    /// An answer to a check costs no depth.
    CheckExtension,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::TableMove,
        Self::Killers,
        Self::History,
        Self::Quiescence,
        Self::NullMove,
        Self::LateMoves,
        Self::NullWindow,
        Self::CheckExtension,
    ];

    /// As in `without=null-move+killers`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TableMove => "table-move",
            Self::Killers => "killers",
            Self::History => "history",
            Self::Quiescence => "quiescence",
            Self::NullMove => "null-move",
            Self::LateMoves => "late-moves",
            Self::NullWindow => "null-window",
            Self::CheckExtension => "check-extension",
        }
    }
}

/// A set of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u8);

impl Features {
    /// None.
    pub const NONE: Self = Self(0);

    /// The set with one more.
    #[must_use]
    pub const fn with(self, mechanism: Feature) -> Self {
        Self(self.0 | 1 << mechanism as u8)
    }

    /// Whether it is in the set.
    #[must_use]
    pub const fn has(self, mechanism: Feature) -> bool {
        self.0 >> mechanism as u8 & 1 != 0
    }
}
