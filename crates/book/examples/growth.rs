//! Measures what growing a book costs besides searching: values, frontier, journal and disk.
//!
//! `cargo run --release -p kagetsu-book --example growth -- 1000000` grows freestyle-15 from h8 by
//! dropping out, from answers of 40 moves that take no time, of which 5 are followed. A thread
//! makes the journal durable meanwhile, as a coordinator's does. At the end the program derives
//! every value again, as `kagetsu check` does, closes the book, opens it again and compiles it. A
//! second number is the memory of the store's cache in MiB; 128 without it.

use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kagetsu_book::{Book, BookOptions, BuildSpec, Compilation, JobSpec, JournalSync};
use kagetsu_game::{Answer, Bound, Move, Position, Question, Variant, Verdict};

/// Moves that an answer speaks of, as many as a search looks at.
const CANDIDATES: usize = 40;
/// Moves of each position with an exact value, which are followed.
const WIDTH: u16 = 5;
/// Positions at hand at a time, and answers made durable together.
const AT_HAND: usize = 64;
/// Answers between two looks at how fast it goes.
const STEP: u64 = 50_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let positions = numbers.next().transpose()?.unwrap_or(100_000);
    let cache_mib = numbers.next().transpose()?.unwrap_or(128);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("book");
    let options = BookOptions {
        create: true,
        cache_bytes: cache_mib << 20,
    };
    let (mut book, _) = Book::open(&path, &options)?;
    let grown = grow(&mut book, positions)?;
    let memory_while_growing = memory();
    let begun = Instant::now();
    let is_clean = book.check(&mut |_| {})?.is_clean();
    let (pass, positions) = (begun.elapsed(), book.len());
    let begun = Instant::now();
    book.close()?;
    let close = begun.elapsed();
    let begun = Instant::now();
    let (book, _) = Book::open(&path, &options)?;
    let open = begun.elapsed();
    let begun = Instant::now();
    let compiled = book.compile(
        &folder.path().join("growth.kbk"),
        Compilation::default(),
        &mut |_| {},
    )?;
    let compile = begun.elapsed();
    let journal = std::fs::metadata(path.join("journal/000001.journal"))?.len();
    let rate = |positions: u64, time: Duration| positions as f64 / time.as_secs_f64().max(1e-9);
    let short = if grown.laps.len() > 2 { 2 } else { 1 };
    let at = grown.laps.len() - short;
    let (from, to) = (grown.laps[at - 1], grown.laps[at]);
    let each = |bytes: u64| bytes / positions.max(1);
    println!("positions {positions}, answers {}", grown.answers.len());
    println!("positions a second {:.0}", rate(positions, grown.total));
    println!(
        "positions a second at the end {:.0}",
        rate(to.0 - from.0, to.1 - from.1)
    );
    println!(
        "CPU of the growing thread, a position {:?}",
        grown.cpu / positions.max(1) as u32
    );
    for (name, times) in [("answer", &grown.answers), ("sync", &grown.syncs)] {
        let [median, late, longest] = [0.5, 0.99, 1.0].map(|share| quantile(times, share));
        println!("{name}: median {median:?}, 99th percentile {late:?}, longest {longest:?}");
    }
    println!("check {pass:?}, clean: {is_clean}; close {close:?}; open {open:?}");
    println!(
        "bytes a position {}, in the journal {}",
        each(book.bytes()?),
        each(journal)
    );
    println!(
        "compile {compile:?}, bytes a position {}",
        each(compiled.bytes)
    );
    if let Some((growing, most)) = memory_while_growing.zip(memory()) {
        println!("MiB of memory while it grew {growing}, at most {most}");
    }
    Ok(())
}

/// The times of a book's growth.
struct Growth {
    /// The time of each answer with all that follows from it, and of each sync, ascending.
    answers: Vec<Duration>,
    syncs: Vec<Duration>,
    /// Positions and the book's own time after every [`STEP`] answers, and at the end.
    laps: Vec<(u64, Duration)>,
    total: Duration,
    /// CPU time of the thread that grows the book, without the time to make up the answers.
    cpu: Duration,
}

fn grow(book: &mut Book, positions: u64) -> Result<Growth, Box<dyn Error>> {
    let variant = Variant::FREESTYLE_15;
    let job = book.create_job(&JobSpec {
        name: "growth".into(),
        variant,
        roots: [Position::from_line(variant, "h8")?].into(),
        exclude: [].into(),
        build: BuildSpec {
            alpha: 2.0,
            depth: Some(1),
            top: WIDTH,
            positions: Some(positions),
            ..BuildSpec::default()
        },
    })?;
    let (mut answers, mut laps) = (Vec::new(), vec![(0, Duration::ZERO)]);
    let (durable, syncs) = syncing(book.syncer());
    let (mut total, mut engine, before) = (Duration::ZERO, Duration::ZERO, cpu());
    loop {
        let begun = Instant::now();
        let works = book.next_work(job, AT_HAND)?;
        total += begun.elapsed();
        if works.is_empty() {
            break;
        }
        for work in &works {
            // The engine's time does not count as the book's.
            let before = cpu();
            let answer = answer(&work.question);
            engine += cpu().saturating_sub(before);
            let begun = Instant::now();
            book.finish(work, &answer)?;
            answers.push(begun.elapsed());
            total += begun.elapsed();
            if (answers.len() as u64).is_multiple_of(STEP) {
                laps.push((book.len(), total));
            }
        }
        if durable.send(()).is_err() {
            // The thread's own error says why it has ended.
            break;
        }
    }
    let cpu = cpu().saturating_sub(before).saturating_sub(engine);
    let begun = Instant::now();
    drop(durable);
    let mut syncs = syncs.join().map_err(|_| "the syncing thread panicked")??;
    total += begun.elapsed();
    laps.push((book.len(), total));
    answers.sort_unstable();
    syncs.sort_unstable();
    Ok(Growth {
        answers,
        syncs,
        laps,
        total,
        cpu,
    })
}

/// Starts a thread that syncs the journal on request, once for all requests that wait. It returns
/// the time of each sync.
fn syncing(
    syncer: Arc<dyn JournalSync>,
) -> (Sender<()>, JoinHandle<Result<Vec<Duration>, String>>) {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let mut times = Vec::new();
        while receiver.recv().is_ok() {
            while receiver.try_recv().is_ok() {}
            let begun = Instant::now();
            syncer.sync().map_err(|error| error.to_string())?;
            times.push(begun.elapsed());
        }
        Ok(times)
    });
    (sender, thread)
}

/// Returns the CPU time of this thread; 0 where the system does not say it as Linux does.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Returns the largest memory of this process, in MiB.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
}

/// Returns the time below which this share of ascending times lies.
fn quantile(times: &[Duration], share: f64) -> Duration {
    let at = (times.len() as f64 * share) as usize;
    let at = at.min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}

/// Values out of the position's key: the same every time.
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
    let width = i32::from(question.width);
    let ranked = valued.into_iter().take(CANDIDATES).zip(0..);
    ranked
        .map(|((_, m), rank)| made_up(m, -8 * rank.min(width), rank < width))
        .collect()
}

/// Returns a verdict that no search has found: exact with a line of the move, or an upper bound.
fn made_up(m: Move, score: i32, is_exact: bool) -> (Move, Verdict) {
    let (m, exact) = kagetsu_builders::opinion(m, score);
    let bound = Verdict {
        bound: Bound::Upper,
        line: Vec::new(),
        ..exact.clone()
    };
    (m, if is_exact { exact } else { bound })
}
