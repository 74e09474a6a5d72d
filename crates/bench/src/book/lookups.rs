use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use kagetsu_book::{Derived, Overview, Stats};
use kagetsu_compiled::{Compact, Compiled, Compiler};
use kagetsu_game::{Answer, Key, Move, Score};
use serde::Serialize;

use crate::report;
use crate::scratch::{Folder, made_up, timed};

/// Look-ups in each run.
const LOOKUPS: u64 = 1_000_000;
const RUNS: usize = 5;
/// Moves of a position of which the value is known.
const MOVES: u64 = 5;

#[derive(Serialize)]
struct CompiledReport {
    positions: u64,
    bytes_each: f64,
    /// Medians of the runs, and their least.
    found_ns: f64,
    found_least_ns: f64,
    /// The value and the best move alone.
    best_ns: f64,
    best_least_ns: f64,
    absent_ns: f64,
    absent_least_ns: f64,
    open_ms: f64,
    check_ms: f64,
}

/// Measures the look-ups of a compiled book that is made by chance.
pub(super) fn run(positions: u64, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let folder = Folder::new()?;
    let report = measure(positions, &folder.path().join("bench.kbk"))?;
    let method = format!(
        "A compiled book of positions by chance with {MOVES} moves each. {LOOKUPS} look-ups by key \
         one after the other on one core, warm; medians and least of {RUNS} runs. Found: all moves \
         are read. Best: the value and the best move alone."
    );
    report::write(out, is_json, &method, &report)
}

fn measure(positions: u64, path: &std::path::Path) -> Result<CompiledReport> {
    let mut compiler = Compiler::default();
    for number in 0..positions {
        let (value, answer) = known(number);
        compiler.add(key(number), &value, &answer)?;
    }
    let written = compiler.write(
        path,
        &Stats {
            positions,
            ..Stats::default()
        },
        &Overview::default(),
        None,
    )?;
    let (book, open_ms) = timed(|| Compiled::open(path))?;
    let (report, check_ms) = timed(|| anyhow::Ok(book.check(&mut |_| {})))?;
    ensure!(
        report.is_clean(),
        "the book is damaged: {:?}",
        report.faults
    );
    let held = |at| key(mix(at) % positions);
    let found = lookups(&book, held, |found| {
        found.moves().flatten().map(|m| m.score).map(raw).sum()
    })?;
    let of_best = |found: Compact<'_>| {
        found.value().best.map_or(0, |m| m.code().into()) + raw(found.value().score)
    };
    let best = lookups(&book, held, of_best)?;
    let absent = lookups(
        &book,
        |at| key(positions + at),
        |found| raw(found.value().score),
    )?;
    Ok(CompiledReport {
        positions,
        bytes_each: written.bytes as f64 / positions as f64,
        found_ns: nanos(found[RUNS / 2]),
        found_least_ns: nanos(found[0]),
        best_ns: nanos(best[RUNS / 2]),
        best_least_ns: nanos(best[0]),
        absent_ns: nanos(absent[RUNS / 2]),
        absent_least_ns: nanos(absent[0]),
        open_ms,
        check_ms,
    })
}

fn nanos(run: Duration) -> f64 {
    run.as_secs_f64() * 1e9 / LOOKUPS as f64
}

/// Returns a number to add, so that the compiler keeps the look-up.
fn raw(score: Score) -> i64 {
    score.raw().into()
}

/// Returns the times of all runs, ascending. Each run makes look-ups one after the other, with
/// `read` done on each result. The time to make the keys does not count. The results pass through
/// `black_box`, so the compiler keeps all of the work.
fn lookups(
    book: &Compiled,
    key_of: impl Fn(u64) -> Key,
    read: impl Fn(Compact<'_>) -> i64,
) -> Result<Vec<Duration>> {
    let keys: Vec<Key> = (0..LOOKUPS).map(key_of).collect();
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let (begun, mut total) = (Instant::now(), 0);
        for key in &keys {
            total += book.find(*key)?.map_or(0, &read);
        }
        black_box(total);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// Returns a pseudo-random number (Steele, Lea and Flood: "Fast splittable pseudorandom number
/// generators", 2014).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn key(number: u64) -> Key {
    Key(u128::from(mix(2 * number)) << 64 | u128::from(mix(2 * number + 1)))
}

fn known(number: u64) -> (Derived, Answer) {
    let chance = mix(!number);
    let verdict = |rank: u64| {
        let m = Move::new((chance.rotate_left(8 * rank as u32) % 225) as u16);
        made_up(m, chance as i32 % 300 - 12 * rank as i32, true)
    };
    let answer: Answer = (0..MOVES).map(verdict).collect();
    let best = answer.best().map(|(m, verdict)| (m, verdict.score));
    let value = Derived {
        score: best.map_or(Score::ZERO, |(_, score)| score),
        proof: None,
        best: best.map(|(m, _)| m),
        depth: 9,
        is_open: false,
    };
    (value, answer)
}
