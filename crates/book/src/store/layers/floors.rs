//! Where the entries of a prefix begin, after many were removed from the beginning: what is gone is not passed again.

use std::collections::BTreeMap;

use crate::store::Batch;

/// From so many entries on that are gone, a look from the beginning remembers where the first is that is not.
const MANY_GONE: u32 = if cfg!(test) { 2 } else { 32 };
/// Entries that came before a floor since, and are known one by one.
const MOST_BEFORE: usize = if cfg!(test) { 3 } else { 256 };

/// By prefix.
#[derive(Debug, Default)]
pub(super) struct Floors(BTreeMap<Vec<u8>, Floor>);

#[derive(Clone, Debug)]
pub(super) struct Floor {
    /// Of the entries with the prefix none has a lesser key.
    pub(super) from: Vec<u8>,
    /// But for these.
    pub(super) before: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Floors {
    pub(super) fn get(&self, prefix: &[u8]) -> Option<Floor> {
        self.0.get(prefix).cloned()
    }

    /// A look from a floor on, or from the beginning, passed so many that are gone before the first key that is not.
    pub(super) fn passed(&mut self, prefix: &[u8], gone: u32, first: &[u8]) {
        if gone >= MANY_GONE {
            let floor = self.0.entry(prefix.to_vec()).or_insert_with(|| Floor {
                from: Vec::new(),
                before: BTreeMap::new(),
            });
            floor.from = first.to_vec();
        }
    }

    /// Follows changes.
    pub(super) fn apply(&mut self, batch: &Batch) {
        for (prefix, floor) in &mut self.0 {
            for (key, value) in batch
                .0
                .iter()
                .filter(|(key, _)| key.starts_with(prefix) && *key < floor.from)
            {
                match value {
                    Some(value) => drop(floor.before.insert(key.clone(), value.clone())),
                    None => drop(floor.before.remove(key)),
                }
            }
            if floor.before.len() > MOST_BEFORE
                && let Some((first, _)) = std::mem::take(&mut floor.before).pop_first()
            {
                floor.from = first;
            }
        }
    }
}
