//! The place of a key in a compiled book.

use kagetsu_game::Key;

/// Returns the bucket of a key, by its low half: the high bits of canonical keys are small.
pub(crate) fn bucket_of(key: Key, buckets: u32) -> u32 {
    ((u64::from(key.0 as u32) * u64::from(buckets)) >> 32) as u32
}

/// The bytes of a key that are stored in its bucket. With the number of the bucket they distinguish
/// 97 bits of a key in a book of a million positions.
pub(crate) type Tail = [u8; 10];

pub(crate) fn tail_of(key: Key) -> Tail {
    let bytes = key.0.to_le_bytes();
    std::array::from_fn(|at| bytes[at + 4])
}

/// Returns the checksum of some bytes and their number, so that no bytes can stand in another's
/// place.
pub(crate) fn checksum(number: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(number);
    hasher.update(bytes);
    hasher.finalize()
}
