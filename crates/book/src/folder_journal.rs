use std::path::Path;

use crate::error::BookError;
use crate::journal::file::FileJournal;
use crate::journal::log::Journal;
use crate::lock::Lock;
use crate::opening::{check_is_no_url, room_for_a_book};

/// The journal of a folder's book, without its store. No other process may open the folder
/// meanwhile.
pub struct FolderJournal {
    pub(crate) journal: FileJournal,
    pub(crate) lock: Lock,
}

impl FolderJournal {
    /// Opens the journal of a book, and makes an empty one in an empty or a new folder if `create`
    /// says so.
    ///
    /// # Errors
    /// If there is no book, another process has it open, its journal is damaged, or the disk
    /// refuses.
    pub fn open(folder: &Path, create: bool) -> Result<Self, BookError> {
        check_is_no_url(folder)?;
        let is_new = !folder.join("journal").exists();
        if is_new {
            room_for_a_book(folder, create)?;
        }
        let lock = Lock::take(folder)?;
        if is_new {
            FileJournal::create(&folder.join("journal"))?;
        }
        let journal = FileJournal::open(folder)?;
        Ok(Self { journal, lock })
    }

    /// Returns the journal.
    pub fn journal(&mut self) -> &mut dyn Journal {
        &mut self.journal
    }
}
