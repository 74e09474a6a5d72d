//! Grows a book with an engine that takes no time, and says what the book itself costs:
//! `cargo run --release -p kagetsu-book --example growth -- 20000`, with the MiB of cache after the positions.

use std::time::{Duration, Instant};

use kagetsu_book::{Book, BookError, BookOptions, JobSpec, Policy};
use kagetsu_game::{Answer, Bound, Effort, Move, Position, Provenance, Question, Score, Variant, Verdict};

/// Positions between two looks at the memory.
const STEP: u64 = 20_000;
/// Moves that an answer speaks of, as many as a search looks at.
const CANDIDATES: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let cache_mib: u64 = std::env::args().nth(2).map_or(Ok(64), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let (mut book, _) = Book::open(folder.path(), &BookOptions { create: true, cache_bytes: cache_mib << 20 })?;
    let variant: Variant = "freestyle-15".parse()?;
    let job = book.create_job(&JobSpec {
        name: "growth".into(),
        variant,
        roots: [Position::from_line(variant, "h8")?].into(),
        policy: Policy::DropOut { alpha: 2.0 },
        effort: Effort::depth(1),
        width: 5,
        max_ply: None,
        target,
        split: false,
    })?;
    let mut times = Vec::new();
    let mut sync = Duration::ZERO;
    loop {
        let begin = Instant::now();
        let works = book.next_work(job, 64)?;
        let next = begin.elapsed();
        if works.is_empty() {
            break;
        }
        let share = next / u32::try_from(works.len())?;
        for work in &works {
            let answer = answer(&work.question);
            let begin = Instant::now();
            book.finish(work, &answer)?;
            times.push(begin.elapsed() + share);
        }
        let begin = Instant::now();
        book.syncer().sync()?;
        sync += begin.elapsed();
        if book.len() % STEP < works.len() as u64 {
            println!("{} positions: {}", book.len(), memory());
        }
    }
    report(&book, times, sync)?;
    opening(book, folder.path())?;
    Ok(())
}

/// What Linux says of this process.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "nobody says how much memory".into(), |peak| format!("{} of memory at most", peak.trim()))
}

fn report(book: &Book, mut times: Vec<Duration>, sync: Duration) -> Result<(), BookError> {
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    println!("positions {}, answers {}", book.len(), times.len());
    println!("positions a second {:.0} ({:?} to sync)", book.len() as f64 / (total + sync).as_secs_f64(), sync);
    println!("an answer: median {:?}, 99 % {:?}", times[times.len() / 2], times[times.len() * 99 / 100]);
    let begin = Instant::now();
    let checked = book.check(&mut |_| {})?;
    let rate = checked.positions as f64 / begin.elapsed().as_secs_f64();
    println!("check: {} faults, {rate:.0} positions a second", checked.count);
    println!("bytes a position on disk {}", book.bytes()? / book.len().max(1));
    Ok(())
}

fn opening(book: Book, path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    book.close()?;
    let begin = Instant::now();
    let (book, _) = Book::open(path, &BookOptions::default())?;
    println!("opened in {:?}", begin.elapsed());
    drop(book);
    std::fs::remove_dir_all(path.join("store"))?;
    let begin = Instant::now();
    let (_, notices) = Book::open(path, &BookOptions::default())?;
    println!("{} in {:?}", notices.first().map_or_else(String::new, ToString::to_string), begin.elapsed());
    Ok(())
}

/// Values out of the position's key: the same every time, and nothing is computed for them.
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
