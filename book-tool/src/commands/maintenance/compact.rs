use std::io::Write;
use std::path::PathBuf;

use crate::output::OutputArgs;
use anyhow::Result;
use kagetsu_book::BookOptions;
use kagetsu_program::{Exit, shown};

use kagetsu_reader::open_book;

/// Makes the files of a book smaller, and leaves its contents unchanged
///
/// The command merges the journal's entries per position, drops obsolete ones, and rewrites the
/// index as one file. It needs room for a second journal. An interruption leaves the old book or
/// the new one. The next backup needs a new folder, because the journal is a new one.
///
/// Example: kagetsu compact --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (book, report) = open_book(&args.book, false)?.compact(&BookOptions::default())?;
    book.close()?;
    let out = &mut args.output.report(out, &report)?;
    writeln!(
        out,
        "{}: {} positions, {} journal entries of {}; {} bytes, {} before",
        shown(&args.book),
        report.positions,
        report.entries,
        report.entries_before,
        report.bytes,
        report.bytes_before
    )?;
    Ok(Exit::Done)
}
