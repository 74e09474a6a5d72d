//! The opening of a book: the store is compared with the journal, and rebuilt where it falls short.

use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;

use crate::book_store::BookStore;
use kagetsu_files::FileError;

use crate::error::{BookError, JournalError, OpenError, without_password};
use crate::graph::cache::ReadCache;
use crate::graph::growth::apply;
use crate::graph::index::Index;
use crate::graph::keys::{MARKER, Marker};
use crate::journal::entry::LogEntry;
use crate::journal::log::{Journal, JournalDigest, Sequence};
use kagetsu_store::{Batch, FORMAT_VERSION, Store, catch_panics, decode, encode, version};

/// An event during the opening of a book that the user should know of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Notice {
    /// The store was damaged and was rebuilt from so many entries of the journal.
    #[error("the store was rebuilt from the {1} entries of the journal, because {0}")]
    Rebuilt(String, u64),
    /// The last entry of the journal was unfinished and not acknowledged, and so many bytes of it
    /// were cut off.
    #[error(
        "the journal ended in {0} bytes of an entry that was never finished, nor acknowledged: cut off"
    )]
    Torn(u64),
}

/// Entries that are applied at a time while the store is rebuilt.
const ENTRIES_AT_A_TIME: u64 = 256;
/// Changes to a store that are made in memory before a compaction may begin, some 256 bytes each. A
/// look-up has a small cache, with which a rebuild would compact many times.
const MAX_UNFLUSHED_CHANGES: usize = 1 << 20;

/// A store that has all entries of a journal.
pub(crate) struct OpenedStore {
    pub(crate) store: Box<dyn Store>,
    pub(crate) marker: Marker,
    /// Entries of the journal that the store held when it was opened.
    pub(crate) held_entries: u64,
    pub(crate) notices: Vec<Notice>,
}

/// Refuses a URL: a folder could have such a name, but the user means a server.
pub(crate) fn check_is_no_url(path: &Path) -> Result<(), BookError> {
    let text = path.to_string_lossy();
    if text.contains("://") {
        Err(OpenError::Url(without_password(&text)).into())
    } else {
        Ok(())
    }
}

/// Returns the error for a folder without a journal: a damaged book, or none.
pub(crate) fn without_journal(path: &Path) -> BookError {
    let parts = ["manifest", "store"].map(|part| path.join(part).try_exists());
    match parts.into_iter().find(|part| !matches!(part, Ok(false))) {
        Some(Ok(_)) => JournalError::Lost(path.to_path_buf()).into(),
        Some(Err(error)) => BookError::io("cannot read", path)(error),
        None => OpenError::NotABook(path.to_path_buf()).into(),
    }
}

/// Makes the folder of a new book or checks that it is empty. Files of an attempt that a crash
/// ended do not count.
pub(crate) fn room_for_a_book(path: &Path, create: bool) -> Result<(), BookError> {
    let is_ours = |name: &std::ffi::OsStr| name == "lock" || name == "journal.new";
    let is_empty = match fs::read_dir(path) {
        Ok(mut entries) => {
            entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.file_name())))
        }
        Err(_) if path.exists() && !path.is_dir() => {
            return Err(OpenError::IsFile(path.to_path_buf()).into());
        }
        Err(error) if !matches!(error.kind(), NotFound | NotADirectory) => {
            return Err(BookError::io("cannot read", path)(error));
        }
        Err(_) if !create => return Err(OpenError::Missing(path.to_path_buf()).into()),
        Err(_) => true,
    };
    match create && is_empty {
        true => fs::create_dir_all(path).map_err(BookError::io("cannot make the book", path)),
        false => Err(without_journal(path)),
    }
}

/// Opens the store in a folder, or makes it anew where it does not belong to the journal, and
/// applies the entries that it lacks.
pub(crate) fn open(
    folder: &Path,
    journal: &dyn Journal,
    cache_bytes: u64,
) -> Result<OpenedStore, BookError> {
    let at = folder.join("store");
    let mut notices = Vec::new();
    let (mut store, mut marker) = match sound(&at, cache_bytes, journal)? {
        Ok(sound) => sound,
        Err(reason) => {
            let entries = journal.entries();
            if entries > 0 {
                notices.push(Notice::Rebuilt(reason, entries));
            }
            (anew(&at, cache_bytes)?, Marker::default())
        }
    };
    let held_entries = marker.applied;
    replay(journal, &mut *store, &mut marker, cache_bytes)?;
    Ok(OpenedStore {
        store,
        marker,
        held_entries,
        notices,
    })
}

type Sound = Result<(Box<dyn Store>, Marker), String>;

/// Opens the store and returns it with its marker if every level is whole and the journal begins
/// with the entries that the store was made from; otherwise returns the reason. Errors of the disk
/// and of permissions are no damage.
fn sound(at: &Path, cache_bytes: u64, journal: &dyn Journal) -> Result<Sound, BookError> {
    if !at.exists() {
        return Ok(Err("it was missing".into()));
    }
    let examined = catch_panics(|| {
        let store = BookStore::open(at, cache_bytes)?;
        refuse_newer(&store, at)?;
        let marker = store
            .get(MARKER)?
            .and_then(|bytes| decode::<Marker>(MARKER, &bytes));
        Ok(marker.map(|marker| (Box::new(store) as Box<dyn Store>, marker)))
    });
    Ok(match examined {
        Ok(Some((_, marker))) if marker.applied > journal.entries() => {
            Err("it had entries that the journal never got".into())
        }
        Ok(Some(sound)) => {
            let digest = journal.digest(Sequence(sound.1.applied))?;
            if digest == Some(JournalDigest(sound.1.journal)) {
                Ok(sound)
            } else {
                Err("it belonged to another journal".into())
            }
        }
        Ok(None) => Err("it did not say what it holds".into()),
        Err(BookError::Entry(what)) => Err(what.into()),
        Err(error) => return Err(error),
    })
}

