use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use kagetsu_files::FileIdentity;

use crate::error::CompiledError;
use crate::read::compiled::Compiled;

/// A compiled book by the name of its file. When another file has the name, or the file was
/// written, the book is opened again.
#[derive(Debug)]
pub struct NamedBook {
    path: PathBuf,
    newest: RwLock<OpenVersion>,
}

/// The version of the book that is open.
#[derive(Debug)]
struct OpenVersion {
    book: Arc<Compiled>,
    number: u64,
    /// The file that was opened last, or could not be opened; `None` if it was so new that a
    /// change would not show.
    tried: Option<FileIdentity>,
}

impl NamedBook {
    /// Opens the book.
    ///
    /// # Errors
    /// If there is no compiled book, or it is damaged.
    pub fn open(path: &Path) -> Result<Self, CompiledError> {
        // The file is opened later than its identity is read, so a change in between is seen.
        let tried = identity(path).filter(FileIdentity::is_settled);
        let newest = OpenVersion {
            book: Compiled::open(path)?.into(),
            number: 0,
            tried,
        };
        Ok(Self {
            path: path.into(),
            newest: newest.into(),
        })
    }

    /// Returns the book that has the name now. While the file is absent or no whole book, for
    /// instance because a program copies another one over it, returns the book before.
    #[must_use]
    pub fn newest(&self) -> Arc<Compiled> {
        self.version().0
    }

    /// Returns how often the book was opened again.
    #[must_use]
    pub fn reopened(&self) -> u64 {
        self.version().1
    }

    fn version(&self) -> (Arc<Compiled>, u64) {
        let found = identity(&self.path);
        {
            let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
            if found.is_none() || newest.tried == found {
                return (Arc::clone(&newest.book), newest.number);
            }
        }
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        if newest.tried != found {
            newest.tried = found.filter(FileIdentity::is_settled);
            if let Ok(book) = Compiled::open(&self.path) {
                newest.book = book.into();
                newest.number += 1;
            }
        }
        (Arc::clone(&newest.book), newest.number)
    }
}

fn identity(path: &Path) -> Option<FileIdentity> {
    fs::metadata(path)
        .ok()
        .map(|about| FileIdentity::of(&about))
}
