/// The result of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TransferReport {
    /// Entries of the journal.
    pub entries: u64,
    /// Entries that the target lacked.
    pub copied: u64,
}
