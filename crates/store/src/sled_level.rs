//! The level in sled: a few changes that were made durable without a new sorted file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::bloom::hash;
use crate::encoding::{decode, digest, encode};
use crate::memtable::Memtable;
use crate::sled_db::SledDb;
use crate::store::Batch;

/// The key of the [`Summary`].
const SUMMARY: &[u8] = &[0];
/// The first byte of a stored entry: a value follows, or the entry is a tombstone.
const VALUE: u8 = 1;
const TOMBSTONE: u8 = 0;

/// A database of sled with a summary of what it must hold. It is read from memory.
#[derive(Debug)]
pub(crate) struct SledLevel {
    db: SledDb,
    changes: Arc<Memtable>,
    summary: Summary,
}

/// The number of entries, and the XOR of their digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Summary {
    entries: u64,
    digest: u64,
}

impl SledLevel {
    /// Makes an empty level, on disk.
    pub(crate) fn create(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        // A crash may have left an earlier attempt.
        let _ = fs::remove_dir_all(path);
        let mut level = Self {
            db: SledDb::open(path, cache_bytes)?,
            changes: Arc::default(),
            summary: Summary::default(),
        };
        level.apply(&Memtable::default())?;
        level.db.flush()?;
        Ok(level)
    }

    /// Opens a level and verifies that it holds what was written to it.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Damaged("a part of it is missing"));
        }
        let db = SledDb::open(path, cache_bytes)?;
        let (mut stored, mut summary) = (None, Summary::default());
        let mut batch = Batch::default();
        for pair in db.entries() {
            let (key, value) = pair?;
            if key == SUMMARY {
                stored = decode::<Summary>(SUMMARY, &value);
                continue;
            }
            summary.entries += 1;
            summary.digest ^= digest(&key, &value);
            batch.0.push((key, entry(value)?));
        }
        if stored != Some(summary) {
            return Err(StoreError::Damaged("it did not hold what it should"));
        }
        let mut changes = Memtable::default();
        changes.apply(batch);
        Ok(Self {
            db,
            changes: Arc::new(changes),
            summary,
        })
    }

    /// Makes all changes durable.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.db.flush()
    }

    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns what it holds.
    pub(crate) const fn changes(&self) -> &Arc<Memtable> {
        &self.changes
    }

    /// Makes all changes of a memtable or none.
    pub(crate) fn apply(&mut self, changes: &Memtable) -> Result<(), StoreError> {
        let mut batch = Vec::with_capacity(changes.len() + 1);
        for (key, value) in changes.entries() {
            let value = stored(value);
            let before = self.changes.get(hash(key), key);
            let before = before.map(|before| digest(key, &stored(before)));
            self.summary.entries += u64::from(before.is_none());
            self.summary.digest ^= digest(key, &value) ^ before.unwrap_or(0);
            batch.push((key.clone(), Some(value)));
        }
        batch.push((SUMMARY.to_vec(), Some(encode(SUMMARY, &self.summary))));
        self.db.apply(Batch(batch))?;
        let newer = changes.clone();
        self.changes = Arc::new(Memtable::joined(std::mem::take(&mut self.changes), newer));
        Ok(())
    }
}

/// Returns a change as it is stored.
fn stored(value: &Option<Vec<u8>>) -> Vec<u8> {
    match value {
        Some(value) => [&[VALUE], &value[..]].concat(),
        None => vec![TOMBSTONE],
    }
}

/// Reads a stored entry: a value, or `None` for a tombstone.
fn entry(mut stored: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError> {
    match stored.first() {
        Some(&VALUE) => {
            stored.remove(0);
            Ok(Some(stored))
        }
        Some(&TOMBSTONE) => Ok(None),
        _ => Err(StoreError::Damaged("a part of it")),
    }
}
