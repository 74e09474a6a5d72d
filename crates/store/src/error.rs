use std::io;
use std::path::Path;

use kagetsu_files::FileError;

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The files do not hold what was written to them.
    #[error("the store is damaged ({0})")]
    Damaged(&'static str),
    /// The store is a snapshot, which only reads.
    #[error("a snapshot of a store takes no changes")]
    Snapshot,
    /// A file of the store could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl StoreError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = FileError::io(what, path);
        move |error| file(error).into()
    }
}
