use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use bytemuck::allocation::try_zeroed_vec;
use kagetsu_game::{Bound, Move, Score};

/// The stored result of searching a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableEntry {
    /// From the viewpoint of the side to move; mate distances count from this position.
    pub(crate) score: Score,
    pub(crate) bound: Bound,
    pub(crate) depth: u8,
    /// The best move, or [`Move::NONE`].
    pub(crate) best: Move,
}

impl TableEntry {
    /// Whether the bound places the value of the position outside the window, or gives it.
    pub(crate) fn decides(self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        }
    }

    /// Whether the score is proven at any depth: at least a win, or at most a loss.
    pub(crate) fn is_proof(self) -> bool {
        let at_least = self.score.win_plies().is_some() && self.bound != Bound::Upper;
        let at_most = self.score.loss_plies().is_some() && self.bound != Bound::Lower;
        at_least || at_most
    }
}

/// A transposition table that threads share without locks. Each slot holds its data and the
/// exclusive or of data and hash, so that a half-written slot is not found (Hyatt and Mann, ICGA
/// Journal 25(1), 2002).
///
/// Entries of earlier questions count as empty, so that an answer does not depend on them, unless
/// the next question [continues](TranspositionTable::proceed). Else each question begins with a
/// small part of the memory, which stays in the processor's caches, and uses more as the search
/// grows.
#[derive(Debug)]
pub(crate) struct TranspositionTable {
    slots: Vec<Slot>,
    /// Buckets in use.
    used: AtomicUsize,
    /// The slot with which the first bucket begins, so that no bucket lies on two cache lines.
    first: usize,
    /// Number of the question.
    generation: u16,
    /// Number of the oldest question whose entries are used.
    oldest: u16,
}

/// The data of an entry, after the exclusive or of its position's hash and these data.
type Slot = [AtomicU64; 2];

const BUCKET: usize = 2;

/// Buckets in use at the beginning of a question.
const FIRST_BUCKETS: usize = 1 << 14;

/// Least number of slots in use for each position visited, before an iteration.
const SLOTS_PER_NODE: u64 = 4;

/// Factor by which the table grows.
const GROWTH: usize = 4;

impl TranspositionTable {
    /// Returns a table of at most `bytes` and one slot, or `None` if there is no memory for it. The
    /// operating system provides each page when the search first uses it.
    pub(crate) fn of(bytes: usize) -> Option<Self> {
        let slots = bytes / (BUCKET * size_of::<Slot>()) * BUCKET;
        let spare = if slots == 0 { 0 } else { BUCKET - 1 };
        let slots: Vec<Slot> = try_zeroed_vec(slots + spare).ok()?;
        let beyond = slots.as_ptr().addr() % (BUCKET * size_of::<Slot>());
        Some(Self {
            first: usize::from(beyond > 0).min(spare),
            used: AtomicUsize::new(FIRST_BUCKETS.min(slots.len() / BUCKET)),
            slots,
            generation: 0,
            oldest: 0,
        })
    }

    /// Returns a small table for tests.
    #[cfg(test)]
    pub(crate) fn new(bytes: usize) -> Self {
        Self::of(bytes).expect("memory")
    }

    /// Whether the table has no room for entries.
    pub(crate) const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Forgets all entries before the next question.
    pub(crate) fn begin(&mut self) {
        self.proceed();
        *self.used.get_mut() = FIRST_BUCKETS.min(self.slots.len() / BUCKET);
        self.oldest = self.generation;
    }

    /// Counts the next question and keeps all entries for it.
    pub(crate) fn proceed(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots
                .iter_mut()
                .for_each(|slot| *slot = Slot::default());
            self.generation = 1;
            self.oldest = 1;
        }
    }

    /// Whether an entry belongs to a question whose entries are used.
    const fn is_valid(&self, data: u64) -> bool {
        let generation = generation(data);
        self.oldest <= generation && generation <= self.generation
    }

    /// Uses more memory if the search has visited many positions, and moves the entries to their
    /// new places. Entries that other threads store meanwhile may be lost.
    pub(crate) fn grow(&self, nodes: u64) {
        let (used, all) = (self.used.load(Relaxed), self.slots.len() / BUCKET);
        let wanted = usize::try_from(nodes.saturating_mul(SLOTS_PER_NODE)).unwrap_or(usize::MAX);
        let mut grown = used;
        while grown < all && grown * BUCKET < wanted {
            grown = grown.saturating_mul(GROWTH).min(all);
        }
        if grown == used {
            return;
        }
        self.used.store(grown, Relaxed);
        // From the last bucket down, because no entry moves to a lower one.
        for [check, data] in self.slots[self.first..][..used * BUCKET].iter().rev() {
            let data = data.swap(0, Relaxed);
            let hash = check.swap(0, Relaxed) ^ data;
            if self.is_valid(data)
                && let Some(entry) = unpack(data)
            {
                self.put_for(hash, entry, generation(data));
            }
        }
    }

    pub(crate) fn get(&self, hash: u64) -> Option<TableEntry> {
        let found = self.bucket(hash).iter().find_map(|[check, data]| {
            let data = data.load(Relaxed);
            (check.load(Relaxed) ^ data == hash && self.is_valid(data)).then_some(data)
        });
        found.and_then(unpack)
    }

    /// Replaces the entry of the position, else one that is not used, else the one of least depth,
    /// where entries of earlier questions count as half as deep.
    pub(crate) fn put(&self, hash: u64, entry: TableEntry) {
        self.put_for(hash, entry, self.generation);
    }

    fn put_for(&self, hash: u64, entry: TableEntry, question: u16) {
        let worth = |[check, data]: &&Slot| {
            let data = data.load(Relaxed);
            let depth = u32::from(depth(data));
            match () {
                () if check.load(Relaxed) ^ data == hash => 0,
                () if !self.is_valid(data) => 1,
                () if generation(data) != self.generation => 2 + depth / 2,
                () => 2 + depth,
            }
        };
        if let Some([check, data]) = self.bucket(hash).iter().min_by_key(worth) {
            let packed = pack(entry, question);
            data.store(packed, Relaxed);
            check.store(packed ^ hash, Relaxed);
        }
    }

    fn bucket(&self, hash: u64) -> &[Slot] {
        let buckets = self.used.load(Relaxed);
        // The high half of the product spreads the hash evenly over any number of buckets.
        let start = self.first + ((u128::from(hash) * buckets as u128) >> 64) as usize * BUCKET;
        self.slots.get(start..start + BUCKET).unwrap_or_default()
    }
}

