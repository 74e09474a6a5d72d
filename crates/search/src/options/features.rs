//! Features of the search that can be switched off to measure their worth.

/// A feature of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Search the table's best move first.
    TableMove,
    /// Search killer and counter moves early.
    Killers,
    /// Order moves by how often they cut off elsewhere.
    History,
    /// Search captures at the leaves.
    Quiescence,
    /// Prune nodes whose value stays above the window after passing.
    NullMove,
    /// Reduce or leave out late moves.
    LateMoves,
    /// Search all moves but the first with a null window, and again only if they fail high.
    NullWindow,
    /// Extend the search of replies to checks.
    CheckExtension,
}

impl Feature {
    /// All features.
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

    /// Returns the name used in `without=null-move+killers`.
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

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u8);

impl Features {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns the set with one feature added.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u8)
    }

    /// Whether the set contains the feature.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 != 0
    }
}
