//! The journal: an append-only file of framed, checksummed entries. It is the truth of a book.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{BookError, FileError, JournalError};
use crate::journal::manifest::Manifest;

/// The number of an entry of a journal, from 1; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

const MAGIC: [u8; 8] = *b"kagetsuj";
const VERSION: u32 = 1;
const HEADER: u64 = 12;
/// Bytes before each entry: its length, a checksum over its number and length, and one over its
/// number and bytes. So a damaged length can be told from a damaged entry.
const FRAME: usize = 12;
/// The greatest length of an entry; a longer one is damage.
const LONGEST: u32 = 16 << 20;

/// A journal, open for appending.
#[derive(Debug)]
pub(crate) struct Journal {
    end: Arc<End>,
    length: u64,
}

/// The state that the journal shares with its syncers.
#[derive(Debug)]
struct End {
    path: PathBuf,
    file: File,
    /// Entries in the file.
    written: AtomicU64,
    synced: Mutex<Synced>,
}

#[derive(Debug)]
struct Synced {
    manifest: Manifest,
    /// Entries on disk; `None` after a failed sync, when the state of the file is unknown.
    entries: Option<u64>,
}

/// A handle that makes the journal durable without borrowing the book.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<End>);

impl Syncer {
    /// Makes all entries durable that were appended so far, and returns the last of them. A result
    /// may be acknowledged only after this. Concurrent callers share one write.
    ///
    /// # Errors
    /// If the disk refuses or has refused before. Then nothing may be acknowledged any more.
    pub fn sync(&self) -> Result<Sequence, JournalError> {
        let end = &*self.0;
        let wanted = end.written.load(Ordering::Acquire);
        let mut synced = end.synced.lock().unwrap_or_else(PoisonError::into_inner);
        match synced.entries {
            None => return Err(JournalError::Broken(end.path.clone()).into()),
            Some(entries) if entries >= wanted => return Ok(Sequence(entries)),
            Some(_) => {}
        }
        let written = end.written.load(Ordering::Acquire);
        synced.entries = None;
        end.file
            .sync_data()
            .map_err(JournalError::io("cannot write to", &end.path))?;
        synced.manifest.write(written)?;
        synced.entries = Some(written);
        Ok(Sequence(written))
    }
}

/// A callback for each entry of a journal, in order.
type Visit<'a> = dyn FnMut(Sequence, &[u8]) -> Result<(), BookError> + 'a;

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

impl Journal {
    /// Makes the folder of an empty journal, whole or not at all.
    pub(crate) fn create(folder: &Path) -> Result<(), JournalError> {
        let fail = |error| JournalError::io("cannot make the journal", folder)(error);
        let whole = folder.with_extension("new");
        // A crash may have left an earlier attempt.
        let _ = fs::remove_dir_all(&whole);
        fs::create_dir_all(&whole).map_err(fail)?;
        let mut file = File::create(file_of(&whole)).map_err(fail)?;
        file.write_all(&header())
            .and_then(|()| file.sync_all())
            .map_err(fail)?;
        File::open(&whole)
            .and_then(|folder| folder.sync_all())
            .map_err(fail)?;
        fs::rename(&whole, folder).map_err(fail)?;
        let parent = folder.parent().unwrap_or(Path::new("."));
        File::open(parent)
            .and_then(|parent| parent.sync_all())
            .map_err(fail)
    }

    /// Reads all entries in order and returns the extent of the file. Changes nothing. At least
    /// `acknowledged` entries were durable (`None`: unknown).
    pub(crate) fn scan(
        folder: &Path,
        acknowledged: Option<u64>,
        each: &mut Visit,
    ) -> Result<Scan, BookError> {
        let path = file_of(folder);
        let mut reader = Reader::open(&path)?;
        let (mut entries, mut entry) = (0, Vec::new());
        loop {
            let at = reader.at;
            let what = match reader.next(entries + 1, &mut entry)? {
                Next::Entry => {
                    entries += 1;
                    each(Sequence(entries), &entry)?;
                    continue;
                }
                Next::End => {
                    return Ok(Scan {
                        entries,
                        torn: reader.size - at,
                        length: at,
                    });
                }
                // After a power failure the last entry may have its full length but not all of its
                // bytes.
                Next::Damaged(_)
                    if reader.at == reader.size && acknowledged.is_some_and(|n| n <= entries) =>
                {
                    return Ok(Scan {
                        entries,
                        torn: reader.size - at,
                        length: at,
                    });
                }
                Next::Damaged(what) => what,
            };
            return Err(JournalError::Damaged { path, at, what }.into());
        }
    }

