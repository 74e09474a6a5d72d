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

use anyhow::{Context, Result};
use kagetsu_book::Book;
use kagetsu_game::{Move, Variant};

pub use self::columns::{COLUMNS, Column, ColumnKind};

use self::columns::{Cell, Rows};
use self::paths::Paths;
use crate::omissions::{Omissions, is_exported};

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
        return write_rows(book, variant, Box::new(csv::CsvTable::begin(out)?));
    }
    // These formats seek in their file, and `out` may be a pipe.
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let path = folder.path().join("table");
    let written = write_rows(book, variant, writer_at(format, &path)?)?;
    let mut file = File::open(&path).context("cannot read the temporary table")?;
    io::copy(&mut file, out)?;
    Ok(written)
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

fn write_rows(
    book: &Book,
    variant: Option<Variant>,
    mut table: Box<dyn TableWriter + '_>,
) -> Result<(u64, Omissions)> {
    let scan = book.scan()?;
    let mut paths = Paths::of(book, &scan, variant)?;
    let (mut count, mut omissions) = (0, Omissions::new());
    for scanned in scan.entries() {
        let scanned = scanned?;
        let position = &scanned.entry.position;
        if !is_exported(position, variant, &mut omissions) {
            continue;
        }
        if position.variant().places_stones() {
            let verdicts = scanned.entry.facts.verdicts().iter();
            let followed = verdicts.zip(&scanned.in_book).filter(|(_, is_in)| **is_in);
            let moves: Vec<Move> = followed.map(|((m, _), _)| *m).collect();
            for (m, child) in moves.iter().zip(position.children(&moves)) {
                paths.note(scanned.key, *m, &child);
            }
        }
        let rows = Rows {
            scanned: &scanned,
            moves: paths.moves_to(position, scanned.key),
        };
        rows.each(&mut |cells| table.row(cells))?;
        count += 1;
    }
    table.end()?;
    Ok((count, omissions))
}

#[cfg(test)]
mod tests;
