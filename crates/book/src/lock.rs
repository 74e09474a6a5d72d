use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{BookError, OpenError};

/// Keeps a book for this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// Time to wait for the process that has the lock; a mere look-up is over by then.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(10);

impl Lock {
    /// Takes a share of the lock, so that no process changes the book, and waits a moment for a
    /// process that does. Others may share it. `None` where the lock's file is missing and cannot
    /// be made: no process has written there.
    ///
    /// # Errors
    /// [`OpenError::Held`] where a process keeps the lock, or the error of the disk.
    pub(crate) fn share(folder: &Path) -> Result<Option<Self>, BookError> {
        let path = folder.join("lock");
        let fail = BookError::io("cannot lock", &path);
        match File::open(&path) {
            Ok(file) => Self::wait(folder, file, File::try_lock_shared, fail).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fail(error)),
        }
    }

    /// Takes the lock of a book, and waits a moment for another process that has it.
    ///
    /// # Errors
    /// [`OpenError::Held`] where the other process keeps it, or the error of the disk.
    pub(crate) fn take(folder: &Path) -> Result<Self, BookError> {
        let path = folder.join("lock");
        let fail = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                BookError::from(OpenError::NoLock {
                    path: path.clone(),
                    error,
                })
            }
            _ => BookError::io("cannot lock", &path)(error),
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        let mut lock = Self::wait(folder, file, File::try_lock, fail)?;
        let file = &mut lock.file;
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(fail)?;
        Ok(lock)
    }

    /// Locks a file by `lock`, and waits a moment for another process that has it.
    fn wait(
        folder: &Path,
        mut file: File,
        lock: fn(&File) -> Result<(), TryLockError>,
        fail: impl FnOnce(io::Error) -> BookError,
    ) -> Result<Self, BookError> {
        let (begun, mut holder) = (Instant::now(), "of unknown number".to_string());
        loop {
            match lock(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
            // A process that has just taken the lock has not written its id yet.
            holder = Some(number(&mut file))
                .filter(|number| !number.is_empty())
                .unwrap_or(holder);
            if begun.elapsed() >= LOCK_TIMEOUT {
                let path = folder.to_path_buf();
                return Err(OpenError::Held { path, holder }.into());
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns the process id in the file; an empty string where it cannot be read.
fn number(file: &mut File) -> String {
    let mut number = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.read_to_string(&mut number));
    read.map(|_| number).unwrap_or_default()
}
