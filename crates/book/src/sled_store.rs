//! The store in sled. The only file that names it.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::BookError;
use crate::store::{Batch, Pair, Store};

/// One sled tree.
#[derive(Debug)]
pub(crate) struct SledStore {
    path: PathBuf,
    db: sled::Db,
}

impl SledStore {
    /// Opens or makes the store. sled panics on damaged files: that is an error here as well.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        let config = sled::Config::new().path(path).cache_capacity(cache_bytes).flush_every_ms(None);
        let open = || {
            let silent = std::panic::take_hook();
            std::panic::set_hook(Box::new(|_| {}));
            let opened = catch_unwind(AssertUnwindSafe(|| config.open()));
            std::panic::set_hook(silent);
            opened
        };
        match open() {
            Ok(Ok(db)) => Ok(Self { path: path.to_path_buf(), db }),
            Ok(Err(sled::Error::Io(error))) => Err(BookError::io("cannot open the store", path)(error)),
            Ok(Err(_)) | Err(_) => Err(BookError::Store("it does not open")),
        }
    }

    fn fail(&self, error: sled::Error) -> BookError {
        match error {
            sled::Error::Io(error) => BookError::io("cannot use the store", &self.path)(error),
            other => BookError::io("cannot use the store", &self.path)(std::io::Error::other(other.to_string())),
        }
    }
}

impl Store for SledStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        Ok(self.db.get(key).map_err(|error| self.fail(error))?.map(|value| value.to_vec()))
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let pairs = self.db.range(from.max(prefix).to_vec()..);
        let prefix = prefix.to_vec();
        let begins = move |pair: &Result<(sled::IVec, sled::IVec), sled::Error>| {
            pair.as_ref().map_or(true, |(key, _)| key.starts_with(&prefix))
        };
        Box::new(
            pairs
                .take_while(begins)
                .map(|pair| pair.map(|(key, value)| (key.to_vec(), value.to_vec())).map_err(|error| self.fail(error))),
        )
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut all = sled::Batch::default();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(key, value),
                None => all.remove(key),
            }
        }
        self.db.apply_batch(all).map_err(|error| self.fail(error))
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.db.flush().map_err(|error| self.fail(error))?;
        // sled's flush leaves the file to the operating system.
        let file = self.path.join("db");
        File::open(&file).and_then(|file| file.sync_data()).map_err(BookError::io("cannot flush", &file))
    }
}
