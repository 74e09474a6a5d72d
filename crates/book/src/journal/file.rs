//! A journal in a file of its own.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{BookError, JournalError};
use crate::journal::frame::{frame, header};
use crate::journal::log::{Journal, JournalDigest, JournalSync, Sequence};
use crate::journal::manifest::JournalManifest;
use crate::journal::reader::{JournalReader, Next, file_of, scan};
use kagetsu_files::{PositionedFile, sync_folder};
use parking_lot::Mutex;

/// Entries between two checkpoints.
const CHECKPOINT_ENTRIES: u64 = 1024;

/// A journal's file in the folder of a book, open for appending.
#[derive(Debug)]
pub(crate) struct FileJournal {
    end: Arc<FileEnd>,
    /// Bytes of header and whole entries.
    length: u64,
    digest: JournalDigest,
    /// One for each [`CHECKPOINT_ENTRIES`], from the beginning.
    checkpoints: Vec<Checkpoint>,
    /// Bytes of an unfinished entry that were cut off at the end.
    torn: u64,
}

/// A place in the file between two entries.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    /// The offset in bytes.
    at: u64,
    /// The digest of all entries before.
    digest: JournalDigest,
}

/// The state that the journal shares with its syncers.
#[derive(Debug)]
struct FileEnd {
    path: PathBuf,
    file: File,
    /// Entries in the file.
    written: AtomicU64,
    synced: Mutex<Synced>,
}

#[derive(Debug)]
struct Synced {
    /// `None` for a journal that is only read.
    manifest: Option<JournalManifest>,
    /// Entries on disk; `None` after a failed sync, when the state of the file is unknown.
    entries: Option<u64>,
}

impl JournalSync for FileEnd {
    fn sync(&self) -> Result<Sequence, JournalError> {
        let wanted = self.written.load(Ordering::Acquire);
        let mut synced = self.synced.lock();
        match synced.entries {
            None => return Err(JournalError::Broken(self.path.clone())),
            Some(entries) if entries >= wanted => return Ok(Sequence(entries)),
            Some(_) => {}
        }
        let written = self.written.load(Ordering::Acquire);
        synced.entries = None;
        // A book that is only read has nothing of its own to keep.
        if let Some(manifest) = &mut synced.manifest {
            let done = self.file.sync_data();
            done.map_err(JournalError::io("cannot write to", &self.path))?;
            manifest.write(written)?;
        }
        synced.entries = Some(written);
        Ok(Sequence(written))
    }
}

impl FileJournal {
    /// Makes the folder of an empty journal, whole or not at all.
    ///
    /// # Errors
    /// If the disk refuses.
    pub(crate) fn create(folder: &Path) -> Result<(), JournalError> {
        let fail = |error| JournalError::io("cannot make the journal", folder)(error);
        let whole = folder.with_extension("new");
        // A crash may have left an earlier attempt.
        let _ = fs::remove_dir_all(&whole);
        fs::create_dir_all(&whole).map_err(fail)?;
        let mut file = File::create(file_of(&whole)).map_err(fail)?;
        file.write_all(&header())
            .and_then(|()| file.sync_all())
            .map_err(fail)?;
        // Windows renames no folder with an open file.
        drop(file);
        sync_folder(&whole).map_err(fail)?;
        fs::rename(&whole, folder).map_err(fail)?;
        let parent = folder.parent().unwrap_or(Path::new("."));
        sync_folder(parent).map_err(fail)
    }

    /// Reads the whole journal of the book in a folder, and cuts off an unfinished entry at its
    /// end. A damaged journal is left as it is.
    ///
    /// # Errors
    /// If the journal is damaged, newer, or shorter than what was on disk, or the disk refuses.
    pub(crate) fn open(book: &Path) -> Result<Self, BookError> {
        Self::open_for(book, true)
    }

    /// Reads the whole journal of the book in a folder, which is left as it is. Nothing can be
    /// appended.
    ///
    /// # Errors
    /// As in [`FileJournal::open`].
    pub(crate) fn open_to_read(book: &Path) -> Result<Self, BookError> {
        Self::open_for(book, false)
    }

