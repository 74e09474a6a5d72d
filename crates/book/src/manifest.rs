use std::fs::{File, OpenOptions};
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
    /// Opens or makes the file in the folder of a book; and what it says, `None` if it is new or damaged.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Option<u64>), BookError> {
        let path = folder.join("manifest");
        let fail = |error| BookError::io("cannot open", &path)(error);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        let mut bytes = [0; LENGTH];
        let said = file.read_exact_at(&mut bytes, 0).ok().and_then(|()| read(&bytes));
        Ok((Self { path, file }, said))
    }

    pub(crate) fn write(&mut self, entries: u64) -> Result<(), BookError> {
        self.file.write_all_at(&bytes_of(entries), 0).map_err(BookError::io("cannot write to", &self.path))
    }
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

fn read(bytes: &[u8; LENGTH]) -> Option<u64> {
    let entries = bytes.get(12..20)?.try_into().map(u64::from_le_bytes).ok()?;
    (*bytes == bytes_of(entries)).then_some(entries)
}
