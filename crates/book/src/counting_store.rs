//! A store that counts requests: what a store behind a network would be asked for.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kagetsu_game::{Answer, Bound, Move, Position, Provenance, Question, Score, Variant, Verdict};
use kagetsu_store::{Batch, Pairs, Store, StoreError};

use crate::{Book, BookOptions, BuildSpec, JobSpec};

/// Positions that are at hand at a time, as in `kagetsu bench growth`.
const AT_HAND: usize = 64;
/// Moves of an answer, and those with an exact value, which growth follows.
const MOVES: usize = 40;
const WIDTH: u16 = 5;
/// Positions of an ordinary run, and of a long one.
const POSITIONS: u64 = 300;
const MANY_POSITIONS: u64 = 20_000;

/// The requests of a store.
#[derive(Default)]
struct StoreRequests {
    gets: AtomicU64,
    found: AtomicU64,
    bytes_read: AtomicU64,
    ranges: AtomicU64,
    batches: AtomicU64,
    changes: AtomicU64,
    bytes_written: AtomicU64,
    /// Keys that were read since the last look, for a store that reads many at once.
    keys: Mutex<BTreeSet<Vec<u8>>>,
}

impl StoreRequests {
    fn keys(&self) -> MutexGuard<'_, BTreeSet<Vec<u8>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct CountingStore {
    inner: Box<dyn Store>,
    requests: Arc<StoreRequests>,
}

fn count(counter: &AtomicU64, more: usize) {
    counter.fetch_add(more as u64, Ordering::Relaxed);
}

impl Store for CountingStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.inner.get(key)?;
        count(&self.requests.gets, 1);
        count(&self.requests.found, usize::from(found.is_some()));
        let bytes = found.as_ref().map_or(0, |value| key.len() + value.len());
        count(&self.requests.bytes_read, bytes);
        self.requests.keys().insert(key.to_vec());
        Ok(found)
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Pairs<'a> {
        count(&self.requests.ranges, 1);
        self.inner.range(prefix, from)
    }

    fn split_points(&self, max: usize) -> Vec<Vec<u8>> {
        self.inner.split_points(max)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Store>, StoreError> {
        self.inner.snapshot()
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        count(&self.requests.batches, 1);
        count(&self.requests.changes, batch.0.len());
        let bytes = |(key, value): &(Vec<u8>, Option<Vec<u8>>)| {
            key.len() + value.as_ref().map_or(0, Vec::len)
        };
        count(
            &self.requests.bytes_written,
            batch.0.iter().map(bytes).sum(),
        );
        self.inner.apply(batch)
    }

    fn needs_maintenance(&self) -> bool {
        self.inner.needs_maintenance()
    }

    fn maintain(&mut self) -> Result<(), StoreError> {
        self.inner.maintain()
    }

    fn compact(&mut self) -> Result<(), StoreError> {
        self.inner.compact()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.inner.flush()
    }

    fn begin_flush(&mut self) -> Result<(), StoreError> {
        self.inner.begin_flush()
    }
}

/// Answers by values out of the position's key.
fn answer(question: &Question) -> Answer {
    let moves = if question.moves.is_empty() {
        question.position.legal_moves()
    } else {
        question.moves.clone()
    };
    let seed = question.position.key().0 as u64;
    let mix = |m: Move| (seed ^ u64::from(m.code())).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut valued: Vec<(u64, Move)> = moves.into_iter().map(|m| (mix(m), m)).collect();
    valued.sort_unstable();
    valued.truncate(MOVES);
    let verdict = |(rank, (_, m)): (usize, (u64, Move))| {
        let is_exact = rank < usize::from(WIDTH);
        let rank = rank.min(usize::from(WIDTH));
        let verdict = Verdict {
            score: Score::opinion(-8 * rank as i32),
            bound: if is_exact { Bound::Exact } else { Bound::Upper },
            depth: 1,
            nodes: 50,
            line: if is_exact { vec![m] } else { Vec::new() },
            proof: None,
            by: Provenance {
                engine: "no time 1".into(),
                day: 20_000,
            },
        };
        (m, verdict)
    };
    valued.into_iter().enumerate().map(verdict).collect()
}

fn grow(positions: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions {
        create: true,
        cache_bytes: 64 << 20,
    };
    let (mut book, _) = Book::open(folder.path(), &options).expect("opens");
    let requests = Arc::new(StoreRequests::default());
    let empty = kagetsu_store::LsmStore::create(&folder.path().join("unused"), 1 << 20);
    let inner = std::mem::replace(&mut book.store, Box::new(empty.expect("room")));
    book.store = Box::new(CountingStore {
        inner,
        requests: Arc::clone(&requests),
    });
    let variant = Variant::FREESTYLE_15;
    let job = book
        .create_job(&JobSpec {
            name: "counted".into(),
            variant,
            roots: [Position::from_line(variant, "h8").expect("legal")].into(),
            exclude: [].into(),
            build: BuildSpec {
                alpha: 2.0,
                depth: Some(1),
                top: WIDTH,
                positions: Some(positions),
                ..BuildSpec::default()
            },
        })
        .expect("a job");
    let (mut rounds, mut distinct) = (0_u64, 0_u64);
    requests.keys().clear();
    loop {
        let works = book.next_work(job, AT_HAND).expect("readable");
        if works.is_empty() {
            break;
        }
        for work in &works {
            book.finish(work, &answer(&work.question)).expect("room");
        }
        rounds += 1;
        distinct += std::mem::take(&mut *requests.keys()).len() as u64;
    }
    assert_eq!(book.len(), positions);
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    // The marker and the entry's rows go together, so a crash leaves a store of whole entries.
    assert_eq!(read(&requests.batches), book.sequence().0);
    let each = |count: u64| count as f64 / positions as f64;
    println!(
        "{positions} positions in {rounds} groups: {:.2} reads each ({:.2} found, {:.0} bytes), \
         {:.2} distinct keys each within a group, {:.2} ranges, {:.2} batches of {:.2} changes and \
         {:.0} bytes",
        each(read(&requests.gets)),
        each(read(&requests.found)),
        each(read(&requests.bytes_read)),
        each(distinct),
        each(read(&requests.ranges)),
        each(read(&requests.batches)),
        each(read(&requests.changes)),
        each(read(&requests.bytes_written)),
    );
}

#[test]
fn every_entry_is_one_batch_of_the_store() {
    grow(POSITIONS);
}

#[test]
#[ignore = "prints figures of a large book"]
fn requests_of_a_large_book_are_counted() {
    grow(MANY_POSITIONS);
}
