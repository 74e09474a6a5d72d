/// Why a line is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Gap {
    /// It speaks against what it is to show.
    #[error("{0}")]
    Wrong(String),
    /// It leaves open what it is to show.
    #[error("{0}")]
    Open(String),
}
