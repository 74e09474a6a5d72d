//! The replacement of a journal by another, whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use kagetsu_files::sync_folder;

use crate::error::JournalError;
use crate::journal::entry::LogEntry;
use crate::journal::frame;
use crate::journal::manifest::JournalManifest;
use crate::journal::reader::file_of;

/// Removes a folder. Threads of sled hold its files for a moment after their database was closed,
/// and Windows removes none that is open.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    let is_open = |error: &io::Error| error.kind() == ErrorKind::DirectoryNotEmpty;
    for _ in 0..10_000 {
        match fs::remove_dir_all(path) {
            Err(error) if is_open(&error) => sleep(Duration::from_millis(1)),
            removed => return removed,
        }
    }
    fs::remove_dir_all(path)
}

/// A new journal of a book that no other process has open.
pub(crate) struct Rewrite {
    book: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    entries: u64,
}

impl Rewrite {
    /// Begins an empty journal.
    pub(crate) fn begin(book: &Path) -> Result<Self, JournalError> {
        let path = file_of(&book.join("journal")).with_extension("new");
        let file = File::create(&path).map_err(JournalError::io("cannot write to", &path))?;
        let mut new = Self {
            book: book.to_path_buf(),
            path,
            file: BufWriter::with_capacity(1 << 20, file),
            entries: 0,
        };
        new.write(&frame::header())?;
        Ok(new)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.file
            .write_all(bytes)
            .map_err(JournalError::io("cannot write to", &self.path))
    }

    /// Returns the number of entries so far.
    pub(crate) fn len(&self) -> u64 {
        self.entries
    }

    pub(crate) fn add(&mut self, entry: &LogEntry) -> Result<(), JournalError> {
        self.add_bytes(&entry.encode())
    }

    pub(crate) fn add_bytes(&mut self, entry: &[u8]) -> Result<(), JournalError> {
        let frame = frame::frame(self.entries + 1, entry)?;
        self.write(&frame)?;
        self.entries += 1;
        Ok(())
    }

    /// Replaces the old journal, which is kept with the extension `keep` if there is one. Removes
    /// the store, which is rebuilt from the new journal.
    pub(crate) fn finish(self, keep: Option<&str>) -> Result<u64, JournalError> {
        let Self {
            book,
            path,
            file,
            entries,
        } = self;
        let fail = |error| JournalError::io("cannot write to", &path)(error);
        let file = file
            .into_inner()
            .map_err(|error| fail(error.into_error()))?;
        file.sync_all().map_err(fail)?;
        // Windows renames no file that is open.
        drop(file);
        let old = path.with_extension("journal");
        if let Some(extension) = keep {
            let kept = path.with_extension(extension);
            let _ = fs::remove_file(&kept);
            fs::hard_link(&old, &kept).map_err(JournalError::io("cannot keep", &old))?;
        }
        // From here on a crash leaves a whole journal, a manifest that expects no more than it has,
        // and no store of another journal.
        let mut manifest = JournalManifest::open(&book)?;
        manifest.write_durably(0)?;
        let store = book.join("store");
        if store.exists() {
            remove_folder(&store).map_err(JournalError::io("cannot remove", &store))?;
        }
        fs::rename(&path, &old).map_err(fail)?;
        let folder = book.join("journal");
        sync_folder(&folder).map_err(JournalError::io("cannot write to", &folder))?;
        manifest.write_durably(entries)?;
        Ok(entries)
    }
}
