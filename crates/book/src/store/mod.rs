pub(crate) mod bytes;
pub(crate) mod filter;
pub(crate) mod layers;
pub(crate) mod partitions;
pub(crate) mod sealed;
pub(crate) mod sled_store;

use crate::BookError;

/// Changes that are made together or not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch(pub(crate) Vec<(Vec<u8>, Option<Vec<u8>>)>);

/// An ordered map from bytes to bytes that outlives the process.
pub(crate) trait Store: Send + Sync {
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError>;

    /// The entries from `from` on whose keys begin with `prefix`, in key order.
    fn range<'a>(
        &'a self,
        prefix: &[u8],
        from: &[u8],
    ) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a>;

    /// The entries from a key on up to another, for whoever goes through all of them and looks at none again.
    fn scan<'a>(
        &'a self,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let to = to.map(<[u8]>::to_vec);
        let is_before = move |pair: &Result<Pair, BookError>| match (pair, &to) {
            (Ok((key, _)), Some(to)) => key < to,
            _ => true,
        };
        Box::new(self.range(&[], from).take_while(is_before))
    }

    /// Less than `most` keys, ascending, between which about as many entries lie; none where nobody knows.
    fn cuts(&self, most: usize) -> Vec<Vec<u8>>;

    /// Makes all changes or none.
    fn apply(&mut self, batch: Batch) -> Result<(), BookError>;

    /// Whether so much was applied that it should be [settled](Self::settle).
    fn is_full(&self) -> bool;

    /// Brings what was applied from memory to the disk, there to be durable at some later time.
    fn settle(&mut self) -> Result<(), BookError>;

    /// Makes what was applied durable, and all of the store as small as it can be.
    fn seal(&mut self) -> Result<(), BookError>;

    /// Makes what was applied durable.
    fn flush(&mut self) -> Result<(), BookError>;

    /// Makes what was applied durable before the store is dropped; waits for it now only where it is little.
    fn keep(&mut self) -> Result<(), BookError>;
}

/// A key and its value.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// A store that forgets: for tests, and to hold a rebuilt store against.
#[derive(Clone, Debug, Default)]
#[cfg(test)]
pub(crate) struct MemoryStore(pub(crate) std::collections::BTreeMap<Vec<u8>, Vec<u8>>);

#[cfg(test)]
impl Store for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        Ok(self.0.get(key).cloned())
    }

    fn range<'a>(
        &'a self,
        prefix: &[u8],
        from: &[u8],
    ) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let prefix = prefix.to_vec();
        let pairs = self
            .0
            .range(from.max(&prefix).to_vec()..)
            .take_while(move |(key, _)| key.starts_with(&prefix));
        Box::new(pairs.map(|(key, value)| Ok((key.clone(), value.clone()))))
    }

    fn cuts(&self, most: usize) -> Vec<Vec<u8>> {
        self.0
            .keys()
            .step_by(self.0.len() / most + 1)
            .skip(1)
            .cloned()
            .collect()
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        for (key, value) in batch.0 {
            match value {
                Some(value) => self.0.insert(key, value),
                None => self.0.remove(&key),
            };
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn settle(&mut self) -> Result<(), BookError> {
        Ok(())
    }

    fn seal(&mut self) -> Result<(), BookError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), BookError> {
        Ok(())
    }

    fn keep(&mut self) -> Result<(), BookError> {
        Ok(())
    }
}
