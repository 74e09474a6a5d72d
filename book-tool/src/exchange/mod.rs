//! Books in the formats of other programs, read and written.

mod json;
mod yixin;
mod yxdb;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::Book;
use kagetsu_game::{Answer, Position};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::cli::write_json;
use crate::source::open_book;
use json::Record;
use yixin::Losses;

/// Answers between two times that all is made durable.
const SYNC_EVERY: u64 = 1_000;
/// Bytes of the longest line that is read.
const LONGEST: u64 = 16 << 20;

/// In which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One JSON object a line for each position, with all that was searched; nothing is lost on the way
    Json,
    /// A position database of Yixin or Rapfi (`.db`), of gomoku
    Yxdb,
}

/// Writes a book into a file of another format
///
/// `json` has one object a line for each position, in the order of the book: the variant, the position (a FEN, or for gomoku
/// the rows of the board), the side to move, and of each move all that was searched. It carries everything that was searched;
/// what the book concludes from that is concluded again where it is read, and its jobs are left out.
///
/// `yxdb` is what Yixin and Rapfi open, not compressed: value, depth, bound and label of each position, and of those that its
/// moves lead to. Lines, numbers of nodes, engines and dates have no place there.
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
/// stood before it is in the book. What could not be carried over is told.
///
/// `yxdb` has values of positions, a book has values of moves: each is read as that of the moves that lead to it from other
/// positions of the file. Its wins and losses are proofs of the kind `manual`: somebody said so.
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
    /// What could not be carried over.
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<Losses>,
}

pub(crate) fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(&args.book, false)?;
    let write = |out: &mut dyn Write| match args.format {
        Format::Json => write_lines(&book, out),
        Format::Yxdb => write_yxdb(&book, out),
    };
    if args.file.as_os_str() == "-" {
        write(out)?;
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
        let count = write(&mut file)?;
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

fn write_lines(book: &Book, out: &mut dyn Write) -> Result<u64> {
    let mut count = 0;
    for entry in book.positions() {
        let entry = entry?;
        write_json(out, &Record::new(&entry.position, &entry.facts))?;
        count += 1;
    }
    Ok(count)
}

fn write_yxdb(book: &Book, out: &mut dyn Write) -> Result<u64> {
    let (records, others) = yixin::records(book)?;
    if others > 0 {
        writeln!(std::io::stderr(), "{others} positions of other games are left out")?;
    }
    out.write_all(&yxdb::write(&records))?;
    Ok(records.len() as u64)
}

pub(crate) fn import(args: &ImportArgs, out: &mut dyn Write) -> Result<Exit> {
    let name = args.file.display();
    let mut source: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot read {name}"))?))
    };
    let mut losses = None;
    // A database is understood whole before a book is touched.
    let answers = match args.format {
        Format::Json => None,
        Format::Yxdb => {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
            let read = yxdb::read(&bytes).and_then(|records| yixin::answers(&records));
            let (answers, lost) = read.with_context(|| format!("{name} is no database of Yixin or Rapfi"))?;
            losses = Some(lost);
            Some(answers)
        }
    };
    let book = open_book(&args.book, true)?;
    let before = book.len();
    let mut learner = Learner { book, read: 0 };
    let end = match answers {
        Some(answers) => answers.iter().try_for_each(|(position, answer)| learner.learn(position, answer)),
        None => read_lines(&mut *source, &name.to_string(), &mut learner),
    };
    let Learner { book, read } = learner;
    let (positions, new) = (book.len(), book.len() - before);
    book.close()?;
    end.with_context(|| format!("{read} positions before it are in the book"))?;
    if args.json {
        write_json(out, &ImportJson { read, positions, new, losses })?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{}: {read} positions read, {new} of them new; {positions} in all", args.book.display())?;
    if let Some(Losses { values_without_a_move, labels, texts }) = losses {
        writeln!(
            out,
            "not carried over: {values_without_a_move} values of positions that none in the file leads to, {labels} labels \
             without a value, {texts} texts"
        )?;
    }
    Ok(Exit::Done)
}

/// A book that learns many answers.
struct Learner {
    book: Book,
    read: u64,
}

impl Learner {
    fn learn(&mut self, position: &Position, answer: &Answer) -> Result<()> {
        self.book.learn(position, answer)?;
        self.read += 1;
        if self.read.is_multiple_of(SYNC_EVERY) {
            self.book.syncer().sync()?;
        }
        Ok(())
    }
}

fn read_lines(source: &mut dyn BufRead, name: &str, learner: &mut Learner) -> Result<()> {
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let bytes = Read::take(&mut *source, LONGEST).read_line(&mut line);
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
            learner.learn(&position, &answer)
        });
        learned.with_context(|| format!("{name}, line {number}"))?;
    }
    Ok(())
}
