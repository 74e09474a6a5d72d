use std::io;
use std::path::{Path, PathBuf};

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
    /// A later program wrote the store.
    #[error(
        "{path} has format {found}, this program knows formats up to {known}; use a newer kagetsu"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The latest version that this program knows.
        known: u32,
    },
    /// The operating system refused an operation.
    #[error("{action} {path}: {error}")]
    Io {
        /// The failed operation, for instance "cannot read".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The answer of the operating system.
        error: io::Error,
    },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io {
            action,
            path,
            error,
        }
    }
}

/// Returns whether an operation failed because the disk, a quota or a file is full.
#[must_use]
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge
    )
}
