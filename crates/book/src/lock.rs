use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::BookError;

/// Holds a book for this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(folder: &Path) -> Result<Self, BookError> {
        let path = folder.join("lock");
        let fail = |error| BookError::io("cannot lock", &path)(error);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = if holder.is_empty() { "of unknown number".into() } else { holder };
                return Err(BookError::Held { path: folder.to_path_buf(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(fail)?;
        Ok(Self { _file: file })
    }
}
