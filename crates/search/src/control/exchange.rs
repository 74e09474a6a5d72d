//! Several engines that search the same question, each with a table of its own, and tell each other what they learn.
//!
//! As in ABDADA (Weill, "The ABDADA distributed minimax search algorithm", ICCA Journal 19(1), 1996) each searches all of it, puts
//! off what another is at work on, and finds its result in the table when it comes back to it; but the tables are apart, and only
//! what took long is told. Values of the first line stand, too, once one has found them. Nothing here must arrive: an engine that
//! hears nothing searches alone.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::alphabeta::table::{self, Entry, Table};

/// What one engine says to the others; sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// A position, or a search of one to a depth.
    hash: u64,
    /// What its table has learned of the position, or that the search begins or ends.
    word: u64,
}

const BEGUN: u64 = 0;
const ENDED: u64 = 1;

impl Note {
    /// Bytes of one.
    pub const LEN: usize = 16;

    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.hash.to_le_bytes());
        bytes[8..].copy_from_slice(&self.word.to_le_bytes());
        bytes
    }

    /// As it was sent; any bytes are some note, and a wrong one does no more than a wrong entry of a table.
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

/// Searches of others that are remembered.
const BUSY: usize = 1 << 12;
/// Plies of the shallowest search that is told of, at first and at least, where members are more than [`FEW`].
const LEAST: (i32, i32) = (5, 4);
/// Of so many members each tells of searches a ply shallower: there are fewer to listen.
const FEW: u32 = 4;
/// Plies of iterations that take no time, and order the moves for all others.
const SHALLOW: u8 = 4;
/// Positions between two looks at how much was told.
const LOOK: u64 = 1 << 14;
/// Notes in so many positions that are told at most, and those of all members together to all others.
const MOST: (u64, u64) = (330, 22_000);
/// Notes that wait to be told or heard; beyond them they are dropped.
const WAITING: usize = 1 << 14;

/// One engine's end of it.
#[derive(Debug)]
pub(crate) struct Exchange {
    number: u32,
    is_alone: bool,
    /// Notes in so many positions that are enough.
    enough: u64,
    /// Plies of the shallowest search that is told of, and that can be.
    least: AtomicI32,
    lowest: i32,
    said: Mutex<Vec<Note>>,
    heard: Mutex<Vec<Note>>,
    has_news: AtomicBool,
    /// Positions visited and notes made since the last look.
    visited: AtomicU64,
    told: AtomicU64,
    /// What the others are at work on.
    busy: Box<[AtomicU64]>,
}

