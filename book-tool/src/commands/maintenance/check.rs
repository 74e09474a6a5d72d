use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_program::Exit;
use serde::Serialize;

use kagetsu_terminal::json::write_json;

/// Checks a book's integrity: checksums, keys, links, derived values and counts
///
/// The exit code is 1 if something is wrong.
///
/// Example: kagetsu check --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder, or a compiled book
    #[arg(long, value_name = "DIR|FILE")]
    book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CheckJson {
    clean: bool,
    positions: u64,
    links: u64,
    frontier: u64,
    faults: Vec<String>,
    fault_count: u64,
    time_ms: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let mut book = kagetsu_reader::open_files(&args.book)?;
    let bar = ProgressBar::new(book.positions().unwrap_or_default());
    bar.set_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} positions, {eta} left",
    )?);
    let begun = Instant::now();
    let report = book.check(&mut |done| bar.set_position(done))?;
    bar.finish_and_clear();
    let exit = if report.is_clean() {
        Exit::Done
    } else {
        Exit::No
    };
    let json = CheckJson {
        clean: report.is_clean(),
        positions: report.positions,
        links: report.links,
        frontier: report.frontier,
        fault_count: report.count,
        faults: report.faults,
        time_ms: begun.elapsed().as_millis() as u64,
    };
    if args.json {
        write_json(out, &json)?;
        return Ok(exit);
    }
    let CheckJson {
        positions,
        links,
        frontier,
        faults,
        fault_count,
        time_ms,
        ..
    } = &json;
    for fault in faults {
        writeln!(out, "{fault}")?;
    }
    let faults = if *fault_count == 0 {
        "nothing is wrong".into()
    } else {
        format!("{fault_count} faults")
    };
    writeln!(
        out,
        "{positions} positions, {links} links, {frontier} waiting: {faults} ({time_ms} ms)"
    )?;
    Ok(exit)
}
