use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_book::{BookOptions, CompactReport};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::books::open_book;
use crate::output::json::write_json;

/// Makes a book's files smaller; what it holds stays the same
///
/// Of the journal's entries about a position one is left that says what all said together, and none that no longer counts; the
/// store becomes one sealed file. Needs room for a second journal meanwhile. It may be interrupted at any moment: the book is then
/// as it was, or as it should be. A backup begins anew afterwards, in a new folder, for its journal is another.
///
/// Example: kagetsu compact --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CompactJson {
    positions: u64,
    entries_before: u64,
    entries: u64,
    bytes_before: u64,
    bytes: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (book, report) = open_book(&args.book, false)?.compact(&BookOptions::default())?;
    let positions = book.len();
    book.close()?;
    let CompactReport {
        entries_before,
        entries,
        bytes_before,
        bytes,
        ..
    } = report;
    if args.json {
        write_json(
            out,
            &CompactJson {
                positions,
                entries_before,
                entries,
                bytes_before,
                bytes,
            },
        )?;
        return Ok(Exit::Done);
    }
    writeln!(
        out,
        "{}: {positions} positions, {entries} journal entries of {entries_before}; {bytes} bytes, {bytes_before} before",
        args.book.display()
    )?;
    Ok(Exit::Done)
}
