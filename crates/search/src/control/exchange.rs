//! Exchange of search results between engines that search the same question, each with its own
//! table.
//!
//! As in ABDADA (Weill, "The ABDADA distributed minimax search algorithm", ICCA Journal 19(1),
//! 1996), each engine searches the whole question, defers moves that another engine is searching,
//! and later finds their results in its table. The tables are separate, and only expensive results
//! are sent. Exact values of the principal variation are shared, too. Delivery is optional: an
//! engine that receives nothing searches alone.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

use crate::alphabeta::table::{self, TableEntry, TranspositionTable};
use parking_lot::Mutex;

/// A message from one engine to the others, of sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The hash of a position, or of its search to a depth.
    hash: u64,
    /// A packed table entry, or the start or end of a search.
    word: u64,
}

const BEGUN: u64 = 0;
const ENDED: u64 = 1;

impl Note {
    /// Length in bytes.
    pub const LEN: usize = 16;

    /// Encodes the note.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.hash.to_le_bytes());
        bytes[8..].copy_from_slice(&self.word.to_le_bytes());
        bytes
    }

    /// Decodes a note. Any bytes are valid; a wrong note harms no more than a wrong table entry.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [hash, word] = [0, 8].map(|at| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |chunk| u64::from_le_bytes(*chunk))
        });
        Self { hash, word }
    }
}

/// Slots for running searches of other engines.
const BUSY_SLOTS: usize = 1 << 12;
/// Initial and least depth of published searches, for teams of more than [`MAX_SMALL_TEAM`]
/// engines.
const MIN_SHARED_DEPTHS: (i32, i32) = (5, 4);
/// Largest team that publishes one ply shallower, because it has fewer receivers.
const MAX_SMALL_TEAM: u32 = 4;
/// Least depth of a skipped iteration. Shallower iterations cost nothing and order the moves.
const MIN_SKIPPED_DEPTH: u8 = 4;
/// Positions between two adjustments of the publishing depth.
const RATE_WINDOW_NODES: u64 = 1 << 14;
/// Most notes per window from one engine, and from all engines to all others.
const MAX_NOTES_PER_WINDOW: (u64, u64) = (330, 22_000);
/// Queued notes in either direction; further notes are dropped.
const MAX_QUEUED_NOTES: usize = 1 << 14;

/// One engine's side of the exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    number: u32,
    is_alone: bool,
    /// Target number of notes per window.
    target_rate: u64,
    /// Current and least depth of published searches.
    min_depth: AtomicI32,
    floor_depth: i32,
    outgoing: Mutex<Vec<Note>>,
    incoming: Mutex<Vec<Note>>,
    has_incoming: AtomicBool,
    /// Positions visited and notes sent since the last adjustment.
    visited: AtomicU64,
    sent: AtomicU64,
    /// Running searches of the other engines.
    busy: Box<[AtomicU64]>,
}

