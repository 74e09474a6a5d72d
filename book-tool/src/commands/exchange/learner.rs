//! Learns the content of files, position by position.

use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, ensure};
use kagetsu_book::{Annotation, Book};
use kagetsu_formats::{BYTE_ORDER_MARK, Contents, PositionRecord};
use kagetsu_game::{Answer, Position, Variant};

use crate::commands::maintenance::conflicts::Conflicts;

/// The number of answers between two flushes to disk.
const SYNC_EVERY: u64 = 1_000;
/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// The content of files that a book has learned.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) read: u64,
    /// The number of skipped positions of other games.
    pub(super) others: u64,
    /// The number of new annotations.
    pub(super) annotations: usize,
    pub(super) conflicts: Conflicts,
    /// All positions of the book, and how many of them are new.
    pub(super) positions: u64,
    pub(super) new: u64,
}

/// Learns answers one by one.
pub(super) struct Learner<'a> {
    pub(super) book: &'a mut Book,
    /// The only game to learn from.
    pub(super) only: Option<Variant>,
    pub(super) learned: Learned,
    pub(super) interrupted: Arc<AtomicBool>,
}

impl Learner<'_> {
    pub(super) fn goes_on(&self) -> Result<()> {
        ensure!(
            !self.interrupted.load(Ordering::Relaxed),
            "interrupted; the same command again reads the rest"
        );
        Ok(())
    }

    pub(super) fn learn_all(&mut self, contents: &Contents) -> Result<()> {
        for (position, answer) in &contents.answers {
            self.learn(position, answer)?;
        }
        for (position, notes) in &contents.annotations {
            self.annotate(position, notes)?;
        }
        Ok(())
    }

    /// Adds what people wrote about a position.
    pub(super) fn annotate(&mut self, position: &Position, notes: &[Annotation]) -> Result<()> {
        self.goes_on()?;
        if self.only.is_none_or(|only| only == position.variant()) {
            self.learned.annotations += self.book.annotate(position, notes)?;
        }
        Ok(())
    }

    pub(super) fn learn(&mut self, position: &Position, answer: &Answer) -> Result<()> {
        self.goes_on()?;
        if self.only.is_some_and(|only| only != position.variant()) {
            self.learned.others += 1;
            return Ok(());
        }
        if let Some(known) = self.book.lookup(position)? {
            let conflicts = &mut self.learned.conflicts;
            conflicts.look(position, &known.facts, answer);
        }
        self.book.learn(position, answer)?;
        self.learned.read += 1;
        if self.learned.read.is_multiple_of(SYNC_EVERY) {
            self.book.syncer().sync()?;
        }
        Ok(())
    }
}

/// Learns positions as JSON, one a line.
pub(super) fn read_lines(
    source: &mut dyn BufRead,
    name: &str,
    learner: &mut Learner,
) -> Result<()> {
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let bytes = Read::take(&mut *source, MAX_LINE_BYTES).read_line(&mut line);
        if bytes.with_context(|| format!("{name}, line {number}"))? == 0 {
            break;
        }
        if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.trim().is_empty() {
            continue;
        }
        let whole = line.ends_with('\n') || (line.len() as u64) < MAX_LINE_BYTES;
        let record = if whole {
            line.parse::<PositionRecord>()
        } else {
            Err(anyhow!("the line is longer than {MAX_LINE_BYTES} bytes"))
        };
        let learned = record.and_then(|record| {
            let (position, answer) = record.decode()?;
            let notes = record.annotations(&position)?;
            // A position may have words alone.
            if notes.is_empty() || !answer.is_empty() {
                learner.learn(&position, &answer)?;
            }
            learner.annotate(&position, &notes)
        });
        learned.with_context(|| format!("{name}, line {number}"))?;
    }
    Ok(())
}
