//! Values with a version and a checksum: one byte of version, the body in postcard's encoding, and
//! a CRC-32 over key and value.

use serde::{Deserialize, Serialize};

/// The version of the values that this program writes.
pub const FORMAT_VERSION: u8 = 5;

/// Encodes a value as it is stored under `key`.
///
/// # Panics
/// If the value cannot be encoded at all, which plain data always can.
#[must_use]
pub fn encode(key: &[u8], body: &impl Serialize) -> Vec<u8> {
    let bytes = postcard::to_extend(body, vec![FORMAT_VERSION]);
    let mut bytes = bytes.expect("plain data, and memory grows");
    let sum = checksum(key, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Decodes a value; `None` where the bytes are not those that were written under `key`, or of
/// another version.
#[must_use]
pub fn decode<'a, T: Deserialize<'a>>(key: &[u8], bytes: &'a [u8]) -> Option<T> {
    let (version, body) = open(key, bytes)?;
    let (value, rest) = postcard::take_from_bytes(body)
        .ok()
        .filter(|_| version == FORMAT_VERSION)?;
    rest.is_empty().then_some(value)
}

/// Returns the body of a value of this version whose checksum matches.
#[must_use]
pub fn body<'a>(key: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (version, body) = open(key, bytes)?;
    (version == FORMAT_VERSION).then_some(body)
}

/// Returns the version of a value whose checksum matches, which may be a later one.
#[must_use]
pub fn version(key: &[u8], bytes: &[u8]) -> Option<u8> {
    open(key, bytes).map(|(version, _)| version)
}

/// Returns version and body. Values of every version begin with the version and end with the
/// checksum.
fn open<'a>(key: &[u8], bytes: &'a [u8]) -> Option<(u8, &'a [u8])> {
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

/// Returns a hash of an entry, of 64 bits from two checksums. The XOR over all entries identifies
/// the content of a store.
#[must_use]
pub fn digest(key: &[u8], value: &[u8]) -> u64 {
    let low = checksum(key, value);
    let mut hasher = crc32fast::Hasher::new_with_initial(!low);
    hasher.update(value);
    hasher.update(key);
    u64::from(hasher.finalize()) << 32 | u64::from(low)
}
