//! Books as files of other programs.

use std::io::Write;

use anyhow::{Context, Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Answer, Position, Variant};

use crate::format::Format;
use crate::games::book_tree;
use crate::gomoku::{hints, library, yixin, yxdb};
use crate::lists;
use crate::native::record::PositionRecord;
use crate::omissions::{Omissions, is_exported};
use crate::table::{self, TableFormat};
use crate::xiangqi::zobrist::{MISSING_KEYS, ZobristKeys};
use crate::xiangqi::{eleeye, obk, xqf};

/// Writes a book as a file of a format. Returns the number of positions written, and what the
/// format has no room for.
///
/// `variant` selects the positions of one game; by default a format of many games takes all, and a
/// format of one game takes that of the book's first position. A tree of SGF or PGN comes to `root`
/// by its moves, and one of XQF begins there. `zobrist` is for `Format::Obk`.
///
/// # Errors
/// If the format is for import only, does not hold the game, the book is damaged, or `out` fails.
pub fn export(
    format: Format,
    book: &Book,
    variant: Option<Variant>,
    root: Option<&Position>,
    zobrist: Option<&ZobristKeys>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    let streamed = |(count, omissions)| (Vec::new(), count, omissions);
    let (bytes, count, mut omissions) = match format {
        Format::Json => return write_records(book, variant, out),
        Format::Csv => streamed(table::write(TableFormat::Csv, book, variant, out)?),
        Format::Sqlite => streamed(table::write(TableFormat::Sqlite, book, variant, out)?),
        Format::Parquet => streamed(table::write(TableFormat::Parquet, book, variant, out)?),
        Format::Yxdb => {
            let (records, omissions) = yixin::records(book, variant)?;
            (yxdb::write(&records), records.len() as u64, omissions)
        }
        Format::Lib => library::write(book, one_game(book, variant)?)?,
        Format::Sgf | Format::Pgn => {
            book_tree::write(format, book, one_game(book, variant)?, root)?
        }
        Format::Xqf => xqf::write(book, one_game(book, variant)?, root)?,
        Format::Hints => text_as_bytes(hints::write(book, one_game(book, variant)?)?),
        Format::Openings => text_as_bytes(lists::write_openings(book, one_game(book, variant)?)?),
        Format::Fen => text_as_bytes(lists::write_fens(book, one_game(book, variant)?)?),
        Format::Eleeye => eleeye::write(book, one_game(book, variant)?)?,
        Format::Obk => {
            let keys = zobrist.context(MISSING_KEYS)?;
            obk::write(book, variant.unwrap_or(Variant::XIANGQI), keys)?
        }
        Format::Psq | Format::Pos | Format::Rif | Format::Lines | Format::Cbr | Format::Ubb => {
            bail!(
                "this format is for games, which are not the positions of a book: json, csv, \
                 sqlite, parquet, yxdb, lib, sgf, pgn, xqf, openings, hints, fen, eleeye, obk and proof are \
                 written"
            )
        }
    };
    if !matches!(
        format,
        Format::Lib | Format::Sgf | Format::Pgn | Format::Xqf
    ) {
        for known in book.annotated() {
            omissions.omit("annotations", known?.1.len() as u64);
        }
    }
    out.write_all(&bytes)?;
    Ok((count, omissions))
}

/// The game to export to a format that holds one.
fn one_game(book: &Book, variant: Option<Variant>) -> Result<Variant> {
    if let Some(variant) = variant {
        return Ok(variant);
    }
    let first = book.positions().next().transpose()?;
    let first = first.context("the book is empty")?;
    Ok(first.position.variant())
}

fn text_as_bytes((text, count, omissions): (String, u64, Omissions)) -> (Vec<u8>, u64, Omissions) {
    (text.into_bytes(), count, omissions)
}

fn write_records(
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    let mut count = 0;
    let mut omissions = Omissions::new();
    for entry in book.positions() {
        let entry = entry?;
        if is_exported(&entry.position, variant, &mut omissions) {
            let record = PositionRecord::new(&entry.position, &entry.facts);
            let notes = book.annotations(&entry.position)?;
            let record = record.with_annotations(&entry.position, &notes);
            serde_json::to_writer(&mut *out, &record)?;
            writeln!(out)?;
            count += 1;
        }
    }
    for known in book.annotated() {
        let (position, notes) = known?;
        if variant.is_none_or(|variant| variant == position.variant())
            && book.lookup(&position)?.is_none()
        {
            let record = PositionRecord::new(&position, &Answer::default());
            serde_json::to_writer(&mut *out, &record.with_annotations(&position, &notes))?;
            writeln!(out)?;
        }
    }
    Ok((count, omissions))
}