    /// Opens a journal for appending and cuts off an unfinished entry.
    pub(crate) fn open(
        folder: &Path,
        scan: &Scan,
        manifest: Manifest,
    ) -> Result<Self, JournalError> {
        let path = file_of(folder);
        let fail = |error| JournalError::io("cannot write to", &path)(error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(fail)?;
        if scan.torn > 0 {
            file.set_len(scan.length)
                .and_then(|()| file.sync_all())
                .map_err(fail)?;
        }
        // The entries may not be durable yet; the first sync makes them so.
        let synced = Mutex::new(Synced {
            manifest,
            entries: Some(0),
        });
        let written = AtomicU64::new(scan.entries);
        Ok(Self {
            end: Arc::new(End {
                path,
                file,
                written,
                synced,
            }),
            length: scan.length,
        })
    }

    /// Appends one entry, whole or (on an error) not at all. It is durable after a
    /// [`Syncer::sync`].
    pub(crate) fn append(&mut self, entry: &[u8]) -> Result<Sequence, JournalError> {
        let end = &*self.end;
        let next = end.written.load(Ordering::Acquire) + 1;
        let bytes = frame(next, entry)?;
        if let Err(error) = end.file.write_all_at(&bytes, self.length) {
            // The next entry overwrites the partial one, as it would after a crash.
            let _ = end.file.set_len(self.length);
            return Err(JournalError::io("cannot write to", &end.path)(error));
        }
        self.length += bytes.len() as u64;
        end.written.store(next, Ordering::Release);
        Ok(Sequence(next))
    }

    pub(crate) fn syncer(&self) -> Syncer {
        Syncer(Arc::clone(&self.end))
    }
}

/// The result of reading the next entry.
enum Next {
    Entry,
    /// The end of the file, or an unfinished entry.
    End,
    /// A damaged entry; the reader stands behind it.
    Damaged(&'static str),
}

struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    size: u64,
    /// Bytes read.
    at: u64,
}

impl Reader {
    /// Opens a journal and reads its header.
    fn open(path: &Path) -> Result<Self, JournalError> {
        let fail = |error| JournalError::io("cannot read", path)(error);
        let file = match File::open(path) {
            // The folders exist, so only the journal is missing.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let book = path.parent().and_then(Path::parent).unwrap_or(path);
                return Err(JournalError::Lost(book.into()).into());
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
        if size < HEADER {
            return Err(damaged("its header is missing"));
        }
        let header: [u8; HEADER as usize] = reader.read()?;
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

    fn next(&mut self, number: u64, entry: &mut Vec<u8>) -> Result<Next, JournalError> {
        if self.size - self.at < FRAME as u64 {
            return Ok(Next::End);
        }
        let frame: [u8; FRAME] = self.read()?;
        let [length, of_length, of_entry] =
            [0, 4, 8].map(|at| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
        let is_whole = checksum(number, &length) == u32::from_le_bytes(of_length);
        let length = u32::from_le_bytes(length);
        if !is_whole || length > LONGEST {
            // A file may grow before its bytes are on disk; then they are zeros.
            let is_blank = frame == [0; FRAME] && self.is_blank()?;
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

/// Returns a checksum over the number of an entry too, so that no entry can stand in another's
/// place.
fn checksum(number: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

/// Returns the first bytes of every journal.
pub(crate) fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Encodes an entry with its frame.
pub(crate) fn frame(number: u64, entry: &[u8]) -> Result<Vec<u8>, JournalError> {
    let length = u32::try_from(entry.len())
        .ok()
        .filter(|length| *length <= LONGEST);
    let length = length
        .ok_or(JournalError::TooLong(entry.len()))?
        .to_le_bytes();
    let sums = [checksum(number, &length), checksum(number, entry)].map(u32::to_le_bytes);
    Ok([&length, &sums[0], &sums[1], entry].concat())
}

/// A callback for each whole entry of a damaged journal, and whether it follows the one before
/// without a gap.
type Salvaged<'a> = dyn FnMut(Sequence, &[u8], bool) -> Result<(), BookError> + 'a;

/// Finds the whole entries of a damaged journal: behind damage it tries every byte as the beginning
/// of the next entry. Returns the number of bytes that belong to no whole entry.
pub(crate) fn whole_entries(bytes: &[u8], each: &mut Salvaged) -> Result<u64, BookError> {
    let (mut at, mut last, mut lost) = (HEADER as usize, 0, 0);
    let mut is_next = true;
    while at < bytes.len() {
        match entry_at(&bytes[at..], last) {
            Some((number, entry)) => {
                each(Sequence(number), entry, is_next && number == last + 1)?;
                (at, last, is_next) = (at + FRAME + entry.len(), number, true);
            }
            None => (at, lost, is_next) = (at + 1, lost + 1, false),
        }
    }
    Ok(lost)
}

/// Returns the whole entry at the beginning of these bytes, if its number is greater than the last.
fn entry_at(bytes: &[u8], last: u64) -> Option<(u64, &[u8])> {
    let (frame, rest) = bytes.split_first_chunk::<FRAME>()?;
    let [length, of_length, of_entry] =
        [0, 4, 8].map(|at| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let number = u64::from(number_of(u32::from_le_bytes(of_length), length));
    let entry = rest
        .get(..u32::from_le_bytes(length) as usize)
        .filter(|entry| entry.len() <= LONGEST as usize)?;
    let is_whole = number > last && checksum(number, entry) == u32::from_le_bytes(of_entry);
    is_whole.then_some((number, entry))
}

/// Returns the number below 2^32 that has this checksum together with a length. Four bytes reach
/// every state of a CRC-32 in exactly one way, so the computation can be reversed.
fn number_of(sum: u32, length: [u8; 4]) -> u32 {
    let zeros = [0; 4];
    let before = length
        .iter()
        .rev()
        .chain(&zeros)
        .chain(&zeros)
        .fold(!sum, |state, byte| step_back(state, *byte));
    !before
}

/// Returns the state of a CRC-32 before a byte.
fn step_back(state: u32, byte: u8) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let state = (0..8).fold(state, |state, _| {
        // The highest bit says whether the polynomial was added.
        if state >> 31 == 1 {
            (state ^ POLYNOMIAL) << 1 | 1
        } else {
            state << 1
        }
    });
    state ^ u32::from(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_entry_is_found_from_its_checksum() {
        for number in [1, 2, 255, 256, 70_000, u32::MAX] {
            for length in [[0; 4], [1, 2, 3, 4], [255; 4]] {
                assert_eq!(number_of(checksum(number.into(), &length), length), number);
            }
        }
    }

    #[test]
    fn what_is_whole_is_found_behind_what_is_not() {
        let entries: Vec<Vec<u8>> = (0..30_u8)
            .map(|n| vec![n; usize::from(n) * 7 % 40])
            .collect();
        let frames: Vec<Vec<u8>> = (1..)
            .zip(&entries)
            .map(|(number, entry)| frame(number, entry).expect("short"))
            .collect();
        let whole: Vec<u8> = [header(), frames.concat()].concat();
        let begins = |nth: usize| 12 + frames[..nth].iter().map(Vec::len).sum::<usize>();
        for (from, to) in [
            (0, 3),
            (0, 13),
            (begins(4), begins(4) + 1),
            (begins(9) + 5, begins(12) + 3),
            (begins(29), whole.len()),
        ] {
            let mut bytes = whole.clone();
            bytes[from..to].iter_mut().for_each(|byte| *byte ^= 0x5a);
            let mut found = Vec::new();
            whole_entries(&bytes, &mut |Sequence(number), entry, _| {
                assert_eq!(entry, entries[number as usize - 1]);
                found.push(number as usize);
                Ok(())
            })
            .expect("nothing fails");
            let is_hit = |number: &usize| begins(number - 1) < to && from < begins(*number);
            let expected: Vec<usize> = (1..=30).filter(|number| !is_hit(number)).collect();
            assert_eq!(found, expected, "{from}..{to}");
        }
    }
}
