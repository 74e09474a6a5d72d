/// A fault of a win tree, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TreeFault {
    /// The line of the file, counted from 1.
    pub line: u64,
    /// The fault.
    pub what: String,
    /// Whether the line could not be read or is no text, so that nothing is known of a tree.
    pub is_unreadable: bool,
}

impl TreeFault {
    pub(crate) fn at(line: u64, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            is_unreadable: false,
        }
    }

    /// Returns the fault of a line that cannot be read.
    #[must_use]
    pub fn unreadable(line: u64, error: &std::io::Error) -> Self {
        Self {
            line,
            what: error.to_string(),
            is_unreadable: true,
        }
    }
}