/// Score, move, generation, depth, bound, from the low bits up.
pub(crate) fn pack(entry: TableEntry, generation: u16) -> u64 {
    let bound = match entry.bound {
        Bound::Upper => 1,
        Bound::Lower => 2,
        Bound::Exact => 3,
    };
    u64::from(entry.score.raw() as u16)
        | u64::from(entry.best.code()) << 16
        | u64::from(generation) << 32
        | u64::from(entry.depth) << 48
        | bound << 56
}

const fn generation(data: u64) -> u16 {
    (data >> 32) as u16
}

const fn depth(data: u64) -> u8 {
    (data >> 48) as u8
}

pub(crate) fn unpack(data: u64) -> Option<TableEntry> {
    let bound = match data >> 56 {
        1 => Bound::Upper,
        2 => Bound::Lower,
        3 => Bound::Exact,
        _ => return None,
    };
    let score = Score::from_raw(data as u16 as i16)?;
    Some(TableEntry {
        score,
        bound,
        depth: depth(data),
        best: Move::new((data >> 16) as u16),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = TableEntry> {
        let bound = prop_oneof![Just(Bound::Upper), Just(Bound::Lower), Just(Bound::Exact)];
        (-32_001i16..=32_001, bound, 0u8..=100, any::<u16>()).prop_map(
            |(raw, bound, depth, code)| {
                let score = Score::from_raw(raw).expect("within the range of scores");
                TableEntry {
                    score,
                    bound,
                    depth,
                    best: Move::new(code),
                }
            },
        )
    }

    proptest! {
        #[test]
        fn entries_last_until_the_next_question(entry in entry(), hash in any::<u64>()) {
            let mut table = TranspositionTable::new(1 << 10);
            table.begin();
            table.put(hash, entry);
            prop_assert_eq!(table.get(hash), Some(entry));
            prop_assert_eq!(table.get(hash ^ 1), None);
            table.proceed();
            prop_assert_eq!(table.get(hash), Some(entry));
            table.begin();
            prop_assert_eq!(table.get(hash), None);
        }

        #[test]
        fn deep_new_entries_replace_old_ones_first(
            entry in entry(),
            low in prop::collection::hash_set(1..u64::MAX >> 40, 3),
        ) {
            let mut table = TranspositionTable::new(1 << 10);
            table.begin();
            let [old, kept, new] = <[u64; 3]>::try_from(low.into_iter().collect::<Vec<_>>())
                .expect("three");
            table.put(old, TableEntry { depth: 9, ..entry });
            table.proceed();
            table.put(kept, TableEntry { depth: 5, ..entry });
            table.put(new, entry);
            prop_assert_eq!(table.get(old), None);
            prop_assert!(table.get(kept).is_some() && table.get(new).is_some());
        }

        #[test]
        fn growing_keeps_entries(
            // The high byte keeps them in different buckets.
            entries in prop::collection::hash_map(any::<u8>(), (any::<u32>(), entry()), 1..200),
            nodes in any::<u32>(),
        ) {
            let mut table = TranspositionTable::new(3 << 20);
            table.begin();
            let hash = |high: &u8, low: &u32| u64::from(*high) << 56 | u64::from(*low);
            for (high, (low, entry)) in &entries {
                table.put(hash(high, low), *entry);
            }
            let before = table.bucket(u64::MAX).as_ptr();
            table.grow(nodes.into());
            for (high, (low, entry)) in &entries {
                prop_assert_eq!(table.get(hash(high, low)), Some(*entry));
            }
            let is_larger = table.bucket(u64::MAX).as_ptr() > before;
            let wanted = u64::from(nodes) * SLOTS_PER_NODE;
            prop_assert_eq!(is_larger, wanted > (FIRST_BUCKETS * BUCKET) as u64);
            table.grow(u64::MAX);
            let last = table.bucket(u64::MAX).as_ptr_range().end;
            prop_assert!(table.slots.as_ptr_range().end.addr() - last.addr() <= size_of::<Slot>());
        }

        #[test]
        fn a_table_without_room_finds_nothing(entry in entry(), hash in any::<u64>()) {
            let table = TranspositionTable::new(0);
            table.put(hash, entry);
            prop_assert_eq!(table.get(hash), None);
        }
    }
}
