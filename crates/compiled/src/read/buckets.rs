//! The buckets of an open book.
//!
//! The bytes of a file may change while it is open: a program may cut it, or copy another book over
//! it. So no look-up trusts the file. The directory and the checksums of all blocks are read when
//! the book is opened, and kept. A look-up reads the line of the directory that it needs, verifies
//! its blocks against those checksums, and keeps it: foreign bytes become an error, never an
//! answer, and nothing is read twice. A map of the file would end the process where the file was
//! cut.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use kagetsu_game::Key;

use crate::format::buckets::{BLOCK, BUCKETS_OF_LINE, LINE, Torn, find_in, line_count};
use crate::format::key_tail::{bucket_of, checksum};
use crate::read::source::ReadAt;

/// Bytes of lines that are kept in memory. A line beyond is read for each look-up that needs it.
const MAX_KEPT_BYTES: u64 = 1 << 30;

/// The reason why a bucket cannot be read.
#[derive(Debug)]
pub(crate) enum BucketFault {
    Torn(Torn),
    Read(std::io::Error),
}

impl From<Torn> for BucketFault {
    fn from(torn: Torn) -> Self {
        Self::Torn(torn)
    }
}

const ASTRAY: BucketFault = BucketFault::Torn("its directory leads nowhere");

/// The places of the parts of a file.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) directory: Range<u64>,
    data: Range<u64>,
    pub(crate) sums: Range<u64>,
    buckets: u32,
}

impl Places {
    /// Returns the places in a file with these buckets and bytes; `None` for more than a file can
    /// hold.
    pub(crate) fn new(directory: usize, buckets: u32, bytes: u64) -> Option<Self> {
        let directory = directory as u64..(directory + LINE * line_count(buckets)) as u64;
        let data = directory.end..directory.end.checked_add(bytes)?;
        let sums = data.end..data.end.checked_add(4 * bytes.div_ceil(BLOCK as u64))?;
        Some(Self {
            directory,
            data,
            sums,
            buckets,
        })
    }
}

/// The directory, the checksums, and the lines that were read.
#[derive(Debug)]
pub(crate) struct Buckets {
    places: Places,
    directory: Vec<u8>,
    sums: Vec<u8>,
    lines: Box<[OnceLock<Box<[u8]>>]>,
    kept_bytes: AtomicU64,
}

impl Buckets {
    /// The buckets of a file whose directory and checksums match its header.
    pub(crate) fn new(places: Places, directory: Vec<u8>, sums: Vec<u8>) -> Self {
        let lines = (1..line_count(places.buckets)).map(|_| OnceLock::new());
        Self {
            lines: lines.collect(),
            places,
            directory,
            sums,
            kept_bytes: AtomicU64::new(0),
        }
    }

    /// Returns the number of buckets.
    pub(crate) fn count(&self) -> u32 {
        self.places.buckets
    }

    /// Returns the encoded moves of the position with this key.
    #[inline]
    pub(crate) fn find(
        &self,
        source: &dyn ReadAt,
        key: Key,
    ) -> Result<Option<Cow<'_, [u8]>>, BucketFault> {
        let number = bucket_of(key, self.places.buckets) as usize;
        let line = number / BUCKETS_OF_LINE;
        let place = self.place(number).ok_or(ASTRAY)?;
        if let Some(bytes) = self.lines.get(line).and_then(OnceLock::get) {
            let known = find_in(bytes, place, key)?;
            return Ok(known.map(Cow::Borrowed));
        }
        self.find_in_file(source, line, place, key)
    }

    #[cold]
    fn find_in_file(
        &self,
        source: &dyn ReadAt,
        line: usize,
        place: Range<usize>,
        key: Key,
    ) -> Result<Option<Cow<'_, [u8]>>, BucketFault> {
        let read = self.read_line(source, line)?;
        let length = read.len() as u64;
        let kept = self.kept_bytes.fetch_add(length, Ordering::Relaxed);
        if kept + length > MAX_KEPT_BYTES {
            self.kept_bytes.fetch_sub(length, Ordering::Relaxed);
            let known = find_in(&read, place, key)?;
            return Ok(known.map(|known| Cow::Owned(known.into())));
        }
        let bytes = self.lines.get(line).ok_or(ASTRAY)?.get_or_init(|| read);
        Ok(find_in(bytes, place, key)?.map(Cow::Borrowed))
    }

    /// Returns the place of a bucket in its line.
    #[inline]
    fn place(&self, number: usize) -> Option<Range<usize>> {
        let (line, at) = (number / BUCKETS_OF_LINE, number % BUCKETS_OF_LINE);
        let lines = self.directory.get(LINE * line..)?;
        let (line, next) = lines.split_first_chunk::<LINE>()?;
        let after =
            |at: usize| usize::from(u16::from_le_bytes([line[2 + 2 * at], line[3 + 2 * at]]));
        let from = if at == 0 { 0 } else { after(at) };
        let to = if at == BUCKETS_OF_LINE - 1 {
            base(next)?.checked_sub(base(line)?)?
        } else {
            after(at + 1)
        };
        (from <= to).then_some(from..to)
    }

    /// Reads a line from the file, and verifies the blocks in which it lies.
    fn read_line(&self, source: &dyn ReadAt, line: usize) -> Result<Box<[u8]>, BucketFault> {
        let begin = |line: usize| base(self.directory.get(LINE * line..)?);
        let (from, to) = (begin(line).ok_or(ASTRAY)?, begin(line + 1).ok_or(ASTRAY)?);
        let length = (self.places.data.end - self.places.data.start) as usize;
        if from > to || to > length {
            return Err(ASTRAY);
        }
        let (first, last) = (from / BLOCK, to.div_ceil(BLOCK));
        let mut blocks = vec![0; length.min(last * BLOCK).saturating_sub(first * BLOCK)];
        let offset = self.places.data.start + (first * BLOCK) as u64;
        let read = source.read_at(&mut blocks, offset);
        read.map_err(BucketFault::Read)?;
        for (number, block) in (first..last).zip(blocks.chunks(BLOCK)) {
            let sum = self
                .sums
                .get(4 * number..)
                .and_then(|sums| sums.first_chunk());
            if sum.copied().map(u32::from_le_bytes) != Some(checksum(number as u32, block)) {
                return Err("a block of positions does not match its checksum".into());
            }
        }
        let from = from - first * BLOCK;
        let line = blocks.get(from..to - first * BLOCK);
        line.map(Into::into).ok_or(ASTRAY)
    }
}

