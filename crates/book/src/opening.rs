//! How a book is opened: the store is held against the journal, and made again where it falls short.

use std::fs;
use std::path::{Path, PathBuf};

use crate::BookError;
use crate::bytes::{digest, unseal};
use crate::entry::LogEntry;
use crate::growth::apply;
use crate::index::{Index, MARKER, Marker, RECORD};
use crate::journal::{Journal, Sequence};
use crate::sled_store::SledStore;
use crate::store::Store;

/// What a person should hear about the opening of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The store was damaged, and made again from the journal.
    Rebuilt {
        /// What was wrong with it.
        reason: String,
        /// Entries of the journal that it was made from.
        entries: u64,
    },
    /// The last entry of the journal was never finished, and never acknowledged; it was cut off.
    Torn {
        /// Its bytes.
        bytes: u64,
    },
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rebuilt { reason, entries } => {
                write!(f, "the store was rebuilt from the {entries} entries of the journal, because {reason}")
            }
            Self::Torn { bytes } => write!(
                f,
                "the journal ended in {bytes} bytes of an entry that was never finished, nor acknowledged: cut off"
            ),
        }
    }
}

/// Entries applied at a time while a store is made.
const CHUNK: u64 = 256;

pub(crate) struct Opened {
    pub(crate) journal: Journal,
    pub(crate) store: Box<dyn Store>,
    pub(crate) marker: Marker,
    pub(crate) notices: Vec<Notice>,
}

pub(crate) fn open(folder: &Path, cache_bytes: u64) -> Result<Opened, BookError> {
    let (journal, at) = (folder.join("journal"), folder.join("store"));
    // Before anything is changed the whole journal is read once: a damaged one is left as it is.
    let scan = Journal::scan(&journal, &mut |_, _| Ok(()))?;
    let mut notices = Vec::new();
    let (mut store, mut marker) = match sound(&at, cache_bytes) {
        Ok((_, marker)) if marker.applied > scan.entries => {
            return Err(BookError::JournalShort { path: journal, found: scan.entries, expected: marker.applied });
        }
        Ok(sound) => sound,
        Err(reason) => {
            if scan.entries > 0 {
                notices.push(Notice::Rebuilt { reason, entries: scan.entries });
            }
            (anew(&at, cache_bytes)?, Marker::default())
        }
    };
    if scan.torn > 0 {
        notices.push(Notice::Torn { bytes: scan.torn });
    }
    let opened = Journal::open(&journal, &scan)?;
    replay(&journal, &mut *store, &mut marker)?;
    Ok(Opened { journal: opened, store, marker, notices })
}

/// The store, if it holds just what its marker says; else what is wrong with it.
fn sound(at: &Path, cache_bytes: u64) -> Result<(Box<dyn Store>, Marker), String> {
    if !at.exists() {
        return Err("it was missing".into());
    }
    let store = SledStore::open(at, cache_bytes).map_err(|error| error.to_string())?;
    let bytes = store.get(MARKER).map_err(|error| error.to_string())?;
    let marker: Option<Marker> = bytes.and_then(|bytes| unseal(MARKER, &bytes));
    let marker = marker.ok_or("it lost its marker")?;
    let mut found = Marker { applied: marker.applied, ..Marker::default() };
    for pair in store.range(&[], &[]) {
        let (key, value) = pair.map_err(|error| error.to_string())?;
        if key != MARKER {
            found.entries += 1;
            found.positions += u64::from(key.first() == Some(&RECORD));
            found.digest ^= digest(&key, &value);
        }
    }
    if found == marker { Ok((Box::new(store), marker)) } else { Err("it did not hold what it should".into()) }
}

/// An empty store; what was in its place is moved aside.
fn anew(at: &Path, cache_bytes: u64) -> Result<Box<dyn Store>, BookError> {
    if at.exists() {
        let aside: PathBuf = at.with_extension("damaged");
        let _ = fs::remove_dir_all(&aside);
        fs::rename(at, &aside).map_err(BookError::io("cannot move aside", at))?;
    }
    Ok(Box::new(SledStore::open(at, cache_bytes)?))
}

/// Applies what the store lacks of the journal.
fn replay(journal: &Path, store: &mut dyn Store, marker: &mut Marker) -> Result<(), BookError> {
    let mut pending: Vec<LogEntry> = Vec::new();
    let from = marker.applied;
    Journal::scan(journal, &mut |Sequence(number), bytes| {
        if number <= from {
            return Ok(());
        }
        let entry = postcard::from_bytes(bytes).map_err(|_| BookError::Store("an entry of the journal"))?;
        pending.push(entry);
        if pending.len() as u64 == CHUNK { apply_all(store, marker, &mut pending) } else { Ok(()) }
    })?;
    apply_all(store, marker, &mut pending)?;
    if marker.applied > from { store.flush() } else { Ok(()) }
}

fn apply_all(store: &mut dyn Store, marker: &mut Marker, entries: &mut Vec<LogEntry>) -> Result<(), BookError> {
    let mut index = Index::new(&*store, *marker);
    for entry in entries.drain(..) {
        apply(&mut index, &entry)?;
        index.marker.applied += 1;
    }
    let (batch, after) = index.into_batch();
    store.apply(batch)?;
    *marker = after;
    Ok(())
}
