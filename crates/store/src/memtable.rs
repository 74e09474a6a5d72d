//! The level in memory.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::bloom::hash;
use crate::merge::Source;
use crate::store::Batch;

/// Changes in memory; `None` for a removed entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memtable {
    entries: BTreeMap<SortedKey, Option<Vec<u8>>>,
    /// Hashes of all keys. Most lookups are for absent keys, and this says so without a search of
    /// the tree.
    hashes: HashSet<u64, BuildHasherDefault<IdentityHasher>>,
}

/// Takes a number that is a hash already as its hash.
#[derive(Clone, Copy, Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A key, ordered by its bytes. The first 24 bytes lie in the node of the tree, so that most
/// comparisons read no other memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortedKey {
    /// The first bytes as big-endian numbers, with zeros behind a shorter key.
    head: [u64; 3],
    bytes: Vec<u8>,
}

impl From<Vec<u8>> for SortedKey {
    fn from(bytes: Vec<u8>) -> Self {
        let mut head = [0; 24];
        head.iter_mut()
            .zip(&bytes)
            .for_each(|(to, from)| *to = *from);
        let word = |at: usize| {
            head[at..]
                .first_chunk()
                .map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        Self {
            head: [word(0), word(8), word(16)],
            bytes,
        }
    }
}

impl Memtable {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all changes in key order.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = (&Vec<u8>, &Option<Vec<u8>>)> {
        self.entries.iter().map(|(key, value)| (&key.bytes, value))
    }

    /// Returns the change of the key with this hash, if there is one.
    pub(crate) fn get(&self, hash: u64, key: &[u8]) -> Option<&Option<Vec<u8>>> {
        if self.hashes.contains(&hash) {
            self.entries.get(&SortedKey::from(key.to_vec()))
        } else {
            None
        }
    }

    pub(crate) fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        Box::new(
            self.entries
                .range(SortedKey::from(from.to_vec())..)
                .map(|(key, value)| Ok((key.bytes.clone(), value.clone()))),
        )
    }

    pub(crate) fn apply(&mut self, batch: Batch) {
        for (key, value) in batch.0 {
            self.hashes.insert(hash(&key));
            self.entries.insert(key.into(), value);
        }
    }

    /// Returns the changes of a memtable with those of a newer one.
    pub(crate) fn joined(older: Arc<Self>, newer: Self) -> Self {
        let mut all = Arc::unwrap_or_clone(older);
        let mut newer = newer;
        all.entries.append(&mut newer.entries);
        all.hashes.extend(newer.hashes);
        all
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_sort_by_their_bytes(
            one in prop::collection::vec(0..3_u8, 0..30),
            other in prop::collection::vec(0..3_u8, 0..30),
        ) {
            let compared = SortedKey::from(one.clone()).cmp(&SortedKey::from(other.clone()));
            prop_assert_eq!(compared, one.cmp(&other));
            let longer = [&one[..], &other].concat();
            let compared = SortedKey::from(one.clone()).cmp(&SortedKey::from(longer.clone()));
            prop_assert_eq!(compared, one.cmp(&longer));
        }
    }
}
