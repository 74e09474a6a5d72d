use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_program::Exit;
use serde::Serialize;

use kagetsu_reader::open_book;
use kagetsu_terminal::json::write_json;

/// Compiles a book into one read-only file for engines
///
/// The file holds the value, the best moves and the proofs of each position in about 40 bytes. Any
/// number of processes can open it; query, pick, tree, stats and check read it in place of the
/// folder. It has no lines, no node counts and no moves known to be worse, and a build cannot
/// continue from it. An existing compiled book is replaced; programs that have it open keep the old
/// one.
///
/// Example: kagetsu compile --book h8.book --out h8.kbk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CompileJson {
    positions: u64,
    bytes: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(&args.book, false)?;
    let bar = ProgressBar::new(book.len());
    bar.set_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} positions, {eta} left",
    )?);
    let report = book.compile(&args.out, &mut |done| bar.set_position(done))?;
    bar.finish_and_clear();
    let (positions, bytes) = (report.positions, report.bytes);
    if args.json {
        write_json(out, &CompileJson { positions, bytes })?;
        return Ok(Exit::Done);
    }
    let share = bytes as f64 / positions.max(1) as f64;
    writeln!(
        out,
        "{}: {positions} positions, {bytes} bytes, {share:.1} each",
        args.out.display()
    )?;
    Ok(Exit::Done)
}
