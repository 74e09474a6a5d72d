//! A book as a table with a row for each move: CSV, SQLite and Parquet.

mod columns;
pub(crate) mod csv;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod paths;
mod sqlite;

use std::fs::File;
use std::io::{self, Write};

use anyhow::{Context, Result};
use kagetsu_book::Book;
use kagetsu_game::Variant;

pub use self::columns::{COLUMNS, Column, ColumnKind};

use crate::omissions::Omissions;

/// The formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Csv,
    Sqlite,
    Parquet,
}

/// Writes the moves of a book as a table. Returns the number of positions.
///
/// Memory holds the values and ways of all positions, less than 100 bytes for each, and some parts
/// of the table.
pub(crate) fn write(
    format: TableFormat,
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    match format {
        TableFormat::Csv => csv::write(book, variant, out),
        TableFormat::Sqlite => {
            // SQLite seeks in its file, and `out` may be a pipe.
            let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
            let path = folder.path().join("table");
            let written = sqlite::write(book, variant, &path)?;
            let mut file = File::open(&path).context("cannot read the temporary table")?;
            io::copy(&mut file, out)?;
            Ok(written)
        }
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => parquet::write(book, variant, out),
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => anyhow::bail!(
            "this program was built without Parquet: build it with `cargo build --release \
             --package book-tool --features parquet`, or export sqlite or csv"
        ),
    }
}

#[cfg(test)]
mod tests;
