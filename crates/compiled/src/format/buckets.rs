//! The buckets of a compiled book: a few positions each, found by one byte of their keys.
//!
//! A look-up should wait for memory once. So the directory is small enough for the caches of the
//! processor, all cache lines of a bucket are prefetched together, and positions with another byte
//! are skipped unread. Checksums are verified a block at a time, when the first look-up comes
//! there.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use kagetsu_game::Key;

use crate::format::key_tail::{Tail, bucket_of, checksum, tail_of};
use crate::format::simd::{NAMES_AT_ONCE, ask, equal};

/// Mean positions of a bucket, and the greatest mean of its bytes.
const SHARE: u64 = 8;
const BYTES: u64 = 384;
/// Bytes of a line of the directory, and the buckets of a line.
pub(crate) const LINE: usize = 64;
const OF_LINE: usize = 31;
/// Bytes with a common checksum.
const BLOCK: usize = 4_096;
/// Offsets in a bucket that are prefetched, one for each cache line.
const AHEAD: [usize; 5] = [64, 128, 192, 256, 320];

/// Why a bucket cannot be read.
type Torn = &'static str;
const TORN: Torn = "a bucket is torn";

/// Returns the number of buckets for these positions and bytes.
pub(crate) fn buckets_for(positions: u64, bytes: u64) -> Option<u32> {
    u32::try_from((positions / SHARE).max(bytes / BYTES) + 1).ok()
}

/// The place of the buckets in the file, and the blocks that were verified.
#[derive(Debug)]
pub(crate) struct Buckets {
    directory: usize,
    data: Range<usize>,
    buckets: u32,
    /// One bit for each verified block.
    whole: Box<[AtomicU64]>,
}

impl Buckets {
    /// Describes a file with these buckets and bytes; `None` for more than memory can map.
    pub(crate) fn new(directory: usize, buckets: u32, bytes: u64) -> Option<Self> {
        let begin = directory + LINE * lines(buckets);
        let data = begin..begin.checked_add(usize::try_from(bytes).ok()?)?;
        let words = data.len().div_ceil(BLOCK).div_ceil(64);
        let whole = (0..words).map(|_| AtomicU64::new(0)).collect();
        Some(Self {
            directory,
            data,
            buckets,
            whole,
        })
    }

    /// Returns the place of the blocks' checksums.
    pub(crate) fn sums(&self) -> Range<usize> {
        self.data.end
            ..self
                .data
                .end
                .saturating_add(4 * self.data.len().div_ceil(BLOCK))
    }

    /// Returns the place of the directory.
    pub(crate) fn directory(&self) -> Range<usize> {
        self.directory..self.data.start
    }

