use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use kagetsu_files::FileError;

use crate::error::JournalError;
use kagetsu_files::PositionedFile;

const MAGIC: [u8; 8] = *b"kagetsum";
const VERSION: u32 = 1;
/// Bytes of magic, version, entries and checksum.
const LENGTH: usize = 24;

/// The number of durable entries of the journal, by which a truncated journal is recognised. It is
/// written after the journal, so after a power failure it may be too low but never too high.
#[derive(Debug)]
pub(crate) struct JournalManifest {
    path: PathBuf,
    file: File,
}

impl JournalManifest {
    /// Reads the number of durable entries in the folder of a book; `None` where the manifest is
    /// missing or damaged. Changes nothing.
    pub(crate) fn read(folder: &Path) -> Result<Option<u64>, JournalError> {
        let path = path_in(folder);
        match fs::read(&path) {
            Ok(bytes) => entries_of(&bytes, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::io("cannot read", &path)(error)),
        }
    }

    /// Opens or makes the manifest in the folder of a book.
    pub(crate) fn open(folder: &Path) -> Result<Self, JournalError> {
        let path = path_in(folder);
        let fail = |error| JournalError::io("cannot open", &path)(error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        Ok(Self { path, file })
    }

    pub(crate) fn write(&mut self, entries: u64) -> Result<(), JournalError> {
        self.file
            .write_all_at(&bytes_of(entries), 0)
            .map_err(JournalError::io("cannot write to", &self.path))
    }

    /// Writes the manifest and waits for the disk, so that no later write is ever found with an
    /// earlier manifest.
    pub(crate) fn write_durably(&mut self, entries: u64) -> Result<(), JournalError> {
        self.write(entries)?;
        self.file
            .sync_all()
            .map_err(JournalError::io("cannot write to", &self.path))
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

/// Decodes a manifest. Every version begins with magic and version and ends with a checksum, so
/// that a reader distinguishes a newer one from a damaged one.
fn entries_of(bytes: &[u8], path: &Path) -> Result<Option<u64>, JournalError> {
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
        found if found > VERSION => Err(FileError::Newer {
            path: path.into(),
            found,
            known: VERSION,
        }
        .into()),
        _ => Ok(None),
    }
}
