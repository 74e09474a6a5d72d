use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use kagetsu_book::{Book, BookOptions, BuildSpec, Compiled, JobSpec, Syncer};
use kagetsu_game::{
    Answer, Bound, Key, Move, Position, Provenance, Question, Score, Variant, Verdict,
};
use kagetsu_postgres::{BookLease, BookUrl, PostgresJournal};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde::Serialize;

use kagetsu_terminal::json::write_json;

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
    /// Keeps the journal in this book of a PostgreSQL database, which must not have it yet
    // A parser of clap would show a wrong address with its password.
    #[arg(long, value_name = "URL")]
    journal: Option<String>,
    /// Lets a second process' part, a follower, apply the journal of the database meanwhile
    #[arg(long, requires = "journal")]
    follower: bool,
    /// Memory for the store's cache, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    cache_mib: u64,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// How far a follower was behind what was committed.
#[derive(Serialize)]
struct FollowerLag {
    entries_median: u64,
    entries_99: u64,
    /// From the last commit until the follower had all entries.
    end_ms: u64,
    /// CPU time of the follower's thread.
    cpu_us_each: f64,
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
    sync_ms_each: f64,
    sync_median_ms: f64,
    sync_99_ms: f64,
    /// How far a follower was behind what was committed.
    follower: Option<FollowerLag>,
    pass_ms: u64,
    close_ms: u64,
    open_ms: u64,
    bytes_each: u64,
    journal_bytes_each: u64,
    /// While it grew, and at most afterwards.
    memory_mib: Option<u64>,
    memory_after_mib: Option<u64>,
    compile_ms: u64,
    compiled_bytes_each: f64,
    compiled_open_ms: f64,
    compiled_lookup_ns: f64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("kagetsu-bench-growth-{}", std::process::id()));
    let measured = measure(args, &folder);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let report = measured?;
    if args.json {
        return write_json(out, &report);
    }
    write!(out, "{report}")?;
    Ok(())
}

impl std::fmt::Display for GrowthReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            positions,
            answers,
            positions_per_second: rate,
            positions_per_second_at_the_end: end,
            ..
        } = self;
        writeln!(
            f,
            "{positions} positions of freestyle-15 grown from h8 by dropping out, from {answers} answers that took no time"
        )?;
        let cpu = self.cpu_us_each;
        writeln!(
            f,
            "{rate:.0} positions a second, the last {STEP} answers {end:.0}; {cpu:.0} us of CPU each in the growing thread"
        )?;
        let (syncs, each) = (self.syncs, self.sync_ms_each);
        writeln!(
            f,
            "the journal made durable {syncs} times meanwhile, {each:.1} ms each; median {:.1} ms, \
             99 % within {:.1} ms",
            self.sync_median_ms, self.sync_99_ms
        )?;
        if let Some(lag) = &self.follower {
            writeln!(
                f,
                "a follower was {} entries behind (median; 99 % within {}), and had all {} ms after the last commit; \
                 {:.0} us of CPU a position",
                lag.entries_median, lag.entries_99, lag.end_ms, lag.cpu_us_each
            )?;
        }
        let (median, most) = (self.answer_median_us, self.answer_99_us);
        let longest = self.answer_longest_ms;
        writeln!(
            f,
            "an answer, with all that follows from it: median {median:.0} us, 99 % within {most:.0} us, the longest {longest:.0} ms"
        )?;
        writeln!(
            f,
            "all values derived again, and all links and places checked: {} ms",
            self.pass_ms
        )?;
        writeln!(
            f,
            "closed in {} ms, opened again in {} ms",
            self.close_ms, self.open_ms
        )?;
        let journal = self.journal_bytes_each;
        writeln!(
            f,
            "{} bytes a position on disk, {journal} of them the journal",
            self.bytes_each
        )?;
        if let Some((grown, after)) = self.memory_mib.zip(self.memory_after_mib) {
            writeln!(
                f,
                "{grown} MiB of memory at most while it grew, {after} MiB in all"
            )?;
        }
        let (bytes, ms, ns) = (
            self.compiled_bytes_each,
            self.compiled_open_ms,
            self.compiled_lookup_ns,
        );
        writeln!(
            f,
            "compiled in {} ms: {bytes:.1} bytes a position, opened in {ms:.2} ms",
            self.compile_ms
        )?;
        writeln!(
            f,
            "a look-up of one of its positions by key, warm, all moves read: {ns:.0} ns"
        )
    }
}

