use std::io;
use std::path::{Path, PathBuf};

/// The reason why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A later program wrote the file.
    #[error(
        "{path} has format {found}, this program knows formats up to {known}; use a newer kagetsu"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: u32,
        /// The latest version that this program reads.
        known: u32,
    },
    /// The operating system refused an operation.
    #[error("{what} {path}: {error}{}", way_out(error))]
    Io {
        /// The failed operation, for instance "cannot read".
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The answer of the operating system.
        error: io::Error,
    },
}

impl FileError {
    /// Returns a function that adds the failed operation and its path to an error.
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |error| Self::Io { what, path, error }
    }
}

/// Returns advice for an error that has a known remedy.
fn way_out(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::FileTooLarge {
        "; raise the limit of file sizes (ulimit -f): nothing that was acknowledged is lost"
    } else if is_disk_full(error) {
        "; make room for it and do the same again: nothing that was acknowledged is lost"
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        "; give this user the right, or work on a copy in a folder of yours"
    } else {
        ""
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
