//! The level in sled: a few changes that were made durable without a new sorted file.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::bloom::hash;
use crate::encoding::{decode, digest, encode};
use crate::memtable::Memtable;
use crate::merge::Source;
use crate::sled_db::SledDb;
use crate::store::Batch;

/// The key of the [`Summary`].
const SUMMARY: &[u8] = &[0];
/// The first byte of a stored entry: a value follows, or the entry is a tombstone.
const VALUE: u8 = 1;
const TOMBSTONE: u8 = 0;

/// A database of sled with a summary of what it must hold.
#[derive(Debug)]
pub(crate) struct SledLevel {
    db: SledDb,
    /// The digest of each entry, by the hash of its key: absent keys need no read.
    digests: HashMap<u64, u64>,
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
            digests: HashMap::new(),
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
        let stored = db.get(SUMMARY)?;
        let stored = stored.and_then(|bytes| decode::<Summary>(SUMMARY, &bytes));
        let mut digests = HashMap::new();
        let mut summary = Summary::default();
        for pair in db.range(&[]) {
            let (key, value) = pair?;
            if key != SUMMARY {
                let digest = digest(&key, &value);
                digests.insert(hash(&key), digest);
                summary.entries += 1;
                summary.digest ^= digest;
            }
        }
        if stored == Some(summary) {
            Ok(Self {
                db,
                digests,
                summary,
            })
        } else {
            Err(StoreError::Damaged("it did not hold what it should"))
        }
    }

    /// Makes all changes durable.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.db.flush()
    }

    pub(crate) fn len(&self) -> usize {
        self.digests.len()
    }

    /// Returns a copy in memory.
    pub(crate) fn copied(&self) -> Result<Memtable, StoreError> {
        let mut copy = Memtable::default();
        copy.apply(Batch(self.range(&[]).collect::<Result<_, _>>()?));
        Ok(copy)
    }

    /// Returns the change of the key with this hash, if there is one.
    pub(crate) fn get(&self, hash: u64, key: &[u8]) -> Result<Option<Option<Vec<u8>>>, StoreError> {
        if !self.digests.contains_key(&hash) {
            return Ok(None);
        }
        self.db.get(key)?.map(entry).transpose()
    }

    pub(crate) fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        let pairs = self
            .db
            .range(from)
            .filter(|pair| pair.as_ref().map_or(true, |(key, _)| key != SUMMARY));
        Box::new(pairs.map(|pair| pair.and_then(|(key, value)| Ok((key, entry(value)?)))))
    }

    /// Makes all changes of a memtable or none.
    pub(crate) fn apply(&mut self, changes: &Memtable) -> Result<(), StoreError> {
        let mut batch = Vec::with_capacity(changes.len() + 1);
        for (key, value) in changes.entries() {
            let value = match value {
                Some(value) => [&[VALUE], &value[..]].concat(),
                None => vec![TOMBSTONE],
            };
            let digest = digest(key, &value);
            let before = self.digests.insert(hash(key), digest);
            self.summary.entries += u64::from(before.is_none());
            self.summary.digest ^= digest ^ before.unwrap_or(0);
            batch.push((key.clone(), Some(value)));
        }
        batch.push((SUMMARY.to_vec(), Some(encode(SUMMARY, &self.summary))));
        self.db.apply(Batch(batch))
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
