/// What is wrong with a win tree, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Fault {
    /// The line of the file, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
    /// Whether the line could not be read, or is no text: nothing is said of a tree then.
    pub is_unreadable: bool,
}

impl Fault {
    pub(crate) fn at(line: u64, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            is_unreadable: false,
        }
    }

    pub(crate) fn unreadable(line: u64, error: &std::io::Error) -> Self {
        Self {
            line,
            what: error.to_string(),
            is_unreadable: true,
        }
    }
}
