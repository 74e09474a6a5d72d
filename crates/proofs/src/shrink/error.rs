use kagetsu_game::{Position, Variant};

/// Why trees cannot be joined or made smaller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShrinkError {
    /// The game is not gomoku.
    #[error("only trees of gomoku can be joined, not of {0}")]
    Game(Variant),
    /// A tree belongs to another variant.
    #[error("a tree of {0} is no part of one of {1}")]
    Variant(Variant, Variant),
    /// No tree proves the position after this reply.
    #[error("no tree answers {0}")]
    Open(String),
    /// A tree does not hold.
    #[error("a tree does not win in {0}; `kagetsu verify` names its fault")]
    Wrong(String),
}

impl ShrinkError {
    pub(crate) fn wrong(position: &Position) -> Self {
        Self::Wrong(position.to_string())
    }
}