    fn open_for(book: &Path, is_written: bool) -> Result<Self, BookError> {
        let folder = book.join("journal");
        let acknowledged = JournalManifest::read(book)?;
        let mut digest = JournalDigest::default();
        let mut checkpoints = Vec::new();
        let found = scan(&folder, acknowledged, &mut |Sequence(number), entry, at| {
            if (number - 1).is_multiple_of(CHECKPOINT_ENTRIES) {
                checkpoints.push(Checkpoint { at, digest });
            }
            digest = digest.after(entry);
            Ok(())
        })?;
        if let Some(expected) = acknowledged.filter(|expected| *expected > found.entries) {
            return Err(JournalError::Short {
                path: folder,
                found: found.entries,
                expected,
            }
            .into());
        }
        let path = file_of(&folder);
        let fail = |error| JournalError::io("cannot write to", &path)(error);
        let file = OpenOptions::new()
            .read(true)
            .write(is_written)
            .open(&path)
            .map_err(fail)?;
        if is_written && found.torn > 0 {
            file.set_len(found.length)
                .and_then(|()| file.sync_all())
                .map_err(fail)?;
        }
        // The entries may not be durable yet; the first sync makes them so.
        let synced = Mutex::new(Synced {
            manifest: is_written
                .then(|| JournalManifest::open(book))
                .transpose()?,
            entries: Some(0),
        });
        let written = AtomicU64::new(found.entries);
        Ok(Self {
            end: Arc::new(FileEnd {
                path,
                file,
                written,
                synced,
            }),
            length: found.length,
            digest,
            checkpoints,
            torn: found.torn,
        })
    }

    /// Returns the bytes of an unfinished entry that were cut off at the end.
    pub(crate) fn torn(&self) -> u64 {
        self.torn
    }

    /// Calls `visit` for at most `max` entries after one; it gets the digest before each.
    fn walk(
        &self,
        after: u64,
        max: usize,
        visit: &mut dyn FnMut(JournalDigest, &[u8]),
    ) -> Result<(), JournalError> {
        let entries = self.entries();
        let index = usize::try_from(after / CHECKPOINT_ENTRIES).unwrap_or(usize::MAX);
        let Some(&Checkpoint { at, mut digest }) = self.checkpoints.get(index) else {
            return Ok(());
        };
        let mut reader = JournalReader::open(&self.end.path)?;
        reader.seek(at)?;
        let first = after - after % CHECKPOINT_ENTRIES + 1;
        let last = entries.min(after.saturating_add(max as u64));
        let mut entry = Vec::new();
        for number in first..=last {
            let at = reader.at;
            match reader.next(number, &mut entry)? {
                Next::Entry if number > after => visit(digest, &entry),
                Next::Entry => {}
                Next::End => return Err(self.damaged(at, "it ends before its last entry")),
                Next::Damaged(what) => return Err(self.damaged(at, what)),
            }
            digest = digest.after(&entry);
        }
        Ok(())
    }

    fn damaged(&self, at: u64, what: &'static str) -> JournalError {
        JournalError::Damaged {
            path: self.end.path.clone(),
            at,
            what,
        }
    }
}

impl Journal for FileJournal {
    fn place(&self) -> String {
        self.end.path.display().to_string()
    }

    fn entries(&self) -> u64 {
        self.end.written.load(Ordering::Acquire)
    }

    fn append(&mut self, entry: &[u8]) -> Result<Sequence, JournalError> {
        let end = &*self.end;
        let next = end.written.load(Ordering::Acquire) + 1;
        let bytes = frame(next, entry)?;
        if let Err(error) = end.file.write_all_at(&bytes, self.length) {
            // The next entry overwrites the partial one, as it would after a crash.
            let _ = end.file.set_len(self.length);
            return Err(JournalError::io("cannot write to", &end.path)(error));
        }
        if (next - 1).is_multiple_of(CHECKPOINT_ENTRIES) {
            self.checkpoints.push(Checkpoint {
                at: self.length,
                digest: self.digest,
            });
        }
        self.digest = self.digest.after(entry);
        self.length += bytes.len() as u64;
        end.written.store(next, Ordering::Release);
        Ok(Sequence(next))
    }

    fn syncer(&self) -> Arc<dyn JournalSync> {
        Arc::clone(&self.end) as _
    }

    fn read(&self, after: Sequence, max: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        let mut entries = Vec::new();
        self.walk(after.0, max, &mut |_, entry| entries.push(entry.into()))?;
        Ok(entries)
    }

    fn digest(&self, after: Sequence) -> Result<Option<JournalDigest>, JournalError> {
        if after.0 >= self.entries() {
            return Ok((after.0 == self.entries()).then_some(self.digest));
        }
        let mut found = None;
        self.walk(after.0, 1, &mut |digest, _| found = Some(digest))?;
        Ok(found)
    }
}
