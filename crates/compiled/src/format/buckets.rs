//! The buckets of a compiled book: a few positions each, found by one byte of their keys.
//!
//! A look-up should wait for memory once. So the directory is small enough for the caches of the
//! processor, all cache lines of a bucket are prefetched together, and positions with another byte
//! are skipped unread.

use std::ops::Range;

use kagetsu_game::Key;

use crate::format::key_tail::{Tail, bucket_of, checksum, tail_of};
use crate::format::simd::{NAMES_AT_ONCE, ask, equal};

/// Mean positions of a bucket, and the greatest mean of its bytes.
const SHARE: u64 = 8;
const BYTES: u64 = 384;
/// Bytes of a line of the directory, and the buckets of a line.
pub(crate) const LINE: usize = 64;
pub(crate) const BUCKETS_OF_LINE: usize = 31;
/// Bytes with a common checksum.
pub(crate) const BLOCK: usize = 4_096;
/// Offsets in a bucket that are prefetched, one for each cache line.
const AHEAD: [usize; 5] = [64, 128, 192, 256, 320];

/// The damage of a bucket.
pub(crate) type Torn = &'static str;
const TORN: Torn = "a bucket is torn";

/// Returns the number of buckets for these positions and bytes.
pub(crate) fn buckets_for(positions: u64, bytes: u64) -> Option<u32> {
    u32::try_from((positions / SHARE).max(bytes / BYTES) + 1).ok()
}

/// Returns the encoded moves of the position with this key, in the bucket at a place of its line.
#[inline]
pub(crate) fn find_in(line: &[u8], place: Range<usize>, key: Key) -> Result<Option<&[u8]>, Torn> {
    for ahead in AHEAD {
        ask(line, place.start + ahead);
    }
    let bucket = line.get(place).ok_or(TORN)?;
    let Some((&count, bucket)) = bucket.split_first() else {
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
pub(crate) fn positions(bucket: &[u8]) -> Result<Vec<(Tail, &[u8])>, Torn> {
    let Some((&count, bucket)) = bucket.split_first() else {
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

/// Returns the lines of the directory: one more than the buckets need, for the end of the last
/// bucket.
pub(crate) fn line_count(buckets: u32) -> usize {
    (buckets as usize).div_ceil(BUCKETS_OF_LINE) + 1
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
    for number in 0..(line_count(buckets) * BUCKETS_OF_LINE) as u32 {
        if (number as usize).is_multiple_of(BUCKETS_OF_LINE) {
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
