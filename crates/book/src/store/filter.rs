//! Which keys a part of the store may have, in a few bits for each.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// Bits for each key.
const BITS: usize = 12;

/// A hash of a key, the same in every process.
pub(crate) fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// For tables of what is a hash already: of the bytes the last eight count.
pub(crate) type Hashed = BuildHasherDefault<Last>;

/// The last eight bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Last(u64);

impl Hasher for Last {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.0 = u64::from_le_bytes(*last);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn write_usize(&mut self, _length: usize) {}
}

/// A Bloom filter (Bloom: "Space/time trade-offs in hash coding with allowable errors", 1970) of which a key's bits lie in one word
/// (Putze, Sanders and Singler: "Cache-, hash- and space-efficient Bloom filters", 2007). Of the keys that are not there it lets
/// some four in a hundred pass.
#[derive(Debug)]
pub(crate) struct Filter(Vec<u64>);

impl Filter {
    /// For so many keys.
    pub(crate) fn new(keys: usize) -> Self {
        Self(vec![0; keys * BITS / 64 + 1])
    }

    /// The word of a hash, by its high bits, and the bits there, by its low ones.
    fn place(&self, hash: u64) -> (usize, u64) {
        let word = ((u128::from(hash) * self.0.len() as u128) >> 64) as usize;
        (
            word,
            (0..5).fold(0, |bits, nth| bits | 1 << ((hash >> (6 * nth)) & 63)),
        )
    }

    pub(crate) fn put(&mut self, hash: u64) {
        let (word, bits) = self.place(hash);
        self.0[word] |= bits;
    }

    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.0[word] & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_passes_and_little_else() {
        let of = |number: u32| hash(&number.to_be_bytes());
        let mut filter = Filter::new(10_000);
        (0..10_000).for_each(|number| filter.put(of(number)));
        assert!((0..10_000).all(|number| filter.may_have(of(number))));
        let passed = (10_000..110_000)
            .filter(|number| filter.may_have(of(*number)))
            .count();
        assert!(passed < 8_000, "{passed} of 100,000");
    }
}
