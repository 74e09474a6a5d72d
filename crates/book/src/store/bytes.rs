//! Values in the store: a version, the body, a checksum over key and all.

use serde::{Deserialize, Serialize};

pub(crate) const VERSION: u8 = 4;
/// What is said of a store that another version of this program made by other rules.
pub(crate) const EARLIER: &str = "it was of an earlier format";

/// A value as it lies in the store under `key`.
pub(crate) fn seal(key: &[u8], body: &impl Serialize) -> Vec<u8> {
    let mut bytes = postcard::to_extend(body, vec![VERSION]).expect("plain data, and memory grows");
    let sum = checksum(key, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The body again; `None` for bytes that nobody wrote there.
pub(crate) fn unseal<'a, T: Deserialize<'a>>(key: &[u8], bytes: &'a [u8]) -> Option<T> {
    let (version, body) = open(key, bytes)?;
    let (value, left) = postcard::take_from_bytes(body)
        .ok()
        .filter(|_| version == VERSION)?;
    left.is_empty().then_some(value)
}

/// The version of a value, ours or a later one; `None` for bytes that nobody wrote there.
pub(crate) fn version_of(key: &[u8], bytes: &[u8]) -> Option<u8> {
    open(key, bytes).map(|(version, _)| version)
}

/// Version and body. Every version begins with its number and ends with the checksum.
pub(crate) fn open<'a>(key: &[u8], bytes: &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (all, sum) = bytes.split_last_chunk()?;
    let (&version, body) = all.split_first()?;
    (checksum(key, all) == u32::from_le_bytes(*sum)).then_some((version, body))
}

fn checksum(key: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(body);
    hasher.finalize()
}

/// Two checksums of an entry of the store, in one number; for the rolling hash over all of them.
pub(crate) fn digest(key: &[u8], value: &[u8]) -> u64 {
    let low = checksum(key, value);
    let mut hasher = crc32fast::Hasher::new_with_initial(!low);
    hasher.update(value);
    hasher.update(key);
    u64::from(hasher.finalize()) << 32 | u64::from(low)
}
