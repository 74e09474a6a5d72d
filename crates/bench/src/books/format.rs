use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kagetsu_book::{Compact, Compiled, Compiler, Derived, Overview, Stats};
use kagetsu_game::{Answer, Bound, Key, Move, Provenance, Score, Verdict};
use serde::Serialize;

use super::folder;
use kagetsu_terminal::json::write_json;

/// Look-ups in each run.
const LOOKUPS: u64 = 1_000_000;
const RUNS: usize = 5;
/// Moves of a position of which the value is known.
const MOVES: u64 = 5;

/// Costs of books: look-ups in a compiled book; disk, memory, opening, checking and rebuilding of a
/// folder
///
/// Example: kagetsu bench book --positions 1000000 --folder-positions 100000
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Positions of the book, with five moves each; keys and values are random
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    positions: u64,
    /// Positions of the folder; 0 leaves it out
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=50_000_000))]
    folder_positions: u64,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

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
    /// As `best_ns`, where each look-up has to wait for what the one before has found.
    waited_ns: f64,
    absent_ns: f64,
    absent_least_ns: f64,
    open_ms: f64,
    check_ms: f64,
    /// One read that waits for the memory, in as many bytes as the file has: the least that a
    /// look-up can take.
    memory_ns: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<folder::FolderReport>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("kagetsu-bench-book-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // The folder comes first, because the system reports the largest memory of the process.
    let measured = || -> Result<CompiledReport> {
        let of_folder = match args.folder_positions {
            0 => None,
            positions => Some(folder::measure(positions, &folder)?),
        };
        Ok(CompiledReport {
            folder: of_folder,
            ..measure(args.positions, &folder.join("bench.kbk"))?
        })
    };
    let report = measured();
    std::fs::remove_dir_all(&folder)
        .with_context(|| format!("cannot remove {}", folder.display()))?;
    let report = report?;
    if args.json {
        return write_json(out, &report);
    }
    let CompiledReport {
        positions,
        bytes_each,
        found_ns,
        found_least_ns,
        best_ns,
        best_least_ns,
        ..
    } = report;
    let CompiledReport {
        waited_ns,
        absent_ns,
        absent_least_ns,
        open_ms,
        check_ms,
        memory_ns,
        ..
    } = report;
    if let Some(folder) = &report.folder {
        writeln!(out, "{folder}\n")?;
    }
    writeln!(
        out,
        "{positions} positions by chance with {MOVES} moves each, {bytes_each:.1} bytes a position"
    )?;
    writeln!(
        out,
        "{LOOKUPS} look-ups by key one after the other on one core, warm; {RUNS} runs"
    )?;
    writeln!(
        out,
        "value and best move: median {best_ns:.0} ns, least {best_least_ns:.0} ns"
    )?;
    writeln!(
        out,
        "and all other moves: median {found_ns:.0} ns, least {found_least_ns:.0} ns"
    )?;
    writeln!(
        out,
        "value and best move, asked when the one before is known: median {waited_ns:.0} ns"
    )?;
    writeln!(
        out,
        "absent: median {absent_ns:.0} ns, least {absent_least_ns:.0} ns"
    )?;
    writeln!(
        out,
        "one read that waits for the memory, of as many bytes: median {memory_ns:.0} ns"
    )?;
    writeln!(
        out,
        "opened in {open_ms:.2} ms, every byte checked in {check_ms:.0} ms"
    )?;
    Ok(())
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
    )?;
    let begun = Instant::now();
    let book = Compiled::open(path)?;
    let opened = begun.elapsed();
    let begun = Instant::now();
    let report = book.check(&mut |_| {});
    ensure!(
        report.is_clean(),
        "the book is damaged: {:?}",
        report.faults
    );
    let check = begun.elapsed();
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
        waited_ns: nanos(in_turn(&book, positions, of_best)?[RUNS / 2]),
        absent_ns: nanos(absent[RUNS / 2]),
        absent_least_ns: nanos(absent[0]),
        open_ms: opened.as_secs_f64() * 1e3,
        check_ms: check.as_secs_f64() * 1e3,
        memory_ns: memory(written.bytes)?,
        folder: None,
    })
}

fn nanos(run: Duration) -> f64 {
    run.as_secs_f64() * 1e9 / LOOKUPS as f64
}

/// Returns a number to add, so that the compiler keeps the look-up.
fn raw(score: Score) -> i64 {
    score.raw().into()
}

/// Returns the times of all runs, ascending. The results pass through `black_box`, so the compiler
/// keeps all of the work.
fn timed<T>(mut run: impl FnMut() -> Result<T>) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begun = Instant::now();
        black_box(run()?);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// Times look-ups one after the other, with `read` done on each result. The time to make the keys
/// does not count.
fn lookups(
    book: &Compiled,
    key_of: impl Fn(u64) -> Key,
    read: impl Fn(Compact<'_>) -> i64,
) -> Result<Vec<Duration>> {
    let keys: Vec<Key> = (0..LOOKUPS).map(key_of).collect();
    timed(|| {
        let mut total = 0;
        for key in &keys {
            total += book.find(*key)?.map_or(0, &read);
        }
        Ok(total)
    })
}

/// Times look-ups of positions that the book holds, each of which depends on the result before it.
/// The time to make a key, some nanoseconds, counts.
fn in_turn(
    book: &Compiled,
    positions: u64,
    read: impl Fn(Compact<'_>) -> i64,
) -> Result<Vec<Duration>> {
    timed(|| {
        let mut at = 0;
        for number in 0..LOOKUPS {
            let found = book.find(key(at))?.map_or(0, &read).cast_unsigned();
            at = ((u128::from(mix(found.wrapping_add(number << 32))) * u128::from(positions)) >> 64)
                as u64;
        }
        Ok(at)
    })
}

/// Returns the median nanoseconds of a read from so many bytes, where each read finds the address
/// of the next. The cache lines form one ring in a random order (Sattolo: "An algorithm to generate
/// a random cyclic permutation", 1986).
fn memory(bytes: u64) -> Result<f64> {
    const LINE: u64 = 64;
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line(u32);
    let lines = u32::try_from((bytes / LINE).max(1)).unwrap_or(u32::MAX);
    let mut ring: Vec<Line> = (0..lines).map(Line).collect();
    for at in (1..lines).rev() {
        let other = mix(at.into()) % u64::from(at);
        ring.swap(at as usize, other as usize);
    }
    let times = timed(|| Ok((0..LOOKUPS).fold(0, |at, _| ring[at as usize].0)))?;
    Ok(nanos(times[RUNS / 2]))
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
    let (chance, by) = (
        mix(!number),
        Provenance {
            engine: "bench".into(),
            day: 0,
        },
    );
    let verdict = |rank: u64| {
        let m = Move::new((chance.rotate_left(8 * rank as u32) % 225) as u16);
        let score = Score::opinion(chance as i32 % 300 - 12 * rank as i32);
        (
            m,
            Verdict {
                score,
                bound: Bound::Exact,
                depth: 8,
                nodes: 0,
                line: vec![m],
                proof: None,
                by: by.clone(),
            },
        )
    };
    let answer: Answer = (0..MOVES).map(verdict).collect();
    let best = answer.best().map(|(m, v)| (m, v.score));
    let score = best.map_or(Score::ZERO, |(_, score)| score);
    (
        Derived {
            score,
            proof: None,
            best: best.map(|(m, _)| m),
            depth: 9,
            is_open: false,
        },
        answer,
    )
}
