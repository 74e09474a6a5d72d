use std::path::PathBuf;

/// The reason why a compiled book could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompiledError {
    /// The file is not a compiled book.
    #[error("{0} is not a compiled book; `kagetsu compile` makes one of a book's folder")]
    NotCompiled(PathBuf),
    /// The compiled book is damaged.
    #[error("the compiled book {path} is damaged: {what}; compile it again from its folder")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// The delta cannot be applied.
    #[error("the delta {path} cannot be used: {what}")]
    Delta {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// A file that is no compiled book has the name of the new one.
    #[error("{0} is there and is not a compiled book; give another name, or move it away")]
    Taken(PathBuf),
    /// A compiled book cannot hold so many positions.
    #[error("{0} are too many for one compiled book, whose positions take 4 GiB at most")]
    TooMany(u64),
}
