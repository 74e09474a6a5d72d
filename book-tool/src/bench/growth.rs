use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kagetsu_book::{Book, BookOptions, Bounds, JobSpec, Policy};
use kagetsu_game::{Answer, Bound, Effort, Move, Position, Provenance, Question, Score, Variant, Verdict};
use serde::Serialize;

use crate::cli::write_json;

/// Moves that an answer speaks of, as many as a search looks at.
const CANDIDATES: usize = 40;
/// Moves of each position with an exact value, which are followed.
const WIDTH: u16 = 5;
/// Positions at hand at a time, and answers made durable together.
const AT_HAND: usize = 64;
/// Answers between two looks at how fast it goes.
const STEP: u64 = 50_000;

/// What growing a book costs besides searching: values that follow, places in the frontier, journal and disk
///
/// The book is made in the folder for temporary files and removed. Every value is derived again at the end, by the same
/// pass as `kagetsu check`.
///
/// Example: kagetsu bench growth --positions 1000000
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Positions of the book; of each, 40 moves by chance, 5 of them followed
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    positions: u64,
    /// Memory for the store's cache, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    cache_mib: u64,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    positions: u64,
    answers: u64,
    positions_per_second: f64,
    /// Of the last answers alone, when the book was largest.
    positions_per_second_at_the_end: f64,
    answer_median_us: f64,
    answer_99_us: f64,
    sync_ms: u64,
    pass_ms: u64,
    bytes_each: u64,
    memory_mib: Option<u64>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("kagetsu-bench-growth-{}", std::process::id()));
    let measured = measure(args, &folder);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let report = measured?;
    if args.json {
        return write_json(out, &report);
    }
    let Report { positions, answers, positions_per_second: rate, positions_per_second_at_the_end: end, .. } = report;
    writeln!(
        out,
        "{positions} positions of freestyle-15 grown from h8 by dropping out, from {answers} answers that took no time"
    )?;
    writeln!(
        out,
        "{rate:.0} positions a second, the last {STEP} answers {end:.0}; {} ms of it to make them durable",
        report.sync_ms
    )?;
    writeln!(
        out,
        "an answer, with all that follows from it: median {:.0} us, 99 % within {:.0} us",
        report.answer_median_us, report.answer_99_us
    )?;
    writeln!(out, "all values derived again, and all links and places checked: {} ms", report.pass_ms)?;
    let memory = report.memory_mib.map_or_else(String::new, |mib| format!(", {mib} MiB of memory at most"));
    writeln!(out, "{} bytes a position on disk{memory}", report.bytes_each)?;
    Ok(())
}

fn measure(args: &Args, folder: &Path) -> Result<Report> {
    let (mut book, _) = Book::open(folder, &BookOptions { create: true, cache_bytes: args.cache_mib << 20 })?;
    let variant = Variant::FREESTYLE_15;
    let job = book.create_job(&JobSpec {
        name: "growth".into(),
        variant,
        roots: [Position::from_line(variant, "h8")?].into(),
        policy: Policy::DropOut { alpha: 2.0 },
        bounds: Bounds::default(),
        effort: Effort::depth(1),
        width: WIDTH,
        max_ply: None,
        target: args.positions,
        split: false,
    })?;
    let (mut times, mut sync, mut laps) = (Vec::new(), Duration::ZERO, vec![(0, Duration::ZERO)]);
    let mut total = Duration::ZERO;
    loop {
        let begun = Instant::now();
        let works = book.next_work(job, AT_HAND)?;
        total += begun.elapsed();
        if works.is_empty() {
            break;
        }
        for work in &works {
            // What the engine would take is not the book's.
            let answer = answer(&work.question);
            let begun = Instant::now();
            book.finish(work, &answer)?;
            let took = begun.elapsed();
            total += took;
            times.push(took);
            if (times.len() as u64).is_multiple_of(STEP) {
                laps.push((book.len(), total));
            }
        }
        let begun = Instant::now();
        book.syncer().sync()?;
        let took = begun.elapsed();
        (sync, total) = (sync + took, total + took);
    }
    laps.push((book.len(), total));
    let begun = Instant::now();
    let checked = book.check(&mut |_| {})?;
    ensure!(checked.is_clean(), "the book is damaged: {:?}", checked.faults);
    let pass = begun.elapsed();
    let (positions, bytes) = (book.len(), book.bytes()?);
    book.close()?;
    times.sort_unstable();
    let micros = |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6);
    let rate = |positions: u64, time: Duration| positions as f64 / time.as_secs_f64().max(1e-9);
    // The lap before the last is a whole one.
    let at = laps.len().saturating_sub(if laps.len() > 2 { 2 } else { 1 });
    let (from, to) = (laps[at - 1], laps[at]);
    Ok(Report {
        positions,
        answers: times.len() as u64,
        positions_per_second: rate(positions, total),
        positions_per_second_at_the_end: rate(to.0 - from.0, to.1 - from.1),
        answer_median_us: micros(50),
        answer_99_us: micros(99),
        sync_ms: sync.as_millis() as u64,
        pass_ms: pass.as_millis() as u64,
        bytes_each: bytes / positions.max(1),
        memory_mib: memory(),
    })
}

/// What Linux says of this process.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib >> 10)
}

/// Values out of the position's key: the same every time.
fn answer(question: &Question) -> Answer {
    let moves = if question.moves.is_empty() { question.position.legal_moves() } else { question.moves.clone() };
    let seed = question.position.key().0 as u64;
    let mix = |m: Move| (seed ^ u64::from(m.code())).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut valued: Vec<(u64, Move)> = moves.into_iter().map(|m| (mix(m), m)).collect();
    valued.sort_unstable();
    valued.truncate(CANDIDATES);
    let worst = 8 * i32::from(question.width);
    let verdict = |(rank, (_, m)): (usize, (u64, Move))| {
        let is_exact = rank < usize::from(question.width);
        let (score, bound) = if is_exact { (-8 * rank as i32, Bound::Exact) } else { (-worst, Bound::Upper) };
        let line = if is_exact { vec![m] } else { Vec::new() };
        let by = Provenance { engine: "no time 1".into(), day: 20_000 };
        (m, Verdict { score: Score::opinion(score), bound, depth: 1, nodes: 50, line, proof: None, by })
    };
    valued.into_iter().enumerate().map(verdict).collect()
}
