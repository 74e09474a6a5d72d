/// What is wrong with a win tree, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Fault {
    /// The line of the file, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
}

impl Fault {
    pub(crate) fn at(line: u64, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}