fn base(line: &[u8]) -> Option<usize> {
    let bytes = line.first_chunk()?;
    Some(u32::from_le_bytes(*bytes) as usize)
}

/// A walk through the buckets in the file. It keeps one line, and trusts none that was kept before.
#[derive(Debug)]
pub(crate) struct BucketWalk<'a> {
    buckets: &'a Buckets,
    source: &'a dyn ReadAt,
    line: Option<(usize, Box<[u8]>)>,
}

impl<'a> BucketWalk<'a> {
    pub(crate) fn new(buckets: &'a Buckets, source: &'a dyn ReadAt) -> Self {
        Self {
            buckets,
            source,
            line: None,
        }
    }

    /// Returns the bytes of a bucket.
    pub(crate) fn bucket(&mut self, number: u32) -> Result<&[u8], BucketFault> {
        let number = number as usize;
        let line = number / BUCKETS_OF_LINE;
        let held = self.line.take().filter(|(held, _)| *held == line);
        let held = match held {
            Some(held) => held,
            None => (line, self.buckets.read_line(self.source, line)?),
        };
        let (_, bytes) = self.line.insert(held);
        let place = self.buckets.place(number).ok_or(ASTRAY)?;
        bytes.get(place).ok_or(ASTRAY)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::buckets::{positions, write};
    use crate::format::key_tail::tail_of;

    proptest! {
        #[test]
        fn written_entries_are_found(
            keys in proptest::collection::btree_set(0u128..1 << 112, 0..600),
            (buckets, fill) in (1u32..80, 4usize..180),
        ) {
            // Few buckets, so that some have more positions than are compared at once.
            let mut keys: Vec<Key> = keys.into_iter().map(Key).collect();
            keys.sort_by_key(|key| (bucket_of(*key, buckets), tail_of(*key)));
            let known: Vec<Vec<u8>> = (0..keys.len()).map(|at| vec![at as u8; fill + at % 7]).collect();
            let pairs = keys.iter().copied().zip(known.iter().map(|bytes| &bytes[..]));
            let Some((directory, data, sums)) = write(buckets, pairs) else {
                prop_assert!(keys.len() > 255);
                return Ok(());
            };
            let places = Places::new(0, buckets, data.len() as u64).expect("small");
            let length = |part: &Range<u64>| (part.end - part.start) as usize;
            prop_assert_eq!(length(&places.directory), directory.len());
            prop_assert_eq!(length(&places.sums), sums.len());
            let file = [&directory[..], &data, &sums].concat();
            let book = Buckets::new(places, directory, sums);
            let find = |key| book.find(&file, key).expect("whole").map(Cow::into_owned);
            for (key, known) in keys.iter().zip(&known) {
                prop_assert_eq!(find(*key), Some(known.clone()));
                let other = Key(key.0 ^ 1 << 104);
                prop_assert!(keys.contains(&other) || find(other).is_none());
            }
            let mut walk = BucketWalk::new(&book, &file);
            let mut count = |number| positions(walk.bucket(number).expect("whole")).map_or(0, |held| held.len());
            let held: usize = (0..buckets).map(&mut count).sum();
            prop_assert_eq!(held, keys.len());
        }
    }
}
