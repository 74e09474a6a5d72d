//! The store's keys, and the marker, which says what lies under them.

use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::graph::row::has_record;
use kagetsu_store::digest;

/// The journal entries that the store has, and the totals of its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    /// Entries of the journal.
    pub(crate) applied: u64,
    /// Records.
    pub(crate) positions: u64,
    /// Positions that jobs have yet to expand.
    pub(crate) walking: u64,
    /// Entries of the store, but for the marker.
    pub(crate) entries: u64,
    /// Over all of them, in any order.
    pub(crate) digest: u64,
    /// The [digest](crate::JournalDigest) of those entries of the journal.
    pub(crate) journal: u64,
}

impl Marker {
    /// Counts an entry of the store.
    pub(crate) fn count(&mut self, key: &[u8], value: &[u8]) {
        if key != MARKER {
            self.entries += 1;
            self.positions += u64::from(key.first() == Some(&POSITION) && has_record(value));
            self.walking += u64::from(key.first() == Some(&WALK));
            self.digest ^= digest(key, value);
        }
    }

    /// Adds the counts of other entries.
    pub(crate) fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        self.walking += other.walking;
        self.entries += other.entries;
        self.digest ^= other.digest;
    }
}

pub(crate) const MARKER: &[u8] = b"m";
pub(crate) const POSITION: u8 = b'p';
pub(crate) const WALK: u8 = b'w';
pub(crate) const SPEC: u8 = b's';
pub(crate) const JOB: u8 = b'j';
pub(crate) const ENGINE: u8 = b'e';
pub(crate) const ASIDE: u8 = b'a';
pub(crate) const ACCOUNT: u8 = b'b';
pub(crate) const HELD: u8 = b'h';
pub(crate) const JUDGED: u8 = b'd';
pub(crate) const ANNOTATED: u8 = b'n';

pub(crate) fn key(prefix: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![prefix];
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key
}

/// Returns the key of a position that a job has yet to expand. The keys of a job are in order of
/// urgency.
pub(crate) fn queue_key(queue: u8, job: u32, priority: u64, id: Id) -> Vec<u8> {
    key(queue, &[&job.to_be_bytes(), &priority.to_be_bytes(), &id.0])
}

/// Job, priority and position of a key made by [`queue_key`].
pub(crate) fn queued(key: &[u8]) -> Option<(u32, u64, Id)> {
    let (job, rest) = key.get(1..)?.split_first_chunk()?;
    let (priority, rest) = rest.split_first_chunk()?;
    Some((
        u32::from_be_bytes(*job),
        u64::from_be_bytes(*priority),
        Id(rest.try_into().ok()?),
    ))
}
