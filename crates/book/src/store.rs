use crate::BookError;

/// Changes that are made together or not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch(pub(crate) Vec<(Vec<u8>, Option<Vec<u8>>)>);

/// An ordered map from bytes to bytes that outlives the process.
pub(crate) trait Store: Send {
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError>;

    /// The entries from `from` on whose keys begin with `prefix`, in key order.
    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a>;

    /// Makes all changes or none.
    fn apply(&mut self, batch: Batch) -> Result<(), BookError>;

    /// Makes what was applied durable.
    fn flush(&mut self) -> Result<(), BookError>;
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

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let prefix = prefix.to_vec();
        let pairs = self.0.range(from.max(&prefix).to_vec()..).take_while(move |(key, _)| key.starts_with(&prefix));
        Box::new(pairs.map(|(key, value)| Ok((key.clone(), value.clone()))))
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

    fn flush(&mut self) -> Result<(), BookError> {
        Ok(())
    }
}
