use core::str::FromStr;

/// A way to write moves. Games with one notation write the same in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// The notation of engines: `h8`, `h2e2`.
    #[default]
    Engine,
    /// The notation of score sheets in Latin letters: `C2=5` in xiangqi.
    Wxf,
    /// The Chinese notation of score sheets: `炮二平五` in xiangqi.
    Chinese,
}

crate::names!(Notation { Engine = "engine", Wxf = "wxf", Chinese = "chinese" });

/// Text that names no notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a notation is engine, wxf or chinese")]
pub struct NotationError;

impl FromStr for Notation {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        Self::named(text).ok_or(NotationError)
    }
}
