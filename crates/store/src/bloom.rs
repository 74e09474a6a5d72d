//! A filter that says of most absent keys that they are absent.

use std::hash::{DefaultHasher, Hash, Hasher};

use fastbloom::BloomFilter;

/// Bits of the filter for each key.
const BITS_PER_KEY: usize = 12;
/// Bits that are set for each key.
const HASHES: u32 = 4;
/// The seed, the same in every process: the same store then always takes the same time.
const SEED: u128 = 0x6b61_6765_7473_7500;

/// Returns a hash of a key, the same in every process.
pub(crate) fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// A Bloom filter over the hashes of keys.
#[derive(Debug)]
pub(crate) struct KeyFilter(BloomFilter);

impl KeyFilter {
    /// Makes an empty filter for `keys` keys.
    pub(crate) fn new(keys: usize) -> Self {
        let bits = (keys * BITS_PER_KEY).max(64);
        Self(BloomFilter::with_num_bits(bits).seed(&SEED).hashes(HASHES))
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        self.0.insert_hash(hash);
    }

    /// Returns `false` only for a hash that was not inserted.
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_absent_keys_pass() {
        let of = |number: u32| hash(&number.to_be_bytes());
        let mut filter = KeyFilter::new(10_000);
        (0..10_000).for_each(|number| filter.insert(of(number)));
        assert!((0..10_000).all(|number| filter.may_contain(of(number))));
        let passed = (10_000..110_000)
            .filter(|number| filter.may_contain(of(*number)))
            .count();
        assert!(passed < 8_000, "{passed} of 100,000");
    }
}
