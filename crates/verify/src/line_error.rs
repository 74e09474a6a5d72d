/// Why a line is not a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It contradicts the claim.
    #[error("{0}")]
    Wrong(String),
    /// It leaves the claim undecided.
    #[error("{0}")]
    Open(String),
}
