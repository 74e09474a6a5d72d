//! The journal as a book sees it, wherever its bytes are kept.

use std::sync::Arc;

use kagetsu_store::digest;

use crate::error::{BookError, JournalError};

/// The number of an entry of a journal, from 1; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// A hash over the first entries of a journal, in order. Two journals with the same digest after as
/// many entries have the same entries, so a store that carries it belongs to the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalDigest(pub u64);

impl JournalDigest {
    /// Returns the digest after one more entry.
    #[must_use]
    pub fn after(self, entry: &[u8]) -> Self {
        Self(digest(&self.0.to_le_bytes(), entry))
    }
}

/// A callback for each entry of a journal, in order.
pub type Visit<'a> = dyn FnMut(Sequence, &[u8]) -> Result<(), BookError> + 'a;

/// Entries that [`Journal::scan`] reads at a time.
const SCAN_ENTRIES: usize = 1024;

/// An append-only log of entries, the truth of a book.
pub trait Journal: Send + Sync {
    /// Returns the place for messages: a path, or a URL without secrets.
    fn place(&self) -> String;

    /// Returns the number of entries that this process has read or appended.
    fn entries(&self) -> u64;

    /// Appends one entry, whole or (on an error) not at all. It is durable after a
    /// [`JournalSync::sync`].
    ///
    /// # Errors
    /// If the entry is too long, the medium refuses, or another process leads the book.
    fn append(&mut self, entry: &[u8]) -> Result<Sequence, JournalError>;

    /// Returns a handle that makes the journal durable without borrowing it.
    fn syncer(&self) -> Arc<dyn JournalSync>;

    /// Reads at most `max` entries after one, in order; none at the end.
    ///
    /// # Errors
    /// If the journal is damaged or cannot be read.
    fn read(&self, after: Sequence, max: usize) -> Result<Vec<Box<[u8]>>, JournalError>;

    /// Returns the digest after this many entries; `None` where the journal has fewer.
    ///
    /// # Errors
    /// If the journal is damaged or cannot be read.
    fn digest(&self, after: Sequence) -> Result<Option<JournalDigest>, JournalError>;

    /// Reads all entries again and compares them with what the medium has recorded of them.
    /// Returns the digest of all up to the one given; later entries count only where they are
    /// damaged.
    ///
    /// # Errors
    /// If the journal is damaged, altered, shorter than that, or cannot be read.
    fn check(&self, end: Sequence) -> Result<JournalDigest, JournalError> {
        let (mut at, mut digest) = (Sequence(0), JournalDigest::default());
        while at < end {
            let most = usize::try_from(end.0 - at.0).unwrap_or(SCAN_ENTRIES);
            let entries = self.read(at, most.min(SCAN_ENTRIES))?;
            if entries.is_empty() {
                return Err(JournalError::Altered {
                    place: self.place(),
                    fault: format!("it ends after entry {} of {}", at.0, end.0),
                });
            }
            digest = entries
                .iter()
                .fold(digest, |digest, entry| digest.after(entry));
            at.0 += entries.len() as u64;
        }
        Ok(digest)
    }

    /// Reads all entries after one, in order.
    ///
    /// # Errors
    /// If the journal is damaged or cannot be read, or `visit` fails.
    fn scan(&self, after: Sequence, visit: &mut Visit) -> Result<(), BookError> {
        let mut after = after;
        loop {
            let entries = self.read(after, SCAN_ENTRIES)?;
            if entries.is_empty() {
                return Ok(());
            }
            for entry in entries {
                after.0 += 1;
                visit(after, &entry)?;
            }
        }
    }
}

/// The part of a journal that makes entries durable, without a borrow of the book. Any thread may
/// call it.
pub trait JournalSync: Send + Sync {
    /// Makes all entries durable that were appended so far, and returns the last of them. A result
    /// may be acknowledged only after this. Concurrent callers share one write.
    ///
    /// # Errors
    /// If the medium refuses or has refused before, or another process leads the book. Then nothing
    /// may be acknowledged any more.
    fn sync(&self) -> Result<Sequence, JournalError>;
}
