use std::sync::Arc;

use crate::StoreError;
use crate::bloom::hash;
use crate::memtable::Memtable;
use crate::merge::{MergeIterator, before, with_prefix, without_tombstones};
use crate::sstable::SortedFile;
use crate::store::{Batch, Pairs, Store};

/// The levels of a store at one moment, none of which changes any more.
pub(super) struct LsmSnapshot {
    /// The newest first. The last is that of the level in sled.
    pub(super) memtables: Vec<Arc<Memtable>>,
    pub(super) sorted: Option<Arc<SortedFile>>,
}

/// Returns the value of a key in levels in memory, the newest first, and a sorted file below them.
pub(super) fn found<'a>(
    mut memtables: impl Iterator<Item = &'a Memtable>,
    sorted: Option<&SortedFile>,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StoreError> {
    let hash = hash(key);
    if let Some(found) = memtables.find_map(|memtable| memtable.get(hash, key)) {
        return Ok(found.clone());
    }
    sorted.map_or(Ok(None), |sorted| sorted.get(hash, key))
}

/// Merges such levels from a key on.
pub(super) fn merged<'a>(
    memtables: impl Iterator<Item = &'a Memtable>,
    sorted: Option<&'a SortedFile>,
    from: &[u8],
    is_scan: bool,
) -> MergeIterator<'a> {
    let memtables = memtables.map(|memtable| memtable.range(from));
    let sorted = sorted.map(|sorted| without_tombstones(sorted.range(from, is_scan)));
    MergeIterator::new(memtables.chain(sorted).collect())
}

impl LsmSnapshot {
    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        self.memtables.iter().map(|memtable| &**memtable)
    }

    fn merged<'a>(&'a self, from: &[u8], is_scan: bool) -> MergeIterator<'a> {
        merged(self.memtables(), self.sorted.as_deref(), from, is_scan)
    }
}

impl Store for LsmSnapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        found(self.memtables(), self.sorted.as_deref(), key)
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Pairs<'a> {
        let from = from.max(prefix);
        with_prefix(self.merged(from, from.is_empty()), prefix)
    }

    fn scan<'a>(&'a self, from: &[u8], to: Option<&[u8]>) -> Pairs<'a> {
        before(self.merged(from, true), to)
    }

    fn split_points(&self, max: usize) -> Vec<Vec<u8>> {
        let sorted = self.sorted.as_ref();
        sorted.map_or_else(Vec::new, |sorted| sorted.split_points(max))
    }

    fn snapshot(&mut self) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(Self {
            memtables: self.memtables.clone(),
            sorted: self.sorted.clone(),
        }))
    }

    fn apply(&mut self, _: Batch) -> Result<(), StoreError> {
        Err(StoreError::Snapshot)
    }

    fn compact(&mut self) -> Result<(), StoreError> {
        Err(StoreError::Snapshot)
    }
}
