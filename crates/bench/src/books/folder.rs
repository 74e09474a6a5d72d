//! The costs of a book's folder: disk, memory, opening, checking and rebuilding.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use kagetsu_book::{Book, BookOptions, backup};
use kagetsu_game::{Answer, Bound, Move, Position, Provenance, Score, Variant, Verdict};
use serde::Serialize;

/// Moves of an answer, as many as a search looks at.
const CANDIDATES: usize = 40;
/// Moves of an answer that have an exact value. The book follows them.
const WIDTH: usize = 5;
/// Positions between two syncs of the journal.
const SYNC_EVERY: u64 = 1_000;

#[derive(Serialize)]
pub(crate) struct FolderReport {
    positions: u64,
    /// Bytes on disk, the journal's among them.
    bytes_each: u64,
    journal_bytes_each: u64,
    learned_a_second: f64,
    checked_a_second: f64,
    open_ms: f64,
    /// Positions a second of a rebuild from the journal alone.
    rebuilt_a_second: f64,
    /// The largest memory of this process, where the system reports it.
    memory_mib: Option<u64>,
}

impl std::fmt::Display for FolderReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            positions,
            bytes_each,
            journal_bytes_each,
            learned_a_second,
            checked_a_second,
            open_ms,
            ..
        } = self;
        writeln!(
            f,
            "folder: {positions} positions of freestyle-15, {CANDIDATES} moves each, {WIDTH} of them followed"
        )?;
        writeln!(
            f,
            "{bytes_each} bytes a position on disk, {journal_bytes_each} of them the journal (and a backup)"
        )?;
        let rebuilt = self.rebuilt_a_second;
        writeln!(
            f,
            "a second: {learned_a_second:.0} learned, {checked_a_second:.0} checked, {rebuilt:.0} made anew"
        )?;
        let memory = self
            .memory_mib
            .map_or_else(|| "unknown".into(), |mib| format!("{mib} MiB"));
        write!(f, "opened in {open_ms:.0} ms; {memory} of memory at most")
    }
}

pub(crate) fn measure(positions: u64, folder: &Path) -> Result<FolderReport> {
    let [path, copy] = ["book", "copy"].map(|name| folder.join(name));
    let options = BookOptions {
        create: true,
        ..BookOptions::default()
    };
    let (mut book, _) = Book::open(&path, &options)?;
    let begun = Instant::now();
    let mut left = VecDeque::from([Position::start(Variant::FREESTYLE_15)]);
    while book.len() < positions {
        let Some(position) = left.pop_front() else {
            break;
        };
        let answer = answer(&position);
        book.learn(&position, &answer)?;
        // As many as are needed: they take more memory than the book.
        if left.len() as u64 + book.len() < positions {
            left.extend(
                answer
                    .verdicts()
                    .iter()
                    .take(WIDTH)
                    .filter_map(|(m, _)| position.play(*m).ok()),
            );
        }
        if book.len().is_multiple_of(SYNC_EVERY) {
            book.syncer().sync()?;
        }
    }
    let positions = book.len();
    let rate = |begun: Instant| positions as f64 / begun.elapsed().as_secs_f64();
    let learned_a_second = rate(begun);
    book.close()?;
    let begun = Instant::now();
    let (book, _) = Book::open(&path, &options)?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let report = book.check(&mut |_| {})?;
    ensure!(
        report.is_clean(),
        "the book is damaged: {:?}",
        report.faults
    );
    let checked_a_second = rate(begun);
    let bytes_each = book.bytes()? / positions.max(1);
    drop(book);
    let journal_bytes_each = backup(&path, &copy)?.bytes / positions.max(1);
    let begun = Instant::now();
    let (again, _) = Book::open(&copy, &options)?;
    ensure!(
        again.len() == positions,
        "made anew the book has {} positions",
        again.len()
    );
    let rebuilt_a_second = rate(begun);
    Ok(FolderReport {
        positions,
        bytes_each,
        journal_bytes_each,
        learned_a_second,
        checked_a_second,
        open_ms,
        rebuilt_a_second,
        memory_mib: memory_mib(),
    })
}

/// The most that this process ever had, as Linux tells it.
fn memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()
        .map(|kib| kib >> 10)
}

/// Values out of the position's key: the same every time, and nothing is computed for them.
fn answer(position: &Position) -> Answer {
    let seed = position.key().0 as u64;
    let mixed = |m: &Move| (seed ^ u64::from(m.code())).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut moves = position.legal_moves();
    moves.sort_by_key(mixed);
    moves.truncate(CANDIDATES);
    let by = Provenance {
        engine: "bench".into(),
        day: 20_000,
    };
    let verdict = |(rank, m): (usize, Move)| {
        let is_exact = rank < WIDTH;
        let (score, bound) = if is_exact {
            (-8 * rank as i32, Bound::Exact)
        } else {
            (-100, Bound::Upper)
        };
        let line = if is_exact { vec![m] } else { Vec::new() };
        let score = Score::opinion(score);
        (
            m,
            Verdict {
                score,
                bound,
                depth: 8,
                nodes: 50,
                line,
                proof: None,
                by: by.clone(),
            },
        )
    };
    moves.into_iter().enumerate().map(verdict).collect()
}
