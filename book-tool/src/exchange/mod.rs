//! Books in the formats of other programs, read and written.

mod json;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::Book;
use kagetsu_program::Exit;
use serde::Serialize;

use crate::cli::write_json;
use crate::source::open_book;
use json::Record;

/// Answers between two times that all is made durable.
const SYNC_EVERY: u64 = 1_000;
/// Bytes of the longest line that is read.
const LONGEST: u64 = 16 << 20;

/// In which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One JSON object a line for each position, with all that was searched; nothing is lost on the way
    Json,
}

/// Writes a book into a file of another format
///
/// `json` has one object a line for each position, in the order of the book: the variant, the position (a FEN, or for gomoku
/// the rows of the board), the side to move, and of each move all that was searched. It carries everything that was searched;
/// what the book concludes from that is concluded again where it is read, and its jobs are left out.
///
/// Example: kagetsu export --format json --book h8.book h8.jsonl
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The file to be written; - for stdout. It must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Reads a file of another format into a book
///
/// The book is made where it is not there. Where it has a position already, the stronger evidence of each move stays: a proof,
/// then the deeper search. Reading the same file again changes nothing. A line that is wrong ends it, with its number; what
/// stood before it is in the book.
///
/// Example: kagetsu import --format json --book copy.book h8.jsonl
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The file to be read; - for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What was read.
#[derive(Serialize)]
struct ImportJson {
    read: u64,
    positions: u64,
    new: u64,
}

pub(crate) fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<Exit> {
    let Format::Json = args.format;
    let book = open_book(&args.book, false)?;
    if args.file.as_os_str() == "-" {
        write(&book, out)?;
        return Ok(Exit::Done);
    }
    // A file that is there is half written only if it is named so.
    let half = half_written(&args.file);
    let name = args.file.display();
    if args.file.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let file = File::create(&half).with_context(|| format!("cannot write {}", half.display()))?;
    let written = || -> Result<u64> {
        let mut file = BufWriter::new(file);
        let count = write(&book, &mut file)?;
        file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        std::fs::rename(&half, &args.file)?;
        Ok(count)
    };
    let count = written().inspect_err(|_| {
        // The error that matters is the first.
        let _ = std::fs::remove_file(&half);
    });
    let count = count.with_context(|| format!("cannot write {name}"))?;
    writeln!(out, "{name}: {count} positions")?;
    Ok(Exit::Done)
}

fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".new");
    name.into()
}

fn write(book: &Book, out: &mut dyn Write) -> Result<u64> {
    let mut count = 0;
    for entry in book.positions() {
        let entry = entry?;
        write_json(out, &Record::new(&entry.position, &entry.facts))?;
        count += 1;
    }
    Ok(count)
}

pub(crate) fn import(args: &ImportArgs, out: &mut dyn Write) -> Result<Exit> {
    let Format::Json = args.format;
    let name = args.file.display();
    let mut source: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot read {name}"))?))
    };
    let mut book = open_book(&args.book, true)?;
    let before = book.len();
    let mut read = 0;
    let mut line = String::new();
    let mut all = || -> Result<()> {
        for number in 1.. {
            line.clear();
            let bytes = std::io::Read::take(&mut source, LONGEST).read_line(&mut line);
            if bytes.with_context(|| format!("{name}, line {number}"))? == 0 {
                break;
            }
            if line.trim().is_empty() {
                continue;
            }
            let whole = line.ends_with('\n') || (line.len() as u64) < LONGEST;
            let record =
                if whole { line.parse::<Record>() } else { Err(anyhow!("the line is longer than {LONGEST} bytes")) };
            let learned = record.and_then(|record| {
                let (position, answer) = record.meaning()?;
                Ok(book.learn(&position, &answer)?)
            });
            learned.with_context(|| format!("{name}, line {number}"))?;
            read += 1;
            if u64::is_multiple_of(read, SYNC_EVERY) {
                book.syncer().sync()?;
            }
        }
        Ok(())
    };
    let end = all();
    let (positions, new) = (book.len(), book.len() - before);
    book.close()?;
    end.with_context(|| format!("{read} positions before it are in the book"))?;
    if args.json {
        write_json(out, &ImportJson { read, positions, new })?;
    } else {
        writeln!(out, "{}: {read} positions read, {new} of them new; {positions} in all", args.book.display())?;
    }
    Ok(Exit::Done)
}
