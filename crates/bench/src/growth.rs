use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use kagetsu_book::{Book, BookOptions, BuildSpec, JobSpec, Syncer};
use kagetsu_game::{Answer, Move, Position, Question, Variant};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::Serialize;

use crate::report;
use crate::scratch::{Folder, made_up, quantile};

/// Moves that an answer speaks of, as many as a search looks at.
const CANDIDATES: usize = 40;
/// Moves of each position with an exact value, which are followed.
const WIDTH: u16 = 5;
/// Positions at hand at a time, and answers made durable together.
const AT_HAND: usize = 64;
/// Answers between two looks at how fast it goes.
const STEP: u64 = 50_000;

/// Costs of growing a book besides searching: values, frontier, journal and disk
///
/// The book lies in the folder for temporary files and is removed at the end. A thread syncs the
/// journal meanwhile, as a coordinator's does. At the end the program derives every value again, as
/// `kagetsu check` does, closes the book, opens it again and compiles it.
///
/// Example: kagetsu bench growth --positions 1000000
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Positions of the book, each with 40 random moves of which 5 are followed
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    positions: u64,
    /// Memory for the store's cache, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    cache_mib: u64,
}

#[derive(Serialize)]
struct GrowthReport {
    positions: u64,
    answers: u64,
    positions_per_second: f64,
    /// The rate of the last answers, when the book was largest.
    positions_per_second_at_the_end: f64,
    /// CPU time of the thread that grows the book, without the time to make up the answers.
    cpu_us_each: f64,
    answer_median_us: f64,
    answer_99_us: f64,
    answer_longest_ms: f64,
    syncs: u64,
    sync_median_ms: f64,
    sync_99_ms: f64,
    /// All values derived again, all links and places checked.
    pass_ms: f64,
    close_ms: f64,
    open_ms: f64,
    bytes_each: u64,
    journal_bytes_each: u64,
    /// While it grew, and at most afterwards.
    memory_mib: Option<u64>,
    memory_after_mib: Option<u64>,
    compile_ms: f64,
    compiled_bytes_each: f64,
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let method = format!(
        "Positions of freestyle-15 grown from h8 by dropping out, from answers of {CANDIDATES} \
         moves that take no time; a thread makes the journal durable. The end: the last {STEP} \
         answers. CPU: the growing thread. Pass: all values derived again, and all links and \
         places checked. Bytes on disk."
    );
    let folder = Folder::new()?;
    let report = measure(args, folder.path())?;
    report::write(out, is_json, &method, &report)
}

fn measure(args: &Args, folder: &Path) -> Result<GrowthReport> {
    let path = folder.join("book");
    let options = BookOptions {
        create: true,
        cache_bytes: args.cache_mib << 20,
    };
    let (mut book, _) = Book::open(&path, &options)?;
    let grown = grow(&mut book, args.positions)?;
    let memory_mib = memory();
    let (checked, pass_ms) = timed(|| book.check(&mut |_| {}))?;
    ensure!(
        checked.is_clean(),
        "the book is damaged: {:?}",
        checked.faults
    );
    let positions = book.len();
    let ((), close_ms) = timed(|| book.close())?;
    let ((book, _), open_ms) = timed(|| Book::open(&path, &options))?;
    let (compiled, compile_ms) = timed(|| book.compile(&folder.join("bench.kbk"), &mut |_| {}))?;
    let journal = std::fs::metadata(path.join("journal/000001.journal"))?.len();
    let rate = |positions: u64, time: Duration| positions as f64 / time.as_secs_f64().max(1e-9);
    let us = |share| quantile(&grown.answers, share).as_secs_f64() * 1e6;
    let sync_ms = |share| quantile(&grown.syncs, share).as_secs_f64() * 1e3;
    let (from, to) = grown.last_step();
    Ok(GrowthReport {
        positions,
        answers: grown.answers.len() as u64,
        positions_per_second: rate(positions, grown.total),
        positions_per_second_at_the_end: rate(to.0 - from.0, to.1 - from.1),
        cpu_us_each: grown.cpu.as_secs_f64() * 1e6 / positions.max(1) as f64,
        answer_median_us: us(0.5),
        answer_99_us: us(0.99),
        answer_longest_ms: us(1.0) / 1e3,
        syncs: grown.syncs.len() as u64,
        sync_median_ms: sync_ms(0.5),
        sync_99_ms: sync_ms(0.99),
        pass_ms,
        close_ms,
        open_ms,
        bytes_each: book.bytes()? / positions.max(1),
        journal_bytes_each: journal / positions.max(1),
        memory_mib,
        memory_after_mib: memory(),
        compile_ms,
        compiled_bytes_each: compiled.bytes as f64 / positions.max(1) as f64,
    })
}

/// Returns the result of a step and its milliseconds.
fn timed<T, E: Into<anyhow::Error>>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, f64)> {
    let begun = Instant::now();
    let result = step().map_err(Into::into)?;
    Ok((result, begun.elapsed().as_secs_f64() * 1e3))
}

/// The times of a book's growth.
struct Growth {
    /// The time of each answer with all that follows from it, and of each sync, ascending.
    answers: Vec<Duration>,
    syncs: Vec<Duration>,
    /// Positions and the book's own time after every [`STEP`] answers, and at the end.
    laps: Vec<(u64, Duration)>,
    total: Duration,
    cpu: Duration,
}

impl Growth {
    /// Returns the ends of the last whole step.
    fn last_step(&self) -> ((u64, Duration), (u64, Duration)) {
        let short = if self.laps.len() > 2 { 2 } else { 1 };
        let at = self.laps.len() - short;
        (self.laps[at - 1], self.laps[at])
    }
}

fn grow(book: &mut Book, positions: u64) -> Result<Growth> {
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
    let mut syncs = syncs
        .join()
        .map_err(|_| anyhow!("the thread that makes the journal durable panicked"))??;
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
fn syncing(syncer: Syncer) -> (Sender<()>, JoinHandle<Result<Vec<Duration>>>) {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let mut times = Vec::new();
        while receiver.recv().is_ok() {
            while receiver.try_recv().is_ok() {}
            let begun = Instant::now();
            syncer.sync()?;
            times.push(begun.elapsed());
        }
        Ok(times)
    });
    (sender, thread)
}

/// Returns the CPU time of this thread.
fn cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
        return Duration::ZERO;
    };
    let times = [usage.user_time(), usage.system_time()];
    times
        .into_iter()
        .map(|time| Duration::from_micros(time.num_microseconds().unsigned_abs()))
        .sum()
}

/// Returns the largest memory of this process, in MiB.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
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
