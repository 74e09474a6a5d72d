use std::io::Write;
use std::path::PathBuf;

use crate::output::OutputArgs;
use anyhow::Result;
use kagetsu_book::{BookOptions, RepairReport};
use kagetsu_program::{Exit, shown};
use serde::Serialize;

/// Recovers what can be read of a book with a damaged journal
///
/// Other commands refuse a damaged journal. This one writes its intact entries to a new journal and
/// keeps the damaged one beside it as 000001.damaged. If there is a backup, restore it instead: it
/// has what is lost here. A damaged index needs no repair; it is rebuilt when a book is opened. The
/// exit code is 1 if something was lost.
///
/// Example: kagetsu repair --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct RepairJson {
    whole: bool,
    positions: u64,
    #[serde(flatten)]
    report: RepairReport,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (book, report) = kagetsu_book::repair(&args.book, &BookOptions::default())?;
    let positions = book.len();
    book.close()?;
    let whole = report.is_whole();
    let exit = Exit::passed(whole);
    let json = RepairJson {
        whole,
        positions,
        report,
    };
    let out = &mut args.output.report(out, &json)?;
    let name = shown(&args.book);
    for notice in &json.report.notices {
        writeln!(out, "{name}: {notice}")?;
    }
    if whole {
        writeln!(out, "{name}: the journal is whole, {positions} positions")?;
        return Ok(exit);
    }
    writeln!(
        out,
        "{name}: {} journal entries kept, {positions} positions\n\
         lost: {} bytes that cannot be read, {} entries from the end, {} entries about jobs; build \
         again to have them searched",
        json.report.kept, json.report.lost_bytes, json.report.missing, json.report.left_out
    )?;
    Ok(exit)
}
