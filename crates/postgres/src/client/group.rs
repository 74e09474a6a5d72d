//! A group of entries that are committed together.

use kagetsu_book::{JournalDigest, JournalError, Sequence, frame, unframe};

/// Entries of a group at most.
pub(crate) const MAX_GROUP_ENTRIES: u32 = 4096;
/// Bytes of a group after which a new one begins.
pub(crate) const FULL_GROUP_BYTES: usize = 256 << 10;

/// Consecutive entries, encoded as they stand in a journal's file.
#[derive(Clone, Debug)]
pub(crate) struct EntryGroup {
    /// The number of the first entry.
    pub(crate) first: u64,
    pub(crate) entries: u32,
    pub(crate) body: Vec<u8>,
    /// The digest of the journal after the last entry.
    pub(crate) digest: JournalDigest,
}

impl EntryGroup {
    /// Begins a group with no entry, after a journal of this digest.
    pub(crate) fn new(first: u64, digest: JournalDigest) -> Self {
        Self {
            first,
            entries: 0,
            body: Vec::new(),
            digest,
        }
    }

    /// Returns the number of the last entry.
    pub(crate) fn last(&self) -> u64 {
        self.first + u64::from(self.entries) - 1
    }

    pub(crate) fn is_full(&self) -> bool {
        self.entries >= MAX_GROUP_ENTRIES || self.body.len() >= FULL_GROUP_BYTES
    }

    /// Adds the next entry.
    pub(crate) fn add(&mut self, entry: &[u8]) -> Result<Sequence, JournalError> {
        let number = self.first + u64::from(self.entries);
        self.body.extend(frame(number, entry)?);
        self.entries += 1;
        self.digest = self.digest.after(entry);
        Ok(Sequence(number))
    }

    /// Returns the checksum of the group's row.
    pub(crate) fn checksum(&self) -> u32 {
        row_checksum(self.first, &self.body)
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(crate) struct GroupRow {
    pub(crate) first: u64,
    pub(crate) entries: u32,
    pub(crate) digest: JournalDigest,
    pub(crate) body: Vec<u8>,
    pub(crate) checksum: i64,
}

impl GroupRow {
    /// Returns the number of the entry after the last one.
    pub(crate) fn end(&self) -> u64 {
        self.first + u64::from(self.entries)
    }

    /// Returns the entries of a row whose checksums match.
    pub(crate) fn entries(&self, place: &str) -> Result<Vec<&[u8]>, JournalError> {
        let damaged = || JournalError::Altered {
            place: place.into(),
            fault: format!("the group that begins with entry {} is damaged", self.first),
        };
        if i64::from(row_checksum(self.first, &self.body)) != self.checksum {
            return Err(damaged());
        }
        let (mut entries, mut rest) = (Vec::new(), &self.body[..]);
        while !rest.is_empty() {
            let number = self.first + entries.len() as u64;
            let (entry, after) = unframe(number, rest).ok_or_else(damaged)?;
            entries.push(entry);
            rest = after;
        }
        if entries.len() as u64 == u64::from(self.entries) && self.entries > 0 {
            Ok(entries)
        } else {
            Err(damaged())
        }
    }
}

fn row_checksum(first: u64, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&first.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(group: &EntryGroup) -> GroupRow {
        GroupRow {
            first: group.first,
            entries: group.entries,
            digest: group.digest,
            body: group.body.clone(),
            checksum: group.checksum().into(),
        }
    }

    #[test]
    fn damaged_rows_are_refused() {
        let mut group = EntryGroup::new(7, JournalDigest::default());
        for entry in [&b"one"[..], b"", b"three"] {
            group.add(entry).expect("short");
        }
        let whole = row(&group);
        let entries: Vec<&[u8]> = vec![b"one", b"", b"three"];
        assert_eq!(whole.entries("a book").expect("whole"), entries);
        for byte in 0..whole.body.len() {
            let mut damaged = whole.clone();
            damaged.body[byte] ^= 1;
            damaged.entries("a book").expect_err("a flipped bit");
        }
        for (first, entries) in [(8, 3), (7, 2), (7, 4), (7, 0)] {
            let damaged = GroupRow {
                first,
                entries,
                ..whole.clone()
            };
            damaged.entries("a book").expect_err("another place");
        }
    }
}
