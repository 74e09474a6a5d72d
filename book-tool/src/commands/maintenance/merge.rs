use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use kagetsu_book::Book;
use kagetsu_games::GameStore;
use kagetsu_program::{Exit, shown};
use serde::Serialize;

use crate::arguments::path::is_same;
use crate::commands::maintenance::conflicts::Conflicts;
use crate::output::OutputArgs;
use kagetsu_reader::{fill, read_book};

/// The number of answers between two flushes to disk.
const SYNC_EVERY: u64 = 1_000;
/// Merges the searched positions and the annotations of other books into one
///
/// For each move the stronger evidence stays: a proof, then the deeper search. The result does not
/// depend on the order of the books, and a second merge changes nothing. Contradictory proofs are
/// reported, the stronger one stays, and the exit code is 1. Jobs are not merged.
///
/// Example: kagetsu merge --into all.book h8.book h9.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the book that grows; it is created if missing
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The folders of the other books, which stay unchanged
    #[arg(value_name = "BOOK", required = true)]
    books: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Default, Serialize)]
struct MergeJson {
    read: u64,
    new: u64,
    changed: u64,
    positions: u64,
    /// Annotations that are new, or taken back; absent where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    annotations: usize,
    #[serde(flatten)]
    conflicts: Conflicts,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let mut done = MergeJson::default();
    if let Some(path) = args.books.iter().find(|path| is_same(path, &args.into)) {
        bail!(
            "{} is the book {} itself, and no book can be merged into itself",
            path.display(),
            args.into.display()
        );
    }
    // Positions merged before an error stay in the book.
    fill(&args.into, |into| {
        for path in &args.books {
            let book = read_book(path)?;
            bring(&book, into, &mut done).with_context(|| format!("merging {}", path.display()))?;
            done.annotations += into.merge_annotations(&book)?;
            GameStore::bring(path, &args.into)?;
        }
        done.positions = into.len();
        Ok(())
    })?;
    let exit = done.conflicts.exit();
    let out = &mut args.output.report(out, &done)?;
    done.conflicts.write(out)?;
    let (name, changed) = (shown(&args.into), done.changed);
    writeln!(
        out,
        "{name}: {} positions read, {} new, {changed} changed; {} in all",
        done.read, done.new, done.positions
    )?;
    if done.annotations > 0 {
        let count = done.annotations;
        writeln!(out, "{count} annotations are new or were taken back")?;
    }
    Ok(exit)
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Copies everything that was searched for `book` into another.
fn bring(book: &Book, into: &mut Book, done: &mut MergeJson) -> Result<()> {
    for entry in book.positions() {
        let entry = entry?;
        done.read += 1;
        let known = into.lookup(&entry.position)?.map(|known| known.facts);
        let mut merged = known.clone().unwrap_or_default();
        done.conflicts.look(&entry.position, &merged, &entry.facts);
        merged.merge(entry.facts.clone());
        if entry.facts.is_empty() || known.as_ref() == Some(&merged) {
            continue;
        }
        if known.is_some() {
            done.changed += 1
        } else {
            done.new += 1
        }
        into.learn(&entry.position, &entry.facts)?;
        if (done.new + done.changed).is_multiple_of(SYNC_EVERY) {
            into.syncer().sync()?;
        }
    }
    Ok(())
}
