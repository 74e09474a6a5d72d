//! The reading of a journal's file.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kagetsu_files::FileError;

use crate::error::{BookError, JournalError};
use crate::journal::frame::{FRAME_BYTES, HEADER_BYTES, MAGIC, MAX_ENTRY_BYTES, VERSION, checksum};
use crate::journal::log::Sequence;

/// The extent of a journal that was read.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Whole entries.
    pub(crate) entries: u64,
    /// Bytes of an unfinished entry at the end.
    pub(crate) torn: u64,
    /// Bytes of header and whole entries.
    pub(crate) length: u64,
}

/// Returns the path of the journal in this folder.
pub(crate) fn file_of(folder: &Path) -> PathBuf {
    folder.join("000001.journal")
}

/// A callback for each entry of a file, in order, with its offset in bytes.
pub(crate) type VisitAt<'a> = dyn FnMut(Sequence, &[u8], u64) -> Result<(), BookError> + 'a;

/// Reads all entries in order and returns the extent of the file. Changes nothing. At least
/// `acknowledged` entries were durable (`None`: unknown).
pub(crate) fn scan(
    folder: &Path,
    acknowledged: Option<u64>,
    each: &mut VisitAt,
) -> Result<Scan, BookError> {
    let path = file_of(folder);
    let mut reader = JournalReader::open(&path)?;
    let (mut entries, mut entry) = (0, Vec::new());
    loop {
        let at = reader.at;
        match reader.next(entries + 1, &mut entry)? {
            Next::Entry => {
                entries += 1;
                each(Sequence(entries), &entry, at)?;
            }
            // After a power failure the last entry may have its full length but not all of its
            // bytes.
            Next::Damaged(what)
                if reader.at != reader.size || acknowledged.is_none_or(|n| n > entries) =>
            {
                return Err(JournalError::Damaged { path, at, what }.into());
            }
            Next::End | Next::Damaged(_) => {
                return Ok(Scan {
                    entries,
                    torn: reader.size - at,
                    length: at,
                });
            }
        }
    }
}

/// The result of reading the next entry.
pub(super) enum Next {
    Entry,
    /// The end of the file, or an unfinished entry.
    End,
    /// A damaged entry; the reader stands behind it.
    Damaged(&'static str),
}

pub(super) struct JournalReader {
    path: PathBuf,
    file: BufReader<File>,
    size: u64,
    /// Bytes read.
    pub(super) at: u64,
}

impl JournalReader {
    /// Opens a journal and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, JournalError> {
        let fail = |error| JournalError::io("cannot read", path)(error);
        let file = match File::open(path) {
            // The folders exist, so only the journal is missing.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let book = path.parent().and_then(Path::parent).unwrap_or(path);
                return Err(JournalError::Lost(book.into()));
            }
            file => file.map_err(fail)?,
        };
        let size = file.metadata().map_err(fail)?.len();
        let mut reader = Self {
            path: path.into(),
            file: BufReader::with_capacity(1 << 20, file),
            size,
            at: 0,
        };
        let damaged = |what| JournalError::Damaged {
            path: path.into(),
            at: 0,
            what,
        };
        if size < HEADER_BYTES {
            return Err(damaged("its header is missing"));
        }
        let header: [u8; HEADER_BYTES as usize] = reader.read()?;
        let (magic, version) = header.split_at(MAGIC.len());
        let version = version
            .try_into()
            .map(u32::from_le_bytes)
            .map_err(|_| damaged("its header is short"))?;
        match (magic == MAGIC, version) {
            (true, VERSION) => Ok(reader),
            (true, found) if found > VERSION => {
                // A later version has other checksums. If the first entry matches, only the version
                // is damaged.
                let is_of_this_version = matches!(reader.next(1, &mut Vec::new()), Ok(Next::Entry));
                Err(if is_of_this_version {
                    damaged("its header has a version that is not its entries'")
                } else {
                    FileError::Newer {
                        path: path.into(),
                        found,
                        known: VERSION,
                    }
                    .into()
                })
            }
            _ => Err(damaged("its header is no journal's")),
        }
    }

    pub(super) fn next(&mut self, number: u64, entry: &mut Vec<u8>) -> Result<Next, JournalError> {
        if self.size - self.at < FRAME_BYTES as u64 {
            return Ok(Next::End);
        }
        let frame: [u8; FRAME_BYTES] = self.read()?;
        let [length, of_length, of_entry] =
            [0, 4, 8].map(|at| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
        let is_whole = checksum(number, &length) == u32::from_le_bytes(of_length);
        let length = u32::from_le_bytes(length);
        if !is_whole || length > MAX_ENTRY_BYTES {
            // A file may grow before its bytes are on disk; then they are zeros.
            let is_blank = frame == [0; FRAME_BYTES] && self.is_blank()?;
            return Ok(if is_blank {
                Next::End
            } else {
                Next::Damaged("an entry has an impossible length")
            });
        }
        if u64::from(length) > self.size - self.at {
            return Ok(Next::End);
        }
        entry.resize(length as usize, 0);
        self.fill(entry)?;
        let is_whole = checksum(number, entry) == u32::from_le_bytes(of_entry);
        Ok(if is_whole {
            Next::Entry
        } else {
            Next::Damaged("an entry does not match its checksum")
        })
    }

    /// Returns whether the rest of the file is zeros.
    fn is_blank(&mut self) -> Result<bool, JournalError> {
        let mut rest = Vec::new();
        self.file
            .read_to_end(&mut rest)
            .map_err(JournalError::io("cannot read", &self.path))?;
        Ok(rest.iter().all(|byte| *byte == 0))
    }

    /// Continues at an entry that begins at this offset.
    pub(super) fn seek(&mut self, at: u64) -> Result<(), JournalError> {
        self.file
            .seek(SeekFrom::Start(at))
            .map_err(JournalError::io("cannot read", &self.path))?;
        self.at = at;
        Ok(())
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N], JournalError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), JournalError> {
        self.file
            .read_exact(bytes)
            .map_err(JournalError::io("cannot read", &self.path))?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}
