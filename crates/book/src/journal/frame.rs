//! The bytes around an entry of the journal.

use crate::error::JournalError;

/// The first bytes of every journal.
pub(super) const MAGIC: [u8; 8] = *b"kagetsuj";
/// The version of the journal's format.
pub(super) const VERSION: u32 = 1;
/// Bytes of magic and version.
pub(super) const HEADER_BYTES: u64 = 12;
/// Bytes before each entry: its length, a checksum over its number and length, and one over its
/// number and bytes. So a reader distinguishes a damaged length from a damaged entry.
pub(super) const FRAME_BYTES: usize = 12;
/// The greatest length of an entry in bytes; a longer one is damage.
pub const MAX_ENTRY_BYTES: u32 = 16 << 20;

/// Returns a checksum over the number of an entry too, so that no entry can stand in another's
/// place.
pub(super) fn checksum(number: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

/// Returns the first bytes of every journal.
pub(crate) fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Encodes an entry with its frame, as it stands in the journal's file.
///
/// # Errors
/// If the entry is longer than [`MAX_ENTRY_BYTES`].
pub fn frame(number: u64, entry: &[u8]) -> Result<Vec<u8>, JournalError> {
    let length = u32::try_from(entry.len())
        .ok()
        .filter(|length| *length <= MAX_ENTRY_BYTES);
    let length = length
        .ok_or(JournalError::TooLong(entry.len()))?
        .to_le_bytes();
    let sums = [checksum(number, &length), checksum(number, entry)].map(u32::to_le_bytes);
    Ok([&length, &sums[0], &sums[1], entry].concat())
}

/// Splits the entry of a number, with its frame, from the beginning of `bytes`; `None` where they
/// do not begin with it.
#[must_use]
pub fn unframe(number: u64, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (frame, rest) = bytes.split_first_chunk::<FRAME_BYTES>()?;
    let [length, of_length, of_entry] =
        [0, 4, 8].map(|at| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let is_whole = checksum(number, &length) == u32::from_le_bytes(of_length);
    let (entry, rest) = rest.split_at_checked(u32::from_le_bytes(length) as usize)?;
    let is_whole = is_whole && checksum(number, entry) == u32::from_le_bytes(of_entry);
    is_whole.then_some((entry, rest))
}
