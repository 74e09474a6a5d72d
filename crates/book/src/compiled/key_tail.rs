//! Where a key lies in a compiled book.

use kagetsu_game::Key;

/// Into which of so many buckets a key goes. By its low half: the high bits of a least value are small.
pub(crate) fn bucket_of(key: Key, buckets: u32) -> u32 {
    ((u64::from(key.0 as u32) * u64::from(buckets)) >> 32) as u32
}

/// The bytes of a key that stand in a bucket. With the bucket's number, the other names of a position, 97 bits of a key
/// are told apart in a book of a million positions.
pub(crate) type Tail = [u8; 10];

pub(crate) fn tail_of(key: Key) -> Tail {
    let bytes = key.0.to_le_bytes();
    std::array::from_fn(|at| bytes[at + 4])
}

/// Over the number of some bytes and them, so that none can stand in another's place.
pub(crate) fn checksum(number: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(number);
    hasher.update(bytes);
    hasher.finalize()
}
