//! A book as a table with a row for each move: CSV, SQLite and Parquet.

mod columns;
pub(crate) mod csv;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod sqlite;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::{Context, Result, anyhow};
use kagetsu_book::{Book, BookScan, ScannedEntry, StoredRecord};
use kagetsu_game::{Canonical, Move, Variant};
use rayon::prelude::*;

pub use self::columns::{COLUMNS, Column, ColumnKind};

use self::columns::{Cell, PositionRows};
use self::paths::Paths;
use crate::omissions::{Omissions, is_exported};

/// Records that all cores decode together.
const BATCH_RECORDS: usize = 1024;
/// Batches that wait for the thread that writes a file.
const WAITING_BATCHES: usize = 2;

/// A writer of one table format.
pub(crate) trait TableWriter {
    /// Writes the row of a move, a cell for each of [`COLUMNS`].
    fn row(&mut self, cells: &[Cell]) -> Result<()>;

    /// Finishes the file.
    fn end(self: Box<Self>) -> Result<()>;
}

/// The formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Csv,
    Sqlite,
    Parquet,
}

/// Writes the moves of a book as a table. Returns the number of positions.
///
/// Memory holds the scan of the book, about 50 bytes more for each position, and a group of rows.
pub(crate) fn write(
    format: TableFormat,
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    if format == TableFormat::Csv {
        csv::write_head(out)?;
        return each_batch(book, variant, &mut |batch| {
            let texts: Vec<Vec<u8>> = batch.par_iter().map(csv::render).collect();
            texts.iter().try_for_each(|text| Ok(out.write_all(text)?))
        });
    }
    // These formats seek in their file, and `out` may be a pipe.
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let path = folder.path().join("table");
    let (batches, received) = sync_channel(WAITING_BATCHES);
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| write_file(format, &path, received));
        let read = each_batch(book, variant, &mut |batch| {
            // The writer's own error says more.
            batches.send(batch).map_err(|_| anyhow!("no table"))
        });
        drop(batches);
        let written = writer.join();
        written.map_err(|_| anyhow!("the writer of the table panicked"))??;
        read
    })?;
    let mut file = File::open(&path).context("cannot read the temporary table")?;
    io::copy(&mut file, out)?;
    Ok(written)
}

/// Writes a file of the rows that it receives.
fn write_file(
    format: TableFormat,
    path: &Path,
    received: Receiver<Vec<PositionRows>>,
) -> Result<()> {
    let mut table = writer_at(format, path)?;
    for rows in received.into_iter().flatten() {
        rows.each(|cells| table.row(cells))?;
    }
    table.end()
}

fn writer_at(format: TableFormat, path: &Path) -> Result<Box<dyn TableWriter>> {
    match format {
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => Ok(Box::new(parquet::ParquetTable::create(path)?)),
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => anyhow::bail!(
            "this program was built without Parquet: build it with `cargo build --release \
             --package book-tool --features parquet`, or export sqlite or csv"
        ),
        TableFormat::Csv | TableFormat::Sqlite => Ok(Box::new(sqlite::SqliteTable::create(path)?)),
    }
}

/// A position with the positions of the book behind its moves.
struct FollowedEntry {
    scanned: ScannedEntry,
    behind: Vec<(Move, Canonical)>,
}

/// Decodes a record, on any thread.
fn follow(scan: &BookScan<'_>, record: &StoredRecord) -> Result<Option<FollowedEntry>> {
    let Some(scanned) = scan.decode(record)? else {
        return Ok(None);
    };
    let position = &scanned.entry.position;
    let behind = if position.variant().places_stones() {
        let verdicts = scanned.entry.facts.verdicts().iter();
        let followed = verdicts.zip(&scanned.in_book).filter(|(_, is_in)| **is_in);
        let moves: Vec<Move> = followed.map(|((m, _), _)| *m).collect();
        let children = position.children(&moves);
        moves.into_iter().zip(children).collect()
    } else {
        Vec::new()
    };
    Ok(Some(FollowedEntry { scanned, behind }))
}

/// Passes the rows of all positions in order, in batches that all cores make together. The way to a
/// position leads over earlier positions, so one thread notes the ways between.
fn each_batch(
    book: &Book,
    variant: Option<Variant>,
    write: &mut dyn FnMut(Vec<PositionRows>) -> Result<()>,
) -> Result<(u64, Omissions)> {
    let scan = book.scan()?;
    let mut paths = Paths::of(book, &scan, variant)?;
    let (mut count, mut omissions) = (0, Omissions::new());
    let mut records = scan.records();
    loop {
        let batch = records.by_ref().take(BATCH_RECORDS);
        let batch: Vec<StoredRecord> = batch.collect::<Result<_, _>>()?;
        if batch.is_empty() {
            return Ok((count, omissions));
        }
        let followed = batch.par_iter().map(|record| follow(&scan, record));
        let followed: Vec<Option<FollowedEntry>> = followed.collect::<Result<_>>()?;
        let mut exported = Vec::with_capacity(followed.len());
        for FollowedEntry { scanned, behind } in followed.into_iter().flatten() {
            if is_exported(&scanned.entry.position, variant, &mut omissions) {
                for (m, child) in &behind {
                    paths.note(scanned.key, *m, child);
                }
                exported.push(scanned);
            }
        }
        count += exported.len() as u64;
        let rows = exported.into_par_iter().map(|scanned| PositionRows {
            moves: paths.moves_to(&scanned.entry.position, scanned.key),
            scanned,
        });
        write(rows.collect())?;
    }
}

#[cfg(test)]
mod tests;
