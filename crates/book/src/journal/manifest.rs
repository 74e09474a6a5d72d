use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::BookError;

const MAGIC: [u8; 8] = *b"kagetsum";
const VERSION: u32 = 1;
/// Magic, version, entries, checksum.
const LENGTH: usize = 24;

/// Says how many entries of the journal are on disk, so that a journal that was cut off can be told from one that never
/// had more. Written after each of their writes, and never before: it may say too few after the power went, not too many.
#[derive(Debug)]
pub(crate) struct Manifest {
    path: PathBuf,
    file: File,
}

impl Manifest {
    /// How many entries the manifest in the folder of a book says are on disk; `None` if there is none, or a damaged one.
    /// Changes nothing.
    pub(crate) fn read(folder: &Path) -> Result<Option<u64>, BookError> {
        let path = path_in(folder);
        match fs::read(&path) {
            Ok(bytes) => entries_of(&bytes, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BookError::io("cannot read", &path)(error)),
        }
    }

    /// Opens or makes the file in the folder of a book.
    pub(crate) fn open(folder: &Path) -> Result<Self, BookError> {
        let path = path_in(folder);
        let fail = |error| BookError::io("cannot open", &path)(error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        Ok(Self { path, file })
    }

    pub(crate) fn write(&mut self, entries: u64) -> Result<(), BookError> {
        self.file
            .write_all_at(&bytes_of(entries), 0)
            .map_err(BookError::io("cannot write to", &self.path))
    }

    /// Writes it, and waits for the disk: what comes after it is never found with a manifest from before.
    pub(crate) fn write_durably(&mut self, entries: u64) -> Result<(), BookError> {
        self.write(entries)?;
        self.file
            .sync_all()
            .map_err(BookError::io("cannot write to", &self.path))
    }
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join("manifest")
}

fn bytes_of(entries: u64) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..20].copy_from_slice(&entries.to_le_bytes());
    let sum = crc32fast::hash(&bytes[..20]);
    bytes[20..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Every version begins with magic and version and ends with a checksum over all before it, so that a newer manifest can
/// be told from a damaged one.
fn entries_of(bytes: &[u8], path: &Path) -> Result<Option<u64>, BookError> {
    let Some((body, sum)) = bytes.split_last_chunk() else {
        return Ok(None);
    };
    let Some((version, rest)) = body
        .strip_prefix(&MAGIC)
        .and_then(|body| body.split_first_chunk())
    else {
        return Ok(None);
    };
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Ok(None);
    }
    match u32::from_le_bytes(*version) {
        VERSION => Ok(rest.try_into().map(u64::from_le_bytes).ok()),
        found if found > VERSION => Err(BookError::Newer {
            path: path.into(),
            found,
            known: VERSION,
        }),
        _ => Ok(None),
    }
}
