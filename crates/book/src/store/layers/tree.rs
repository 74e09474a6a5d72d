//! A part of the store that takes changes: a tree of sled, of which is known what it must hold.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fresh::Fresh;
use super::merged::Source;
use crate::BookError;
use crate::store::Batch;
use crate::store::bytes::{digest, seal, unseal};
use crate::store::filter::hash;
use crate::store::sled_store::SledStore;

/// In a tree: how many entries it has, and a hash over them.
const SUM: &[u8] = &[0];
/// In a tree: before a value, and in place of one that a part below has and that is gone.
const HERE: u8 = 1;
const GONE: u8 = 0;

/// A tree of sled.
#[derive(Debug)]
pub(super) struct Tree {
    store: SledStore,
    /// By the hash of its key, each entry's digest: what the tree has is known without a look into it.
    digests: HashMap<u64, u64>,
    pub(super) sum: Sum,
}

/// What a tree must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sum {
    entries: u64,
    digest: u64,
}

impl Tree {
    /// An empty tree, on disk.
    pub(super) fn create(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        // What a crash left of an earlier attempt.
        let _ = fs::remove_dir_all(path);
        let store = SledStore::open(path, cache_bytes)?;
        let mut tree = Self {
            store,
            digests: HashMap::new(),
            sum: Sum::default(),
        };
        tree.apply(&Fresh::default())?;
        tree.store.flush()?;
        Ok(tree)
    }

    /// A tree that has all that was written to it.
    pub(super) fn open(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        if !path.exists() {
            return Err(BookError::Store("a part of it is missing"));
        }
        let store = SledStore::open(path, cache_bytes)?;
        let said = store.get(SUM)?.and_then(|bytes| unseal::<Sum>(SUM, &bytes));
        let (mut digests, mut sum) = (HashMap::new(), Sum::default());
        for pair in store.range(&[]) {
            let (key, value) = pair?;
            if key != SUM {
                let digest = digest(&key, &value);
                digests.insert(hash(&key), digest);
                sum = Sum {
                    entries: sum.entries + 1,
                    digest: sum.digest ^ digest,
                };
            }
        }
        if said == Some(sum) {
            Ok(Self {
                store,
                digests,
                sum,
            })
        } else {
            Err(BookError::Store("it did not hold what it should"))
        }
    }

    /// Makes what was applied durable.
    pub(super) fn flush(&mut self) -> Result<(), BookError> {
        self.store.flush()
    }

    pub(super) fn len(&self) -> usize {
        self.digests.len()
    }

    /// What the tree says of a key with this hash, if it says anything.
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Result<Option<Option<Vec<u8>>>, BookError> {
        if !self.digests.contains_key(&hash) {
            return Ok(None);
        }
        self.store.get(key)?.map(said).transpose()
    }

    /// All that it says from a key on.
    pub(super) fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        let pairs = self
            .store
            .range(from)
            .filter(|pair| pair.as_ref().map_or(true, |(key, _)| key != SUM));
        Box::new(pairs.map(|pair| pair.and_then(|(key, value)| Ok((key, said(value)?)))))
    }

    /// Makes all changes or none.
    pub(super) fn apply(&mut self, changes: &Fresh) -> Result<(), BookError> {
        let mut raw = Vec::with_capacity(changes.len() + 1);
        for (key, value) in changes.entries() {
            let value = value
                .as_ref()
                .map_or_else(|| vec![GONE], |value| [&[HERE], &value[..]].concat());
            let digest = digest(key, &value);
            let before = self.digests.insert(hash(key), digest);
            self.sum.entries += u64::from(before.is_none());
            self.sum.digest ^= digest ^ before.unwrap_or(0);
            raw.push((key.clone(), Some(value)));
        }
        raw.push((SUM.to_vec(), Some(seal(SUM, &self.sum))));
        self.store.apply(Batch(raw))
    }
}

/// A value of a tree: one, or that there is none any more.
fn said(mut value: Vec<u8>) -> Result<Option<Vec<u8>>, BookError> {
    match value.first() {
        Some(&HERE) => {
            value.remove(0);
            Ok(Some(value))
        }
        Some(&GONE) => Ok(None),
        _ => Err(BookError::Store("a part of it")),
    }
}