    /// Returns the encoded moves of the position with this key.
    #[inline]
    pub(crate) fn find<'a>(&self, file: &'a [u8], key: Key) -> Result<Option<&'a [u8]>, Torn> {
        let place = self
            .place(file, bucket_of(key, self.buckets))
            .ok_or("its directory leads nowhere")?;
        for ahead in AHEAD {
            ask(file, place.start + ahead);
        }
        self.hold(file, &place)?;
        let Some((&count, bucket)) = file.get(place).and_then(|bytes| bytes.split_first()) else {
            return Ok(None);
        };
        let [name, tail @ ..] = tail_of(key);
        for from in (0..usize::from(count)).step_by(NAMES_AT_ONCE) {
            let names = bucket
                .get(from..)
                .and_then(|names| names.first_chunk())
                .ok_or(TORN)?;
            let mut hits = equal(names, name);
            while hits != 0 {
                let at = from + hits.trailing_zeros() as usize;
                // The bytes behind the names may look like a name.
                if at >= usize::from(count) {
                    break;
                }
                let (of_entry, known) = entry(bucket, count, at).ok_or(TORN)?;
                if *of_entry == tail {
                    return Ok(Some(known));
                }
                hits &= hits - 1;
            }
        }
        Ok(None)
    }

    /// Returns the positions of a bucket.
    pub(crate) fn bucket<'a>(
        &self,
        file: &'a [u8],
        number: u32,
    ) -> Result<Vec<(Tail, &'a [u8])>, Torn> {
        let place = self
            .place(file, number)
            .ok_or("its directory leads nowhere")?;
        self.hold(file, &place)?;
        let Some((&count, bucket)) = file.get(place).and_then(|bytes| bytes.split_first()) else {
            return Ok(Vec::new());
        };
        let position = |at: u8| {
            let (tail, known) = entry(bucket, count, at.into())?;
            let mut whole = [*bucket.get(usize::from(at))?; 10];
            whole[1..].copy_from_slice(tail);
            Some((whole, known))
        };
        let positions: Option<Vec<_>> = (0..count).map(position).collect();
        let positions = positions.ok_or(TORN)?;
        let bytes: usize = positions
            .iter()
            .map(|(tail, known)| 2 + tail.len() + known.len())
            .sum();
        if bytes == bucket.len() {
            Ok(positions)
        } else {
            Err(TORN)
        }
    }

    /// Returns the number of buckets.
    pub(crate) fn count(&self) -> u32 {
        self.buckets
    }

    /// Returns the bytes of a bucket.
    pub(crate) fn raw<'a>(&self, file: &'a [u8], number: u32) -> Result<&'a [u8], Torn> {
        let place = self
            .place(file, number)
            .ok_or("its directory leads nowhere")?;
        self.hold(file, &place)?;
        file.get(place).ok_or(TORN)
    }

    /// Returns the place of a bucket in the file.
    #[inline]
    fn place(&self, file: &[u8], number: u32) -> Option<Range<usize>> {
        let (line, at) = (number as usize / OF_LINE, number as usize % OF_LINE);
        let lines = file.get(self.directory + LINE * line..)?;
        let (line, next) = lines.split_first_chunk::<LINE>()?;
        let base = |line: &[u8]| {
            line.first_chunk()
                .map(|bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let begin = base(line)?;
        let after = |at: usize| {
            begin + usize::from(u16::from_le_bytes([line[2 + 2 * at], line[3 + 2 * at]]))
        };
        let from = if at == 0 { begin } else { after(at) };
        let to = if at == OF_LINE - 1 {
            base(next)?
        } else {
            after(at + 1)
        };
        (from <= to && to <= self.data.len())
            .then_some(self.data.start + from..self.data.start + to)
    }

    /// Verifies the checksums of the blocks of these bytes, if that was not done before.
    #[inline]
    fn hold(&self, file: &[u8], place: &Range<usize>) -> Result<(), Torn> {
        let (from, to) = (place.start - self.data.start, place.end - self.data.start);
        for block in from / BLOCK..to.div_ceil(BLOCK) {
            let is_whole = self
                .whole
                .get(block / 64)
                .is_some_and(|w| w.load(Ordering::Relaxed) >> (block % 64) & 1 == 1);
            if !is_whole {
                self.hold_block(file, block)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn hold_block(&self, file: &[u8], block: usize) -> Result<(), Torn> {
        let begin = self.data.start + block * BLOCK;
        let bytes = file.get(begin..self.data.end.min(begin + BLOCK));
        let sum = file
            .get(self.data.end + 4 * block..)
            .and_then(|sums| sums.first_chunk());
        let is_whole = bytes
            .zip(sum)
            .is_some_and(|(bytes, sum)| checksum(block as u32, bytes) == u32::from_le_bytes(*sum));
        if !is_whole {
            return Err("a block of positions does not match its checksum");
        }
        if let Some(word) = self.whole.get(block / 64) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Returns the lines of the directory: one more than the buckets need, for the end of the last
/// bucket.
fn lines(buckets: u32) -> usize {
    (buckets as usize).div_ceil(OF_LINE) + 1
}

/// Returns an entry of a bucket: the bytes of its key but the first, and its encoded moves.
#[inline]
fn entry(bucket: &[u8], count: u8, at: usize) -> Option<(&[u8; 9], &[u8])> {
    let ends = bucket.get(count.into()..)?;
    let end = |at: usize| {
        Some(usize::from(u16::from_le_bytes(
            *ends.get(2 * at..)?.first_chunk()?,
        )))
    };
    // No branch, because the processor could not predict it.
    let from = usize::from(at != 0) * end(at.saturating_sub(1))?;
    ends.get(2 * usize::from(count)..)?
        .get(from..end(at)?)?
        .split_first_chunk()
}

/// Encodes directory, buckets and checksums of positions that are sorted by bucket and tail. `None`
/// for too many.
pub(crate) fn write<'a>(
    buckets: u32,
    positions: impl Iterator<Item = (Key, &'a [u8])>,
) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let mut positions = positions.peekable();
    assemble(buckets, |number, data| {
        let mut bucket = Vec::new();
        while let Some(position) = positions.next_if(|(key, _)| bucket_of(*key, buckets) == number)
        {
            bucket.push(position);
        }
        if bucket.is_empty() {
            return Some(());
        }
        data.push(u8::try_from(bucket.len()).ok()?);
        data.extend(bucket.iter().map(|(key, _)| tail_of(*key)[0]));
        let mut end = 0;
        for (_, known) in &bucket {
            end += 9 + known.len();
            data.extend(u16::try_from(end).ok()?.to_le_bytes());
        }
        for (key, known) in bucket {
            data.extend(&tail_of(key)[1..]);
            data.extend(known);
        }
        Some(())
    })
}

/// Returns directory, buckets and checksums of a file. `fill` appends the bytes of a bucket.
pub(crate) fn assemble(
    buckets: u32,
    mut fill: impl FnMut(u32, &mut Vec<u8>) -> Option<()>,
) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let (mut directory, mut data) = (Vec::new(), Vec::new());
    let mut begin = 0;
    for number in 0..(lines(buckets) * OF_LINE) as u32 {
        if (number as usize).is_multiple_of(OF_LINE) {
            begin = data.len();
            directory.extend(u32::try_from(begin).ok()?.to_le_bytes());
        } else {
            directory.extend(u16::try_from(data.len() - begin).ok()?.to_le_bytes());
        }
        if number < buckets {
            fill(number, &mut data)?;
        }
    }
    let sum = |(block, bytes): (usize, &[u8])| checksum(block as u32, bytes).to_le_bytes();
    let sums = data.chunks(BLOCK).enumerate().flat_map(sum).collect();
    Some((directory, data, sums))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let book = Buckets::new(0, buckets, data.len() as u64).expect("small");
            prop_assert_eq!((book.directory().len(), book.sums().len()), (directory.len(), sums.len()));
            let file = [directory, data, sums].concat();
            for (key, known) in keys.iter().zip(&known) {
                prop_assert_eq!(book.find(&file, *key), Ok(Some(&known[..])));
                let other = Key(key.0 ^ 1 << 104);
                prop_assert!(keys.contains(&other) || book.find(&file, other) == Ok(None));
            }
            let held: Vec<_> = (0..buckets).flat_map(|number| book.bucket(&file, number).expect("whole")).collect();
            prop_assert_eq!(held.len(), keys.len());
        }
    }
}