/// Refuses the store of a later program, which is no damage.
fn refuse_newer(store: &dyn Store, at: &Path) -> Result<(), BookError> {
    let version = store.get(MARKER)?.and_then(|bytes| version(MARKER, &bytes));
    match version.filter(|version| *version > FORMAT_VERSION) {
        Some(found) => Err(FileError::Newer {
            path: at.into(),
            found: found.into(),
            known: FORMAT_VERSION.into(),
        }
        .into()),
        None => Ok(()),
    }
}

/// Makes an empty store. A damaged one in its place is moved to `store.damaged`.
fn anew(at: &Path, cache_bytes: u64) -> Result<Box<dyn Store>, BookError> {
    if at.exists() {
        let aside = at.with_extension("damaged");
        // Keep one damaged store for inspection, not all that ever were.
        let _ = fs::remove_dir_all(&aside);
        fs::rename(at, &aside).map_err(BookError::io("cannot move aside", at))?;
    }
    let mut store = BookStore::create(at, cache_bytes)?;
    // The marker says from the beginning that the store is empty.
    store.apply(Batch(vec![(
        MARKER.to_vec(),
        Some(encode(MARKER, &Marker::default())),
    )]))?;
    store.flush()?;
    Ok(Box::new(store))
}

/// Applies the entries of the journal that the store lacks.
fn replay(
    journal: &dyn Journal,
    store: &mut dyn Store,
    marker: &mut Marker,
    cache_bytes: u64,
) -> Result<(), BookError> {
    let from = marker.applied;
    let mut replay = JournalReplay {
        store,
        marker,
        cache: ReadCache::new(cache_bytes),
        pending: Vec::new(),
        unsealed: 0,
    };
    journal.scan(Sequence(from), &mut |number, bytes| {
        replay.pending.push((number, bytes.into()));
        if replay.pending.len() as u64 == ENTRIES_AT_A_TIME {
            replay.apply_all()
        } else {
            Ok(())
        }
    })?;
    replay.apply_all()?;
    if replay.marker.applied > from {
        Ok(replay.store.begin_flush()?)
    } else {
        Ok(())
    }
}

/// Entries of the journal that are being applied to a store.
struct JournalReplay<'a> {
    store: &'a mut dyn Store,
    marker: &'a mut Marker,
    cache: ReadCache,
    pending: Vec<(Sequence, Box<[u8]>)>,
    unsealed: usize,
}

impl JournalReplay<'_> {
    fn apply_all(&mut self) -> Result<(), BookError> {
        let mut index = Index::new(&*self.store, *self.marker, std::mem::take(&mut self.cache));
        for (number, bytes) in self.pending.drain(..) {
            apply(&mut index, &LogEntry::decode(number, &bytes)?, &bytes, None)?;
        }
        let (changes, cache) = index.into_parts();
        self.unsealed += changes.batch.0.len();
        self.store.apply(changes.batch)?;
        (*self.marker, self.cache) = (changes.marker, cache);
        if self.unsealed >= MAX_UNFLUSHED_CHANGES && self.store.needs_maintenance() {
            self.unsealed = 0;
            self.store.maintain()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::file::FileJournal;

    #[test]
    fn store_of_a_later_format_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        FileJournal::create(&folder.path().join("journal")).expect("room");
        let journal = FileJournal::open(folder.path()).expect("an empty journal");
        let with_version = |version: u8, flip: u8| {
            let mut bytes = encode(MARKER, &Marker::default());
            let body = bytes.len() - 4;
            bytes[0] = version;
            let sum = crc32fast::hash(&[MARKER, &bytes[..body]].concat()) ^ u32::from(flip);
            bytes[body..].copy_from_slice(&sum.to_le_bytes());
            let _ = fs::remove_dir_all(&path);
            let mut store = BookStore::create(&path, 1 << 20).expect("opens");
            store
                .apply(Batch(vec![(MARKER.to_vec(), Some(bytes))]))
                .expect("room");
            store.flush().expect("room");
            drop(store);
            sound(&path, 1 << 20, &journal)
        };
        assert!(matches!(with_version(FORMAT_VERSION, 0), Ok(Ok(_))));
        assert!(matches!(
            with_version(FORMAT_VERSION + 1, 0),
            Err(BookError::File(FileError::Newer {
                found: 6,
                known: 5,
                ..
            }))
        ));
        assert!(
            path.exists() && !path.with_extension("damaged").exists(),
            "it was moved"
        );
        assert!(matches!(with_version(FORMAT_VERSION + 1, 1), Ok(Err(_))));
        assert!(matches!(with_version(0, 0), Ok(Err(_))));
    }
}