fn measure(args: &Args, folder: &Path) -> Result<GrowthReport> {
    let (mut book, _lease) = open(args, folder, true)?;
    ensure!(
        book.is_empty(),
        "the book of --journal has positions already; give another name"
    );
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
            positions: Some(args.positions),
            ..BuildSpec::default()
        },
    })?;
    let (mut times, mut laps, mut keys) = (Vec::new(), vec![(0, Duration::ZERO)], Vec::new());
    let committed = Arc::new(AtomicU64::new(0));
    let (durable, syncs) = syncing(book.syncer(), Arc::clone(&committed));
    let follower = follow(args, folder, &committed)?;
    let (mut total, mut engine) = (Duration::ZERO, Duration::ZERO);
    let cpu_before = cpu();
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
            let key = work.question.position.key();
            engine += cpu().saturating_sub(before);
            let begun = Instant::now();
            book.finish(work, &answer)?;
            let took = begun.elapsed();
            total += took;
            times.push(took);
            keys.push(key);
            if (times.len() as u64).is_multiple_of(STEP) {
                laps.push((book.len(), total));
            }
        }
        if durable.send(()).is_err() {
            // The thread's own error says why it has ended.
            break;
        }
    }
    let cpu = cpu().saturating_sub(cpu_before).saturating_sub(engine);
    let begun = Instant::now();
    drop(durable);
    let mut syncs = syncs
        .join()
        .map_err(|_| anyhow!("the thread that makes the journal durable panicked"))??;
    total += begun.elapsed();
    laps.push((book.len(), total));
    let follower = follower
        .map(|follower| follower.end(book.len()))
        .transpose()?;
    let memory_mib = memory();
    let begun = Instant::now();
    let checked = book.check(&mut |_| {})?;
    ensure!(
        checked.is_clean(),
        "the book is damaged: {:?}",
        checked.faults
    );
    let pass = begun.elapsed();
    let positions = book.len();
    let begun = Instant::now();
    book.close()?;
    let close = begun.elapsed();
    let begun = Instant::now();
    let (book, _) = open(args, folder, false)?;
    let open = begun.elapsed();
    let bytes = book.bytes()?;
    let journal = folder.join("journal/000001.journal");
    let journal_bytes = std::fs::metadata(&journal).map_or(0, |file| file.len());
    let begun = Instant::now();
    let compiled = book.compile(&folder.join("bench.kbk"), &mut |_| {})?;
    let compile = begun.elapsed();
    let begun = Instant::now();
    let file = Compiled::open(&folder.join("bench.kbk"))?;
    let compiled_open = begun.elapsed();
    let lookup = lookup(&file, &mut keys)?;
    times.sort_unstable();
    syncs.sort_unstable();
    let sync_ms = |share: usize| {
        syncs
            .get(syncs.len() * share / 100)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let micros = |share: usize| {
        times
            .get(times.len() * share / 100)
            .map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let rate = |positions: u64, time: Duration| positions as f64 / time.as_secs_f64().max(1e-9);
    // The lap before the last is a whole one.
    let at = laps
        .len()
        .saturating_sub(if laps.len() > 2 { 2 } else { 1 });
    let (from, to) = (laps[at - 1], laps[at]);
    Ok(GrowthReport {
        positions,
        answers: times.len() as u64,
        positions_per_second: rate(positions, total),
        positions_per_second_at_the_end: rate(to.0 - from.0, to.1 - from.1),
        cpu_us_each: cpu.as_secs_f64() * 1e6 / positions.max(1) as f64,
        answer_median_us: micros(50),
        answer_99_us: micros(99),
        answer_longest_ms: times.last().map_or(0.0, |time| time.as_secs_f64() * 1e3),
        syncs: syncs.len() as u64,
        sync_ms_each: syncs.iter().sum::<Duration>().as_secs_f64() * 1e3
            / syncs.len().max(1) as f64,
        sync_median_ms: sync_ms(50),
        sync_99_ms: sync_ms(99),
        follower,
        pass_ms: pass.as_millis() as u64,
        close_ms: close.as_millis() as u64,
        open_ms: open.as_millis() as u64,
        bytes_each: bytes / positions.max(1),
        journal_bytes_each: journal_bytes / positions.max(1),
        memory_mib,
        memory_after_mib: memory(),
        compile_ms: compile.as_millis() as u64,
        compiled_bytes_each: compiled.bytes as f64 / positions.max(1) as f64,
        compiled_open_ms: compiled_open.as_secs_f64() * 1e3,
        compiled_lookup_ns: lookup,
    })
}

/// Time for which the bench holds the lease of a book in a database.
const BENCH_LEASE: Duration = Duration::from_secs(24 * 3600);

/// The lease of a book, given back on drop.
struct GrowthLease(BookLease);

impl Drop for GrowthLease {
    fn drop(&mut self) {
        // A lease that cannot be given back ends by itself.
        let _ = self.0.release();
    }
}

/// Opens the book of the bench, with its journal in the folder or in a database. Takes the lease of
/// a book that is made.
fn open(args: &Args, folder: &Path, create: bool) -> Result<(Book, Option<GrowthLease>)> {
    let options = BookOptions {
        create,
        cache_bytes: args.cache_mib << 20,
    };
    let Some(url) = args.journal.as_deref() else {
        return Ok((Book::open(folder, &options)?.0, None));
    };
    let url = &BookUrl::parse(url)?;
    let journal = PostgresJournal::create(url)?;
    let mut lease = None;
    if create {
        let own = journal.lease();
        let taken = own.acquire("", BENCH_LEASE)?;
        taken.with_context(|| format!("another process leads {url}"))?;
        lease = Some(GrowthLease(own));
    }
    let (book, _) = Book::open_journal(folder, Box::new(journal), &options)?;
    Ok((book, lease))
}

/// Entries that a follower applies at a time, as a coordinator does.
const FOLLOW_ENTRIES: usize = 1024;
/// Time between two looks of a follower that has all entries.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(20);

/// A follower of the book on a thread of its own.
struct Follower {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<(Vec<u64>, Duration)>>,
}

impl Follower {
    /// Waits until it has all entries.
    fn end(self, positions: u64) -> Result<FollowerLag> {
        let begun = Instant::now();
        self.is_over.store(true, Ordering::Release);
        let (mut lags, cpu) = self
            .thread
            .join()
            .map_err(|_| anyhow!("the follower panicked"))??;
        let end_ms = begun.elapsed().as_millis() as u64;
        lags.sort_unstable();
        let lag = |share: usize| lags.get(lags.len() * share / 100).copied().unwrap_or(0);
        Ok(FollowerLag {
            entries_median: lag(50),
            entries_99: lag(99),
            end_ms,
            cpu_us_each: cpu.as_secs_f64() * 1e6 / positions.max(1) as f64,
        })
    }
}

/// Starts a follower, if it is asked for.
fn follow(args: &Args, folder: &Path, committed: &Arc<AtomicU64>) -> Result<Option<Follower>> {
    let Some(url) = args.journal.as_deref().filter(|_| args.follower) else {
        return Ok(None);
    };
    let url = &BookUrl::parse(url)?;
    let options = BookOptions {
        create: true,
        cache_bytes: args.cache_mib << 20,
    };
    let journal = PostgresJournal::open(url)?;
    let (mut book, _) = Book::open_journal(&folder.join("follower"), Box::new(journal), &options)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let (ends, committed) = (Arc::clone(&is_over), Arc::clone(committed));
    let thread = std::thread::spawn(move || {
        let (mut lags, before) = (Vec::new(), cpu());
        loop {
            let is_last = ends.load(Ordering::Acquire);
            let end = committed.load(Ordering::Acquire);
            if !is_last {
                lags.push(end.saturating_sub(book.sequence().0));
            }
            if book.catch_up(FOLLOW_ENTRIES)? == 0 {
                if is_last {
                    break;
                }
                std::thread::sleep(FOLLOW_INTERVAL);
            }
        }
        Ok((lags, cpu().saturating_sub(before)))
    });
    Ok(Some(Follower { is_over, thread }))
}

/// Starts a thread that syncs the journal on request, once for all requests that wait. It returns
/// the time of each sync.
fn syncing(
    syncer: Syncer,
    committed: Arc<AtomicU64>,
) -> (Sender<()>, JoinHandle<Result<Vec<Duration>>>) {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let mut times = Vec::new();
        while receiver.recv().is_ok() {
            while receiver.try_recv().is_ok() {}
            let begun = Instant::now();
            let last = syncer.sync()?;
            committed.store(last.0, Ordering::Release);
            times.push(begun.elapsed());
        }
        Ok(times)
    });
    (sender, thread)
}

