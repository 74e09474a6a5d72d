use crate::StoreError;

/// Changes that are made together or not at all: keys with their new values, `None` to remove one.
#[derive(Clone, Debug, Default)]
pub struct Batch(pub Vec<(Vec<u8>, Option<Vec<u8>>)>);

/// A key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Entries in key order.
pub type Pairs<'a> = Box<dyn Iterator<Item = Result<Pair, StoreError>> + 'a>;

/// A persistent ordered map from bytes to bytes.
///
/// Every method fails where the files are damaged or the disk refuses.
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// See [`Store`].
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns the entries whose keys begin with `prefix`, from the key `from` on.
    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Pairs<'a>;

    /// Returns the entries from one key on up to another, for a reader that needs each only once:
    /// it leaves the cache as it is.
    fn scan<'a>(&'a self, from: &[u8], to: Option<&[u8]>) -> Pairs<'a>;

    /// Returns fewer than `max` ascending keys that split the entries into parts of about the same
    /// size.
    fn split_points(&self, max: usize) -> Vec<Vec<u8>>;

    /// Returns the store as it is now. The snapshot stays as it is while the store changes, any
    /// thread may read it, and it takes no changes. Taking one costs no copy of the entries; the
    /// memory and the files that it reads are kept until it is dropped.
    ///
    /// # Errors
    /// See [`Store`].
    fn snapshot(&mut self) -> Result<Box<dyn Store>, StoreError>;

    /// Makes all changes or none.
    ///
    /// # Errors
    /// See [`Store`].
    fn apply(&mut self, batch: Batch) -> Result<(), StoreError>;

    /// Returns whether there is work for [`Store::maintain`]; none for a store that takes no
    /// changes, which needs none of the following methods.
    fn needs_maintenance(&self) -> bool {
        false
    }

    /// Starts a compaction in the background if one is due, and takes over the result of a finished
    /// one.
    ///
    /// # Errors
    /// See [`Store`].
    fn maintain(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Makes all changes durable and rewrites the store in its smallest form.
    ///
    /// # Errors
    /// See [`Store`].
    fn compact(&mut self) -> Result<(), StoreError>;

    /// Makes all changes durable.
    ///
    /// # Errors
    /// See [`Store`].
    fn flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Makes few changes durable now, and begins a compaction of many, which ends before the store
    /// is dropped.
    ///
    /// # Errors
    /// See [`Store`].
    fn begin_flush(&mut self) -> Result<(), StoreError> {
        self.flush()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A store in memory, the model that others are compared with.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct MemoryStore(BTreeMap<Vec<u8>, Vec<u8>>);

    impl MemoryStore {
        pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
            self.0.get(key).cloned()
        }

        pub(crate) fn range(&self, prefix: &[u8], from: &[u8]) -> Vec<Pair> {
            self.0
                .range(from.max(prefix).to_vec()..)
                .take_while(|(key, _)| key.starts_with(prefix))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        }

        pub(crate) fn apply(&mut self, batch: Batch) {
            for (key, value) in batch.0 {
                match value {
                    Some(value) => self.0.insert(key, value),
                    None => self.0.remove(&key),
                };
            }
        }
    }
}
