use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::BookError;

/// Holds a book for this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// How long a holder is waited for: whoever only looks something up is gone by then.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long between two times that it is asked for.
const PAUSE: Duration = Duration::from_millis(10);

impl Lock {
    /// Waits a moment for who has it.
    ///
    /// # Errors
    /// [`BookError::Held`], if the holder keeps it; or the disk says no.
    pub(crate) fn take(folder: &Path) -> Result<Self, BookError> {
        let path = folder.join("lock");
        let fail = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => BookError::NoLock {
                path: path.clone(),
                error,
            },
            _ => BookError::io("cannot lock", &path)(error),
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        let (begun, mut holder) = (Instant::now(), String::new());
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
            // A holder who has just come has not written its number yet.
            holder = Some(number(&mut file))
                .filter(|number| !number.is_empty())
                .unwrap_or(holder);
            if begun.elapsed() >= PATIENCE {
                let holder = if holder.is_empty() {
                    "of unknown number".into()
                } else {
                    holder
                };
                return Err(BookError::Held {
                    path: folder.to_path_buf(),
                    holder,
                });
            }
            thread::sleep(PAUSE);
        }
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(fail)?;
        Ok(Self { _file: file })
    }
}

/// What stands in the file; empty where that cannot be read.
fn number(file: &mut File) -> String {
    let mut number = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.read_to_string(&mut number));
    read.map(|_| number).unwrap_or_default()
}