/// Returns the nanoseconds of a look-up: each key once, in a random order, the best of three
/// rounds.
fn lookup(book: &Compiled, keys: &mut [Key]) -> Result<f64> {
    keys.shuffle(&mut StdRng::seed_from_u64(1));
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let (begun, mut sum) = (Instant::now(), 0_i64);
        for key in keys.iter() {
            let found = book
                .find(*key)?
                .context("the compiled book lacks a position")?;
            sum += found
                .moves()
                .flatten()
                .map(|m| i64::from(m.score.raw()))
                .sum::<i64>();
        }
        black_box(sum);
        least = least.min(begun.elapsed().as_secs_f64() * 1e9 / keys.len().max(1) as f64);
    }
    Ok(least)
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
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kib| kib >> 10)
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
    valued.truncate(CANDIDATES);
    let worst = 8 * i32::from(question.width);
    let verdict = |(rank, (_, m)): (usize, (u64, Move))| {
        let is_exact = rank < usize::from(question.width);
        let (score, bound) = if is_exact {
            (-8 * rank as i32, Bound::Exact)
        } else {
            (-worst, Bound::Upper)
        };
        let line = if is_exact { vec![m] } else { Vec::new() };
        let by = Provenance {
            engine: "no time 1".into(),
            day: 20_000,
        };
        (
            m,
            Verdict {
                score: Score::opinion(score),
                bound,
                depth: 1,
                nodes: 50,
                line,
                proof: None,
                by,
            },
        )
    };
    valued.into_iter().enumerate().map(verdict).collect()
}
