//! The part of the store that is in memory.

use std::collections::{BTreeMap, HashSet};

use super::merged::Source;
use crate::filter::hash;
use crate::store::Batch;

/// Changes.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    /// `None` where an entry is gone.
    entries: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Of all keys: most that are looked for are not here, which is known so without a walk down the tree.
    hashes: HashSet<u64>,
}

impl Fresh {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What was changed, in key order.
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = (&Vec<u8>, &Option<Vec<u8>>)> {
        self.entries.iter()
    }

    /// What it says of a key with this hash, if it says anything.
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Option<Vec<u8>>> {
        if self.hashes.contains(&hash) { self.entries.get(key) } else { None }
    }

    pub(super) fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        Box::new(self.entries.range(from.to_vec()..).map(|(key, value)| Ok((key.clone(), value.clone()))))
    }

    pub(super) fn apply(&mut self, batch: Batch) {
        for (key, value) in batch.0 {
            self.hashes.insert(hash(&key));
            self.entries.insert(key, value);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
