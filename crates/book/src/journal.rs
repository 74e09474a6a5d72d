//! The journal: an append-only file of framed, checksummed entries; the truth of a book.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::BookError;

/// The how-manieth entry of a journal, from 1; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

const MAGIC: [u8; 8] = *b"kagetsuj";
const VERSION: u32 = 1;
const HEADER: u64 = 12;
/// Length and checksum before every entry.
const FRAME: u64 = 8;
/// A longer entry is damage.
const LONGEST: u32 = 16 << 20;

/// The open end of a journal.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    written: Arc<AtomicU64>,
}

/// Makes durable what was appended, without holding the book.
#[derive(Clone, Debug)]
pub struct Syncer {
    path: PathBuf,
    file: Arc<File>,
    written: Arc<AtomicU64>,
}

/// Hears each entry of a journal, in order.
type Visit<'a> = dyn FnMut(Sequence, &[u8]) -> Result<(), BookError> + 'a;

/// What was found when a journal was read.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Whole entries.
    pub(crate) entries: u64,
    /// Bytes of an entry that was never finished, at the end.
    pub(crate) torn: u64,
    length: u64,
}

impl Syncer {
    /// Makes every entry appended so far durable; returns the last of them. Only then may a result be acknowledged.
    ///
    /// # Errors
    /// If the disk says no: then nothing may be acknowledged any more.
    pub fn sync(&self) -> Result<Sequence, BookError> {
        let written = self.written.load(Ordering::Acquire);
        self.file.sync_data().map_err(BookError::io("cannot write to", &self.path))?;
        Ok(Sequence(written))
    }
}

fn file_of(folder: &Path) -> PathBuf {
    folder.join("000001.journal")
}

impl Journal {
    /// Makes the folder of an empty journal: whole or not at all.
    pub(crate) fn create(folder: &Path) -> Result<(), BookError> {
        let fail = |error| BookError::io("cannot make the journal", folder)(error);
        let whole = folder.with_extension("new");
        let _ = fs::remove_dir_all(&whole);
        fs::create_dir_all(&whole).map_err(fail)?;
        let mut file = File::create(file_of(&whole)).map_err(fail)?;
        file.write_all(&[&MAGIC[..], &VERSION.to_le_bytes()].concat()).and_then(|()| file.sync_all()).map_err(fail)?;
        File::open(&whole).and_then(|folder| folder.sync_all()).map_err(fail)?;
        fs::rename(&whole, folder).map_err(fail)?;
        let parent = folder.parent().unwrap_or(Path::new("."));
        File::open(parent).and_then(|parent| parent.sync_all()).map_err(fail)
    }

    /// Reads all entries in order, and tells how the file ends. Changes nothing.
    pub(crate) fn scan(folder: &Path, each: &mut Visit) -> Result<Scan, BookError> {
        let path = file_of(folder);
        let file = File::open(&path).map_err(BookError::io("cannot read", &path))?;
        let size = file.metadata().map_err(BookError::io("cannot read", &path))?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let damaged = |at, what| BookError::Journal { path: path.clone(), at, what };
        let mut header = [0; HEADER as usize];
        let read = |reader: &mut BufReader<File>, buffer: &mut [u8]| {
            reader.read_exact(buffer).map_err(BookError::io("cannot read", &path))
        };
        if size < HEADER {
            return Err(damaged(0, "its header is missing"));
        }
        read(&mut reader, &mut header)?;
        let version = u32::from_le_bytes(header[8..].try_into().expect("4 bytes"));
        match (header[..8] == MAGIC, version) {
            (false, _) => return Err(damaged(0, "its header is no journal's")),
            (true, VERSION) => {}
            (true, found) => return Err(BookError::Newer { path, found, known: VERSION }),
        }
        let (mut at, mut entries, mut entry) = (HEADER, 0, Vec::new());
        while size - at >= FRAME {
            let mut frame = [0; FRAME as usize];
            read(&mut reader, &mut frame)?;
            let length = u32::from_le_bytes(frame[..4].try_into().expect("4 bytes"));
            let sum = u32::from_le_bytes(frame[4..].try_into().expect("4 bytes"));
            let end = at + FRAME + u64::from(length);
            if length == 0 || length > LONGEST {
                return Err(damaged(at, "an entry has an impossible length"));
            }
            if end > size {
                break;
            }
            entry.resize(length as usize, 0);
            read(&mut reader, &mut entry)?;
            if checksum(entries + 1, &entry) != sum {
                return Err(damaged(at, "an entry does not match its checksum"));
            }
            entries += 1;
            each(Sequence(entries), &entry)?;
            at = end;
        }
        Ok(Scan { entries, torn: size - at, length: at })
    }

    /// Opens the end for writing; what was never finished is cut off.
    pub(crate) fn open(folder: &Path, scan: &Scan) -> Result<Self, BookError> {
        let path = file_of(folder);
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(BookError::io("cannot write to", &path))?;
        if scan.torn > 0 {
            file.set_len(scan.length)
                .and_then(|()| file.sync_all())
                .map_err(BookError::io("cannot write to", &path))?;
        }
        let written = Arc::new(AtomicU64::new(scan.entries));
        Ok(Self { path, file: Arc::new(file), length: scan.length, written })
    }

    /// Adds one entry: whole, or (on an error) not at all. It is durable after a [`Syncer::sync`].
    pub(crate) fn append(&mut self, entry: &[u8]) -> Result<Sequence, BookError> {
        let next = self.written.load(Ordering::Acquire) + 1;
        let length = u32::try_from(entry.len()).ok().filter(|length| *length <= LONGEST);
        let length = length.ok_or(BookError::Store("an entry of more than 16 MiB"))?;
        let bytes = [&length.to_le_bytes()[..], &checksum(next, entry).to_le_bytes(), entry].concat();
        if let Err(error) = self.file.write_all_at(&bytes, self.length) {
            // What was written of it is the torn end of a crash; the next entry goes in its place.
            let _ = self.file.set_len(self.length);
            return Err(BookError::io("cannot write to", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        self.written.store(next, Ordering::Release);
        Ok(Sequence(next))
    }

    pub(crate) fn syncer(&self) -> Syncer {
        Syncer { path: self.path.clone(), file: Arc::clone(&self.file), written: Arc::clone(&self.written) }
    }
}

/// Over the number and the bytes, so that an entry cannot stand in another's place.
fn checksum(number: u64, entry: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(entry);
    hasher.finalize()
}
