//! Blocks of a sorted file.

use std::sync::Arc;

use crate::StoreError;

/// The bytes of an entry before its key: those that its key shares with the key before (1), its own
/// (1), the length of the value (4).
pub(super) const ENTRY_HEAD: usize = 6;

/// The entries of a block, without its checksum.
pub(super) type Block = Arc<[u8]>;

/// Steps through the entries of a block.
pub(super) struct Cursor {
    block: Block,
    next: usize,
    key: Vec<u8>,
    value: (usize, usize),
}

impl Cursor {
    pub(super) fn new(block: Block) -> Self {
        Self {
            block,
            next: 0,
            key: Vec::new(),
            value: (0, 0),
        }
    }

    /// Steps to the next entry; `false` after the last.
    pub(super) fn step(&mut self) -> Result<bool, StoreError> {
        if self.next == self.block.len() {
            return Ok(false);
        }
        self.read_entry()
            .ok_or(StoreError::Damaged("its sorted file"))?;
        Ok(true)
    }

    fn read_entry(&mut self) -> Option<()> {
        let rest = &self.block[self.next..];
        let [shared, own, length @ ..] = rest.first_chunk::<ENTRY_HEAD>()?;
        let (shared, own) = (usize::from(*shared), usize::from(*own));
        let length = u32::from_le_bytes(*length) as usize;
        let key = rest
            .get(ENTRY_HEAD..ENTRY_HEAD + own)
            .filter(|_| shared <= self.key.len())?;
        self.key.truncate(shared);
        self.key.extend_from_slice(key);
        let begin = self.next + ENTRY_HEAD + own;
        let end = begin
            .checked_add(length)
            .filter(|end| *end <= self.block.len())?;
        self.value = (begin, end);
        self.next = end;
        Some(())
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(super) fn value(&self) -> &[u8] {
        &self.block[self.value.0..self.value.1]
    }
}

/// Returns the checksum of a block, over its number too, so that no block can stand in another's
/// place.
pub(super) fn checksum(number: u32, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}
