//! The part of the store that is in memory.

use std::collections::{BTreeMap, HashSet};

use super::merged::Source;
use crate::store::Batch;
use crate::store::filter::{Hashed, hash};

/// Changes.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    /// `None` where an entry is gone.
    entries: BTreeMap<Key, Option<Vec<u8>>>,
    /// Of all keys: most that are looked for are not here, which is known so without a walk down the tree.
    hashes: HashSet<u64, Hashed>,
}

/// A key, ordered by its bytes. Its first ones lie where it lies: most keys are told apart without a look elsewhere in memory,
/// which is most of the time that a walk down the tree takes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The first bytes as big-endian numbers, with zeros behind a shorter key.
    head: [u64; 3],
    all: Vec<u8>,
}

impl From<Vec<u8>> for Key {
    fn from(all: Vec<u8>) -> Self {
        let mut head = [0; 24];
        head.iter_mut().zip(&all).for_each(|(to, from)| *to = *from);
        let word = |at: usize| {
            head[at..]
                .first_chunk()
                .map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        Self {
            head: [word(0), word(8), word(16)],
            all,
        }
    }
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
        self.entries.iter().map(|(key, value)| (&key.all, value))
    }

    /// What it says of a key with this hash, if it says anything.
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Option<Vec<u8>>> {
        if self.hashes.contains(&hash) {
            self.entries.get(&Key::from(key.to_vec()))
        } else {
            None
        }
    }

    pub(super) fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        Box::new(
            self.entries
                .range(Key::from(from.to_vec())..)
                .map(|(key, value)| Ok((key.all.clone(), value.clone()))),
        )
    }

    pub(super) fn apply(&mut self, batch: Batch) {
        for (key, value) in batch.0 {
            self.hashes.insert(hash(&key));
            self.entries.insert(key.into(), value);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_ordered_by_their_bytes(
            one in prop::collection::vec(0..3_u8, 0..30),
            other in prop::collection::vec(0..3_u8, 0..30),
        ) {
            prop_assert_eq!(Key::from(one.clone()).cmp(&Key::from(other.clone())), one.cmp(&other));
            let longer = [&one[..], &other].concat();
            prop_assert_eq!(Key::from(one.clone()).cmp(&Key::from(longer.clone())), one.cmp(&longer));
        }
    }
}