impl Exchange {
    pub(crate) fn new(number: u32, of: u32) -> Self {
        let (most, all) = MAX_NOTES_PER_WINDOW;
        let deeper = if of > MAX_SMALL_TEAM { 0 } else { -1 };
        let of = u64::from(of.max(1));
        Self {
            number,
            is_alone: of <= 1,
            target_rate: (all / (of * of)).clamp(1, most),
            min_depth: AtomicI32::new(MIN_SHARED_DEPTHS.0 + deeper),
            floor_depth: MIN_SHARED_DEPTHS.1 + deeper,
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
            has_incoming: AtomicBool::new(false),
            visited: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            busy: (0..BUSY_SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Whether no other engine takes part.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Returns the least depth of published searches.
    pub(crate) fn min_depth(&self) -> i32 {
        self.min_depth.load(Relaxed)
    }

    /// Whether this engine skips the iteration at `depth` of a search to `deepest`. All engines
    /// skip the last iteration but one; all but the first also skip the one before. The other
    /// engines skip staggered depths, as in Stockfish's Lazy SMP. An engine alone skips none.
    pub(crate) fn skips(&self, depth: u8, deepest: u8) -> bool {
        const SIZES: [u8; 20] = [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
        const PHASES: [u8; 20] = [0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7];
        let left = deepest.saturating_sub(depth);
        if left == 0 || self.is_alone {
            return false;
        }
        let at = (self.number as usize)
            .checked_sub(1)
            .map(|at| at % SIZES.len());
        let is_before_last =
            (1..=1 + u8::from(self.number > 0)).contains(&left) && depth >= MIN_SKIPPED_DEPTH;
        is_before_last || at.is_some_and(|at| !((left + PHASES[at]) / SIZES[at]).is_multiple_of(2))
    }

    fn send(&self, hash: u64, word: u64) {
        let mut outgoing = self.outgoing.lock();
        if outgoing.len() < MAX_QUEUED_NOTES {
            outgoing.push(Note { hash, word });
        }
        self.sent.fetch_add(1, Relaxed);
    }

    pub(crate) fn publish(&self, hash: u64, entry: TableEntry) {
        self.send(hash, table::pack(entry, 0));
    }

    pub(crate) fn search_started(&self, search: u64) {
        self.send(search, BEGUN);
    }

    pub(crate) fn search_ended(&self, search: u64) {
        self.send(search, ENDED);
    }

    /// Whether another engine is known to run this search.
    pub(crate) fn is_busy(&self, search: u64) -> bool {
        self.busy[search as usize % BUSY_SLOTS].load(Relaxed) == search
    }

    pub(crate) fn take_outgoing(&self) -> Vec<Note> {
        std::mem::take(&mut *self.outgoing.lock())
    }

    pub(crate) fn receive(&self, notes: &[Note]) {
        for note in notes {
            let slot = &self.busy[note.hash as usize % BUSY_SLOTS];
            match note.word {
                BEGUN => slot.store(note.hash, Relaxed),
                ENDED if slot.load(Relaxed) == note.hash => slot.store(0, Relaxed),
                _ => {}
            }
        }
        let mut incoming = self.incoming.lock();
        let room = MAX_QUEUED_NOTES.saturating_sub(incoming.len());
        incoming.extend(notes.iter().filter(|note| note.word > ENDED).take(room));
        self.has_incoming.store(!incoming.is_empty(), Relaxed);
    }

    /// Copies received notes into the table.
    #[inline]
    pub(crate) fn apply_incoming(&self, table: &TranspositionTable) {
        if self.has_incoming.load(Relaxed) {
            self.apply(table);
        }
    }

    #[cold]
    fn apply(&self, table: &TranspositionTable) {
        self.has_incoming.store(false, Relaxed);
        let incoming = std::mem::take(&mut *self.incoming.lock());
        for Note { hash, word } in incoming {
            if let Some(entry) = table::unpack(word)
                // At equal depth the later note wins, because it used the later window.
                && table.get(hash).is_none_or(|known| known.depth <= entry.depth && !known.is_proof())
            {
                table.put(hash, entry);
            }
        }
    }

    /// Counts visited positions, and adjusts the publishing depth to the rate of sent notes.
    pub(crate) fn visited(&self, nodes: u64) {
        let visited = self.visited.fetch_add(nodes, Relaxed) + nodes;
        if visited < RATE_WINDOW_NODES {
            return;
        }
        self.visited.store(0, Relaxed);
        let sent = self.sent.swap(0, Relaxed) * RATE_WINDOW_NODES / visited;
        let step = i32::from(sent > self.target_rate) - i32::from(4 * sent < self.target_rate);
        let min_depth = (self.min_depth() + step).clamp(self.floor_depth, 64);
        self.min_depth.store(min_depth, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Bound, Move, Score};
    use proptest::prelude::*;

    use super::*;

    fn entry(value: i32, depth: u8) -> TableEntry {
        TableEntry {
            score: Score::opinion(value),
            bound: Bound::Exact,
            depth,
            best: Move::new(7),
        }
    }

    /// Sends the outgoing notes of one engine to another, as bytes.
    fn pass(from: &Exchange, to: &Exchange) {
        let notes: Vec<Note> = from
            .take_outgoing()
            .into_iter()
            .map(|note| Note::from_bytes(note.to_bytes()))
            .collect();
        to.receive(&notes);
    }

    #[test]
    fn notes_enter_the_table_unless_it_knows_more() {
        let (one, other) = (Exchange::new(0, 2), Exchange::new(1, 2));
        let mut table = TranspositionTable::new(1 << 10);
        table.begin();
        // Distant values, so that they fall into different buckets.
        let hashes = [1, 1 << 62, 3 << 62];
        table.put(hashes[1], entry(20, 9));
        table.put(hashes[2], entry(30, 6));
        for (hash, value, depth) in [(hashes[0], 10, 5), (hashes[1], 11, 8), (hashes[2], 12, 6)] {
            one.publish(hash, entry(value, depth));
        }
        pass(&one, &other);
        other.apply_incoming(&table);
        let known = hashes.map(|hash| table.get(hash).expect("it was sent or known"));
        assert_eq!(known, [entry(10, 5), entry(20, 9), entry(12, 6)]);
        pass(&one, &other);
        assert!(
            !other.has_incoming.load(Relaxed),
            "nothing is outgoing twice"
        );
    }

    #[test]
    fn a_search_is_busy_from_its_beginning_to_its_end() {
        let (one, other) = (Exchange::new(0, 2), Exchange::new(1, 2));
        one.search_started(77);
        pass(&one, &other);
        assert!(other.is_busy(77) && !other.is_busy(78) && !one.is_busy(77));
        one.search_ended(77);
        pass(&one, &other);
        assert!(!other.is_busy(77));
    }

    #[test]
    fn queued_notes_are_bounded() {
        let exchange = Exchange::new(0, 2);
        (0..MAX_QUEUED_NOTES as u64 + 100).for_each(|hash| exchange.publish(hash, entry(1, 9)));
        let notes = exchange.take_outgoing();
        assert_eq!(notes.len(), MAX_QUEUED_NOTES);
        (0..3).for_each(|_| exchange.receive(&notes));
        assert_eq!(exchange.incoming.lock().len(), MAX_QUEUED_NOTES);
    }

    #[test]
    fn publishing_rate_adapts() {
        let exchange = Exchange::new(0, 32);
        let talk = |notes: u64| {
            (0..notes).for_each(|hash| exchange.publish(hash, entry(1, 9)));
            exchange.take_outgoing();
            exchange.visited(RATE_WINDOW_NODES);
            exchange.min_depth()
        };
        assert_eq!([talk(500), talk(500), talk(500)], [6, 7, 8]);
        assert_eq!([talk(0), talk(0)], [7, 6]);
        (0..9).for_each(|_| _ = talk(0));
        assert_eq!(exchange.min_depth(), MIN_SHARED_DEPTHS.1);
        assert_eq!(
            [1, MAX_SMALL_TEAM, MAX_SMALL_TEAM + 1].map(|of| Exchange::new(0, of).min_depth()),
            [4, 4, 5]
        );
    }

    #[test]
    fn members_skip_staggered_iterations() {
        for deepest in [12, 13, 100] {
            let skipped = |number, of| {
                let member = Exchange::new(number, of);
                (1..=deepest)
                    .filter(|&depth| member.skips(depth, deepest))
                    .collect::<Vec<_>>()
            };
            assert_eq!(skipped(0, 1), []);
            assert_eq!(skipped(0, 64), [deepest - 1]);
            for number in 1..64 {
                let skipped = |number| skipped(number, 64);
                assert!(
                    [deepest - 2, deepest - 1]
                        .iter()
                        .all(|depth| skipped(number).contains(depth))
                );
                assert!(!skipped(number).contains(&deepest));
                assert!(
                    skipped(number).len() + 2 < usize::from(deepest),
                    "{number} leaves out too much"
                );
                assert_ne!(skipped(number), skipped(number + 1), "{number}");
            }
        }
        assert!(
            !Exchange::new(0, 2).skips(1, 2),
            "what takes no time is not left out"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_stored_as_a_note(bytes in any::<[u8; Note::LEN]>(), more in any::<[u8; Note::LEN]>()) {
            let note = Note::from_bytes(bytes);
            prop_assert_eq!(note.to_bytes(), bytes);
            let exchange = Exchange::new(1, 3);
            exchange.receive(&[note, Note::from_bytes(more)]);
            let mut table = TranspositionTable::new(1 << 10);
            table.begin();
            exchange.apply_incoming(&table);
        }
    }
}
