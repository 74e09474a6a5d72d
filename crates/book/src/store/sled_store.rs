//! The store in sled. The only file that names it.

use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::BookError;
use crate::error::is_full;
use crate::store::{Batch, Pair};

/// How long another may still have the store's file.
const PATIENCE: Duration = Duration::from_secs(10);

/// With less sled does not open.
const LEAST_CACHE: u64 = 1 << 10;

/// One sled tree.
#[derive(Debug)]
pub(crate) struct SledStore {
    path: PathBuf,
    db: sled::Db,
}

impl SledStore {
    /// Opens or makes the store; its cache takes about `cache_bytes` of memory.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        wait_until_free(&path.join("db"))?;
        // sled counts what pages take on disk; in memory they take some two and a half times that.
        let capacity = (cache_bytes / 5 * 2).max(LEAST_CACHE);
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(capacity)
            .flush_every_ms(None);
        let db = config.open().map_err(|error| failure(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            db,
        })
    }

    fn fail(&self, error: sled::Error) -> BookError {
        failure(&self.path, error)
    }
}

/// Waits for whoever still has a store's file: threads of sled, which go on for a moment after their store was dropped. That
/// the file is taken looks like damage to those who only ask sled.
fn wait_until_free(file: &Path) -> Result<(), BookError> {
    // A new store has none.
    let Ok(taken) = File::open(file) else {
        return Ok(());
    };
    let begun = Instant::now();
    loop {
        match taken.try_lock() {
            Ok(()) => return taken.unlock().map_err(BookError::io("cannot unlock", file)),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(1))
            }
            Err(error) => return Err(BookError::io("cannot lock", file)(error.into())),
        }
    }
}

/// What sled says of its files' contents is damage; what the system says of the files is not.
fn failure(path: &Path, error: sled::Error) -> BookError {
    use io::ErrorKind as Kind;
    match error {
        sled::Error::Io(error)
            if matches!(
                error.kind(),
                Kind::UnexpectedEof | Kind::InvalidData | Kind::Other
            ) =>
        {
            BookError::Store("it does not open")
        }
        // Of a second look at an error sled keeps the kind, and puts words for programmers in place of the rest.
        sled::Error::Io(error) if is_full(&error) => {
            BookError::io("cannot write to", path)(error.kind().into())
        }
        sled::Error::Io(error) => BookError::io("cannot use the store", path)(error),
        sled::Error::Corruption { .. }
        | sled::Error::Unsupported(_)
        | sled::Error::ReportableBug(_) => BookError::Store("it is damaged"),
        other => BookError::io("cannot use the store", path)(io::Error::other(other.to_string())),
    }
}

thread_local! {
    /// Whether a panic of this thread is expected, and no news.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does something with a store that may be damaged: sled panics on damaged files, and that is an error here.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, BookError>) -> Result<T, BookError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                loud(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    done.unwrap_or(Err(BookError::Store(
        "it is damaged so that sled cannot read it",
    )))
}

impl SledStore {
    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        Ok(self
            .db
            .get(key)
            .map_err(|error| self.fail(error))?
            .map(|value| value.to_vec()))
    }

    /// All entries from a key on, in key order.
    pub(crate) fn range<'a>(
        &'a self,
        from: &[u8],
    ) -> impl Iterator<Item = Result<Pair, BookError>> + use<'a> {
        let pairs = self.db.range(from.to_vec()..);
        pairs.map(|pair| {
            pair.map(|(key, value)| (key.to_vec(), value.to_vec()))
                .map_err(|error| self.fail(error))
        })
    }

    /// Makes all changes or none.
    pub(crate) fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut all = sled::Batch::default();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(key, value),
                None => all.remove(key),
            }
        }
        self.db.apply_batch(all).map_err(|error| self.fail(error))
    }

    /// Makes what was applied durable.
    pub(crate) fn flush(&mut self) -> Result<(), BookError> {
        self.db.flush().map_err(|error| self.fail(error))?;
        // sled's flush leaves the file to the operating system.
        let file = self.path.join("db");
        File::open(&file)
            .and_then(|file| file.sync_data())
            .map_err(BookError::io("cannot flush", &file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_somebody_still_has_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        drop(SledStore::open(&path, 1 << 20).expect("opens"));
        let taken = File::open(path.join("db")).expect("it is there");
        taken.lock().expect("nobody keeps it for ever");
        let holder = std::thread::spawn(move || {
            sleep(Duration::from_millis(50));
            drop(taken);
        });
        SledStore::open(&path, 1 << 20).expect("opens when it is free");
        holder.join().expect("no panic");
    }
}