fn lock(notes: &Mutex<Vec<Note>>) -> MutexGuard<'_, Vec<Note>> {
    // Notes are whole between calls.
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Exchange {
    pub(crate) fn new(number: u32, of: u32) -> Self {
        let (most, all) = MOST;
        let deeper = if of > FEW { 0 } else { -1 };
        let of = u64::from(of.max(1));
        Self {
            number,
            is_alone: of <= 1,
            enough: (all / (of * of)).clamp(1, most),
            least: AtomicI32::new(LEAST.0 + deeper),
            lowest: LEAST.1 + deeper,
            said: Mutex::default(),
            heard: Mutex::default(),
            has_news: AtomicBool::new(false),
            visited: AtomicU64::new(0),
            told: AtomicU64::new(0),
            busy: (0..BUSY).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Whether there is nobody else.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Plies of the shallowest search that is told of.
    pub(crate) fn least(&self) -> i32 {
        self.least.load(Relaxed)
    }

    /// Whether this engine leaves out the iteration of so many plies, if the last has `deepest`. The last but one all do, for the
    /// last does not need it, and the one before that all but the first, from which they hear of it; the first none else, the
    /// others some, each others (as Stockfish's threads did), so that not all do the same. Who is alone leaves none out.
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
            (1..=1 + u8::from(self.number > 0)).contains(&left) && depth >= SHALLOW;
        is_before_last || at.is_some_and(|at| !((left + PHASES[at]) / SIZES[at]).is_multiple_of(2))
    }

    fn say(&self, hash: u64, word: u64) {
        let mut said = lock(&self.said);
        if said.len() < WAITING {
            said.push(Note { hash, word });
        }
        self.told.fetch_add(1, Relaxed);
    }

    pub(crate) fn learned(&self, hash: u64, entry: Entry) {
        self.say(hash, table::pack(entry, 0));
    }

    pub(crate) fn begun(&self, search: u64) {
        self.say(search, BEGUN);
    }

    pub(crate) fn ended(&self, search: u64) {
        self.say(search, ENDED);
    }

    /// Whether another engine is at work on a search, as far as is known.
    pub(crate) fn is_busy(&self, search: u64) -> bool {
        self.busy[search as usize % BUSY].load(Relaxed) == search
    }

    pub(crate) fn take_said(&self) -> Vec<Note> {
        std::mem::take(&mut *lock(&self.said))
    }

    pub(crate) fn hear(&self, notes: &[Note]) {
        for note in notes {
            let slot = &self.busy[note.hash as usize % BUSY];
            match note.word {
                BEGUN => slot.store(note.hash, Relaxed),
                ENDED if slot.load(Relaxed) == note.hash => slot.store(0, Relaxed),
                _ => {}
            }
        }
        let mut heard = lock(&self.heard);
        let room = WAITING.saturating_sub(heard.len());
        heard.extend(notes.iter().filter(|note| note.word > ENDED).take(room));
        self.has_news.store(!heard.is_empty(), Relaxed);
    }

    /// For who searches: takes what the others have found into the table.
    #[inline]
    pub(crate) fn listen(&self, table: &Table) {
        if self.has_news.load(Relaxed) {
            self.learn(table);
        }
    }

    #[cold]
    fn learn(&self, table: &Table) {
        self.has_news.store(false, Relaxed);
        let heard = std::mem::take(&mut *lock(&self.heard));
        for Note { hash, word } in heard {
            if let Some(entry) = table::unpack(word)
                // Of the same depth the later one, which was asked for with the later window.
                && table.get(hash).is_none_or(|known| known.depth <= entry.depth && !known.is_proof())
            {
                table.put(hash, entry);
            }
        }
    }

    /// Positions were visited: tells of shallower searches where little was told, of deeper ones alone where much was.
    pub(crate) fn visited(&self, nodes: u64) {
        let visited = self.visited.fetch_add(nodes, Relaxed) + nodes;
        if visited < LOOK {
            return;
        }
        self.visited.store(0, Relaxed);
        let told = self.told.swap(0, Relaxed) * LOOK / visited;
        let step = i32::from(told > self.enough) - i32::from(4 * told < self.enough);
        let least = (self.least() + step).clamp(self.lowest, 64);
        self.least.store(least, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Bound, Move, Score};
    use proptest::prelude::*;

    use super::*;

    fn entry(value: i32, depth: u8) -> Entry {
        Entry {
            score: Score::opinion(value),
            bound: Bound::Exact,
            depth,
            best: Move::new(7),
        }
    }

    /// What one says arrives at another, by way of bytes.
    fn pass(from: &Exchange, to: &Exchange) {
        let notes: Vec<Note> = from
            .take_said()
            .into_iter()
            .map(|note| Note::from_bytes(note.to_bytes()))
            .collect();
        to.hear(&notes);
    }

    #[test]
    fn what_one_learns_the_other_knows_unless_it_has_looked_deeper() {
        let (one, other) = (Exchange::new(0, 2), Exchange::new(1, 2));
        let mut table = Table::new(1 << 10);
        table.begin();
        // Far apart, as hashes are.
        let hashes = [1, 1 << 62, 3 << 62];
        table.put(hashes[1], entry(20, 9));
        table.put(hashes[2], entry(30, 6));
        for (hash, value, depth) in [(hashes[0], 10, 5), (hashes[1], 11, 8), (hashes[2], 12, 6)] {
            one.learned(hash, entry(value, depth));
        }
        pass(&one, &other);
        other.listen(&table);
        let known = hashes.map(|hash| table.get(hash).expect("it was told or known"));
        assert_eq!(known, [entry(10, 5), entry(20, 9), entry(12, 6)]);
        pass(&one, &other);
        assert!(!other.has_news.load(Relaxed), "nothing is said twice");
    }

    #[test]
    fn a_search_is_busy_from_its_beginning_to_its_end() {
        let (one, other) = (Exchange::new(0, 2), Exchange::new(1, 2));
        one.begun(77);
        pass(&one, &other);
        assert!(other.is_busy(77) && !other.is_busy(78) && !one.is_busy(77));
        one.ended(77);
        pass(&one, &other);
        assert!(!other.is_busy(77));
    }

    #[test]
    fn what_nobody_fetches_does_not_grow() {
        let exchange = Exchange::new(0, 2);
        (0..WAITING as u64 + 100).for_each(|hash| exchange.learned(hash, entry(1, 9)));
        let notes = exchange.take_said();
        assert_eq!(notes.len(), WAITING);
        (0..3).for_each(|_| exchange.hear(&notes));
        assert_eq!(lock(&exchange.heard).len(), WAITING);
    }

    #[test]
    fn who_says_much_soon_says_less_and_more_again() {
        let exchange = Exchange::new(0, 32);
        let talk = |notes: u64| {
            (0..notes).for_each(|hash| exchange.learned(hash, entry(1, 9)));
            exchange.take_said();
            exchange.visited(LOOK);
            exchange.least()
        };
        assert_eq!([talk(500), talk(500), talk(500)], [6, 7, 8]);
        assert_eq!([talk(0), talk(0)], [7, 6]);
        (0..9).for_each(|_| _ = talk(0));
        assert_eq!(exchange.least(), LEAST.1);
        assert_eq!(
            [1, FEW, FEW + 1].map(|of| Exchange::new(0, of).least()),
            [4, 4, 5]
        );
    }

    #[test]
    fn all_search_the_last_iteration_few_those_before_and_no_two_neighbours_the_same() {
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
        fn any_bytes_are_a_note_and_do_no_harm(bytes in any::<[u8; Note::LEN]>(), more in any::<[u8; Note::LEN]>()) {
            let note = Note::from_bytes(bytes);
            prop_assert_eq!(note.to_bytes(), bytes);
            let exchange = Exchange::new(1, 3);
            exchange.hear(&[note, Note::from_bytes(more)]);
            let mut table = Table::new(1 << 10);
            table.begin();
            exchange.listen(&table);
        }
    }
}
