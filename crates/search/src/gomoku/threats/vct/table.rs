use super::value::VctProofNumbers;

/// Entries that a position may be found in.
const BUCKET: usize = 4;

/// The stored value of a position, for one attacker.
#[derive(Clone, Copy, Debug)]
struct ProofEntry {
    hash: u64,
    value: VctProofNumbers,
    /// Positions searched below it. Costly entries are kept.
    work: u32,
    /// Number of the search that stored the entry.
    generation: u16,
}

const EMPTY: ProofEntry = ProofEntry {
    hash: 0,
    value: VctProofNumbers::UNKNOWN,
    work: 0,
    generation: 0,
};

/// Proof and disproof numbers by hash, in a fixed amount of memory. Cheap entries are replaced
/// first.
#[derive(Debug)]
pub(crate) struct ProofTable {
    entries: Vec<ProofEntry>,
    generation: u16,
}

impl ProofTable {
    /// Bytes of one entry.
    pub(crate) const ENTRY: usize = size_of::<ProofEntry>();

    /// Returns a table of at most `bytes`, but at least one bucket.
    pub(crate) fn new(bytes: usize) -> Self {
        let buckets = (bytes / (BUCKET * size_of::<ProofEntry>())).max(1);
        Self {
            entries: vec![EMPTY; buckets * BUCKET],
            generation: 1,
        }
    }

    /// Begins another search. Earlier entries stay but are replaced first.
    pub(super) fn begin(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.entries.fill(EMPTY);
    }

    pub(super) fn get(&self, hash: u64) -> Option<VctProofNumbers> {
        let bucket = &self.entries[self.bucket(hash)];
        bucket
            .iter()
            .find(|entry| entry.hash == hash && entry.generation != 0)
            .map(|entry| entry.value)
    }

    /// Stores a value, and keeps the proven facts of the position.
    pub(super) fn put(&mut self, hash: u64, value: VctProofNumbers, work: u32) {
        let (range, generation) = (self.bucket(hash), self.generation);
        let worth = |entry: &&mut ProofEntry| match () {
            () if entry.generation == 0 || entry.hash == hash => (0, 0),
            () if entry.generation != generation => (1, entry.work),
            () => (2, entry.work),
        };
        let same = self.entries[range.clone()]
            .iter()
            .position(|entry| entry.hash == hash && entry.generation != 0);
        let entry = match same {
            Some(at) => Some(&mut self.entries[range.start + at]),
            None => self.entries[range].iter_mut().min_by_key(worth),
        };
        if let Some(entry) = entry {
            let (value, work) = match same {
                Some(_) => (value.with(entry.value), entry.work.saturating_add(work)),
                None => (value, work),
            };
            *entry = ProofEntry {
                hash,
                value,
                work,
                generation,
            };
        }
    }

    fn bucket(&self, hash: u64) -> std::ops::Range<usize> {
        let buckets = self.entries.len() / BUCKET;
        // The high half of the product spreads the hash evenly over any number of buckets.
        let start = ((u128::from(hash) * buckets as u128) >> 64) as usize * BUCKET;
        start..start + BUCKET
    }
}
