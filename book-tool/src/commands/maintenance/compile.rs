use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::books::open_book;
use crate::output::json::write_json;

/// Compiles a book into one file that never changes, for engines
///
/// The file holds the value, the best moves and the proofs of every position in some 40 bytes. Any number of processes may
/// have it open at once, and query, pick, tree, stats and check take it in place of the folder. It holds neither lines nor
/// nodes, nor moves that are known not to be the best, and no book can be grown from it. A compiled book that has the name
/// is replaced; who has it open keeps it.
///
/// Example: kagetsu compile --book h8.book --out h8.kbk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book's folder
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
