//! Benchmarks of look-ups by key: `cargo bench -p kagetsu-compiled`.
//!
//! The books have random keys and values, with five moves for each position. They are warm. The
//! keys of the look-ups follow each other in no order.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kagetsu_compiled::{Compiled, Compiler, Derived, Overview, Stats};
use kagetsu_game::{Answer, Bound, Key, Move, Provenance, Score, Verdict};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const MOVES: usize = 5;
const SIZES: [usize; 3] = [20_000, 100_000, 1_000_000];
/// Keys of the look-ups, which are asked again and again.
const KEYS: usize = 1 << 20;

fn verdict(dice: &mut SmallRng, rank: i32) -> (Move, Verdict) {
    let m = Move::new(dice.random_range(0..225));
    let verdict = Verdict {
        score: Score::opinion(dice.random_range(-300..300) - 12 * rank),
        bound: Bound::Exact,
        depth: 2,
        nodes: 50,
        line: vec![m],
        proof: None,
        by: Provenance {
            engine: "bench".into(),
            day: 20_000,
        },
    };
    (m, verdict)
}

fn lookups(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    for positions in SIZES {
        let dice = &mut SmallRng::seed_from_u64(1);
        let keys: Vec<Key> = (0..positions).map(|_| Key(dice.random())).collect();
        let mut compiler = Compiler::default();
        for key in &keys {
            let answer: Answer = (0..MOVES as i32).map(|rank| verdict(dice, rank)).collect();
            let best = answer.best().map(|(m, verdict)| (m, verdict.score));
            let value = Derived {
                score: best.map_or(Score::ZERO, |(_, score)| score),
                proof: None,
                best: best.map(|(m, _)| m),
                depth: 9,
                is_open: false,
            };
            compiler.add(*key, &value, &answer).expect("possible");
        }
        let path = folder.path().join("bench.kbk");
        let (stats, overview) = (Stats::default(), Overview::default());
        compiler
            .write(&path, &stats, &overview, None)
            .expect("room");
        let book = Compiled::open(&path).expect("just written");
        let held: Vec<Key> = (0..KEYS)
            .map(|_| keys[dice.random_range(0..positions)])
            .collect();
        let absent: Vec<Key> = (0..KEYS).map(|_| Key(dice.random())).collect();
        let mut measure = |what: &str, keys: &[Key], read: &dyn Fn(Key)| {
            let mut next = keys.iter().cycle();
            criterion.bench_function(&format!("{positions} positions, {what}"), |bencher| {
                bencher.iter(|| read(*next.next().expect("a cycle has no end")));
            });
        };
        measure("value and best move", &held, &|key| {
            let found = book.find(key).expect("whole");
            black_box(found.map(|found| (found.value().best, found.value().score)));
        });
        measure("all moves", &held, &|key| {
            let found = book.find(key).expect("whole").expect("it is held");
            let scores = found.moves().flatten().map(|m| m.score.raw());
            black_box(scores.map(i64::from).sum::<i64>());
        });
        measure("absent", &absent, &|key| {
            black_box(book.find(key).expect("whole").is_some());
        });
    }
}

criterion_group!(benches, lookups);
criterion_main!(benches);
