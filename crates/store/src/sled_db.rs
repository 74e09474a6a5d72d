//! A database of sled. The only file that names sled.

use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::StoreError;
use crate::store::{Batch, Pair};
use kagetsu_files::is_disk_full;

/// Time to wait for another to release the file of the database.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The least cache with which sled opens.
const MIN_CACHE_BYTES: u64 = 1 << 10;

/// One database of sled.
#[derive(Debug)]
pub(crate) struct SledDb {
    path: PathBuf,
    db: sled::Db,
}

impl SledDb {
    /// Opens or makes the database; its cache takes about `cache_bytes` of memory.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        wait_until_unlocked(&path.join("db"))?;
        // sled counts the size of pages on disk. In memory they take some two and a half times
        // that.
        let capacity = (cache_bytes / 5 * 2).max(MIN_CACHE_BYTES);
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(capacity)
            .flush_every_ms(None);
        let db = config.open().map_err(|error| store_error(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            db,
        })
    }

    fn error(&self, error: sled::Error) -> StoreError {
        store_error(&self.path, error)
    }

    /// Returns all entries, in key order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Result<Pair, StoreError>> {
        self.db.iter().map(|pair| {
            pair.map(|(key, value)| (key.to_vec(), value.to_vec()))
                .map_err(|error| self.error(error))
        })
    }

    /// Makes all changes or none.
    pub(crate) fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut all = sled::Batch::default();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(key, value),
                None => all.remove(key),
            }
        }
        self.db.apply_batch(all).map_err(|error| self.error(error))
    }

    /// Makes all changes durable.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.db.flush().map_err(|error| self.error(error))?;
        // sled's flush hands the data to the operating system but does not wait for the disk.
        let file = self.path.join("db");
        // Windows syncs only what may be written.
        let written = File::options().write(true).open(&file);
        written
            .and_then(|file| file.sync_data())
            .map_err(StoreError::io("cannot flush", &file))
    }
}

/// Waits until the file of a database is unlocked: threads of sled hold it for a moment after their
/// database was dropped, and sled reports a locked file as if it were damaged.
fn wait_until_unlocked(file: &Path) -> Result<(), StoreError> {
    // A new database has no file.
    let Ok(locked) = File::open(file) else {
        return Ok(());
    };
    let begun = Instant::now();
    loop {
        match locked.try_lock() {
            // Closing the file unlocks it.
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIMEOUT => {
                sleep(Duration::from_millis(1))
            }
            Err(error) => return Err(StoreError::io("cannot lock", file)(error.into())),
        }
    }
}

/// Tells damaged files, of which sled complains, from errors of the operating system.
fn store_error(path: &Path, error: sled::Error) -> StoreError {
    use io::ErrorKind as Kind;
    match error {
        sled::Error::Io(error)
            if matches!(
                error.kind(),
                Kind::UnexpectedEof | Kind::InvalidData | Kind::Other
            ) =>
        {
            StoreError::Damaged("it does not open")
        }
        // sled repeats such an error with the same kind and a message for programmers: keep the
        // kind alone.
        sled::Error::Io(error) if is_disk_full(&error) => {
            StoreError::io("cannot write to", path)(error.kind().into())
        }
        sled::Error::Io(error) => StoreError::io("cannot use the store", path)(error),
        sled::Error::Corruption { .. }
        | sled::Error::Unsupported(_)
        | sled::Error::ReportableBug(_) => StoreError::Damaged("it is damaged"),
        other => StoreError::io("cannot use the store", path)(io::Error::other(other.to_string())),
    }
}

thread_local! {
    /// Whether a panic of this thread is caught and must not be printed.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Turns a panic of `work` into an error: sled panics on some damaged files.
///
/// # Errors
/// The error of `work`, or [`StoreError::Damaged`] where it panics.
pub fn catch_panics<T, E: From<StoreError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                print(panic);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    done.unwrap_or_else(|_| {
        Err(StoreError::Damaged("it is damaged so that sled cannot read it").into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_database_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        drop(SledDb::open(&path, 1 << 20).expect("opens"));
        let locked = File::open(path.join("db")).expect("it is there");
        locked.lock().expect("it is released in the end");
        let holder = std::thread::spawn(move || {
            sleep(Duration::from_millis(50));
            drop(locked);
        });
        SledDb::open(&path, 1 << 20).expect("opens when it is free");
        holder.join().expect("no panic");
    }
}
