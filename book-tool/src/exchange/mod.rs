//! Books in the formats of other programs, read and written.

mod colours;
mod eleeye;
mod games;
mod json;
mod library;
mod lines;
mod losses;
mod obk;
mod pgn;
mod proof;
mod psq;
mod renlib;
mod rif;
mod sgf;
mod squares;
mod table;
#[cfg(test)]
mod tests;
mod yixin;
mod yxdb;
mod zobrist;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::{Book, Entry};
use kagetsu_game::{Answer, Position, Variant};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::cli::write_json;
use crate::conflicts::Conflicts;
use crate::source::{fill, open_book};
use games::Games;
use json::Record;
use losses::{Losses, lose, tell};
pub(crate) use proof::plant;
use table::Table;
use zobrist::Keys;

/// Answers between two times that all is made durable.
const SYNC_EVERY: u64 = 1_000;
/// Bytes of the longest line that is read.
const LONGEST: u64 = 16 << 20;

/// In which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One JSON object a line for each position, with all that was searched; nothing is lost on the way
    Json,
    /// A table with a line for each move, with all that was searched; nothing is lost on the way
    Csv,
    /// A position database of Yixin or Rapfi (`.db`), of gomoku
    Yxdb,
    /// A library of RenLib (`.lib`): a tree of moves of gomoku or renju on 15x15, with texts
    Lib,
    /// A game of Piskvork or Gomocup (`.psq`); import only
    Psq,
    /// Games and trees of gomoku in SGF; import only
    Sgf,
    /// Games of RenjuNet (`.rif`, XML); import only
    Rif,
    /// Openings of gomoku as offsets of stones from the centre, as Gomocup has them, or lines of moves
    Openings,
    /// A game a line, as moves, with FEN and | before them or its result behind them if need be; of any game, so of surakarta; import
    /// only
    Lines,
    /// A FEN a line with the best move and its value, of xiangqi or surakarta
    Fen,
    /// Games of xiangqi in PGN, moves in coordinates, WXF's notation or Chinese; import only
    Pgn,
    /// A book of ElephantEye or XQWizard (`BOOK.DAT`), of xiangqi
    Eleeye,
    /// A book of xiangqi in SQLite (`.obk`, `.pfBook`), as public-Xiangqi and others have it; needs --zobrist
    Obk,
    /// How one position is won, against every legal reply, as a text that `kagetsu verify` checks; export only
    Proof,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What a file says.
struct Contents {
    answers: Vec<(Position, Answer)>,
    /// Records, nodes, games or lines that it has.
    items: u64,
    losses: Losses,
}

impl Format {
    /// Everything that a file says. It is understood whole before a book is touched.
    fn read(self, bytes: &[u8], variant: Option<Variant>) -> Result<Contents> {
        let played =
            || variant.context("--variant must say what was played, as in --variant renju-15: the file does not");
        // Windows' editors begin a text with a mark that is none of its letters.
        let unmarked = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
        let text = || std::str::from_utf8(unmarked).context("it is no text in UTF-8; `iconv` makes it one");
        let named = |engine: &str, (games, items, mut losses): (Games, u64, Losses)| {
            lose(&mut losses, "moves_on_forbidden_points", games.fouls());
            Contents { answers: games.answers(engine), items, losses }
        };
        Ok(match self {
            Self::Json => bail!("JSON is read line by line"),
            Self::Csv => {
                let (answers, items) = table::read(text()?)?;
                Contents { answers, items, losses: Losses::new() }
            }
            Self::Yxdb => {
                let records = yxdb::read(bytes).context("it is no database of Yixin or Rapfi")?;
                let (answers, losses) = yixin::answers(&records).context("it is no database of Yixin or Rapfi")?;
                Contents { answers, items: records.len() as u64, losses }
            }
            Self::Lib => named("renlib", library::read(bytes, played()?)?),
            Self::Psq => named("psq", psq::read(&String::from_utf8_lossy(unmarked), played()?)?),
            Self::Sgf => named("sgf", sgf::read(unmarked, played()?)?),
            Self::Rif => named("rif", rif::read(text()?, played()?)?),
            Self::Openings => named("openings", lines::openings(text()?, played()?)?),
            Self::Lines => named("lines", lines::games(text()?, played()?)?),
            Self::Fen => named("fen", lines::fens(text()?, played()?)?),
            Self::Pgn => named("pgn", pgn::read(unmarked, variant.unwrap_or(Variant::XIANGQI))?),
            Self::Eleeye => named("elephanteye", eleeye::read(bytes, variant.unwrap_or(Variant::XIANGQI))?),
            Self::Obk => bail!(zobrist::MISSING),
            Self::Proof => bail!("a win tree is checked by `kagetsu verify`, and not imported"),
        })
    }

    /// Writes what a book says; how many positions that is, and what has no place there.
    fn write(self, book: &Book, variant: Option<Variant>, out: &mut dyn Write) -> Result<(u64, Losses)> {
        let first = || -> Result<Variant> {
            let first = book.positions().next().transpose()?.map(|entry| entry.position.variant());
            variant.or(first).context("the book is empty")
        };
        let (bytes, count, losses) = match self {
            Self::Json => return write_lines(book, variant, out),
            Self::Csv => return write_table(book, variant, out),
            Self::Yxdb => {
                let (records, losses) = yixin::records(book, variant)?;
                (yxdb::write(&records), records.len() as u64, losses)
            }
            Self::Lib => library::write(book, first()?)?,
            Self::Openings => bytes_of(lines::write_openings(book, first()?)?),
            Self::Fen => bytes_of(lines::write_fens(book, first()?)?),
            Self::Eleeye => eleeye::write(book, first()?)?,
            Self::Obk => bail!(zobrist::MISSING),
            Self::Proof => bail!("a win tree is of one position, not of a book"),
            Self::Psq | Self::Sgf | Self::Rif | Self::Lines | Self::Pgn => {
                bail!(
                    "this format is for games, and a book has none: json, csv, yxdb, lib, openings, fen, eleeye and obk are written"
                )
            }
        };
        out.write_all(&bytes)?;
        Ok((count, losses))
    }
}

fn bytes_of((text, count, losses): (String, u64, Losses)) -> (Vec<u8>, u64, Losses) {
    (text.into_bytes(), count, losses)
}

/// Reads bytes as a file of a format, by its number among all, and forgets what they say: no bytes may do harm.
///
/// # Errors
/// Whatever is wrong with them.
pub fn understand(format: u8, variant: Variant, bytes: &[u8]) -> Result<()> {
    let formats = <Format as clap::ValueEnum>::value_variants();
    let format = formats[usize::from(format) % formats.len()];
    if format == Format::Json {
        let text = String::from_utf8_lossy(bytes);
        return text.lines().try_for_each(|line| line.parse::<Record>()?.meaning().map(drop));
    }
    if format == Format::Obk {
        return read_obk(bytes, Some(variant), &Keys::made_up(1), None).map(drop);
    }
    format.read(bytes, Some(variant)).map(drop)
}

fn read_obk(bytes: &[u8], variant: Option<Variant>, keys: &Keys, root: Option<&Position>) -> Result<Contents> {
    let (games, items, losses) = obk::read(bytes, variant.unwrap_or(Variant::XIANGQI), keys, root)?;
    Ok(Contents { answers: games.answers("obk"), items, losses })
}

/// The numbers by which `.obk` books are read and written.
#[derive(Debug, clap::Args)]
struct ZobristArgs {
    /// For --format obk: a text with the 3,584 Zobrist numbers of these books, which are not ours to hand on; decimal or 0x
    #[arg(long, value_name = "FILE")]
    zobrist: Option<PathBuf>,
}

impl ZobristArgs {
    /// The numbers, for a format that needs them.
    ///
    /// # Errors
    /// If they are missing or wrong, or the format has no use for them.
    fn keys(&self, format: Format) -> Result<Option<Keys>> {
        if format == Format::Obk {
            return Keys::of_file(self.zobrist.as_deref()).map(Some);
        }
        anyhow::ensure!(
            self.zobrist.is_none(),
            "--zobrist is for --format obk; no other format has keys of these numbers"
        );
        Ok(None)
    }
}

/// Writes a book into a file of another format
///
/// `json` and `csv` carry everything that was searched; what the book concludes from that is concluded again where it is read, and
/// its jobs are left out. The others have what other programs open: `yxdb` (not compressed) values, depths, bounds and labels of
/// positions and of those that their moves lead to; `lib` a tree of the moves with a value, that as a text on the point as Rapfi
/// reads it (v34; W12 and L12 for a win and a loss that end in ply 12), depth and proof in comments; `openings` the balanced
/// positions of few stones; `fen` each position with its best move; `eleeye` the moves worth making, weighted; `obk` the moves with a
/// value, that as their weight. What has no place there is told.
///
/// `proof` is the win tree of the position after --moves, which the book has proven: at each node of the winner one move, at each
/// node of the loser an answer to every legal move. Wins that a search found are searched again and played out.
///
/// Example: kagetsu export --format lib --book h8.book h8.lib
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// Which positions; by default all, or those of the book's first game where the format holds those of one
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    #[command(flatten)]
    proof: proof::ProofArgs,
    #[command(flatten)]
    zobrist: ZobristArgs,
    /// The file to be written; - for stdout. It must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Reads a file of another format into a book
///
/// The book is made where it is not there. Where it has a position already, the stronger evidence of each move stays: a proof,
/// then the deeper search. Where both are proofs of the contrary, both are told and the exit code is 1. Reading the same file again
/// changes nothing. A line that is wrong ends it, with its number; of a `json`
/// file what stood before it is in the book. What could not be carried over is told.
///
/// Wins and losses that somebody only says are proofs of the kind `manual`; one of which nobody says when may take until the board is
/// full. `yxdb` has values of positions, a book has values of
/// moves: each is read as that of the moves that lead to it. Of games with an end a move has the value of how they ended, a hundred
/// centi-units for all won; of a move without any value the book holds that it was made. Any search is stronger evidence than that.
///
/// A book of positions by their keys (`eleeye`, `obk`) is walked through from the start, and an `obk` from --moves too: what nothing
/// leads to is told. The keys of an `obk` are made of 3,584 numbers that are not ours to hand on; docs/book.md says which.
///
/// Example: kagetsu import --format lib --variant renju-15 --book lib.book my.lib
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// What was played, where the file does not say it; where it does, the game whose positions alone are read
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    #[command(flatten)]
    zobrist: ZobristArgs,
    /// For --format obk: where else the walk through the book begins, as moves from the start
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
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
    /// Where there are any.
    #[serde(flatten)]
    conflicts: Option<Conflicts>,
    /// Records, nodes, games or lines of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    /// What could not be carried over.
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<Losses>,
}

pub(crate) fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(&args.book, false)?;
    let is_proof = args.format == Format::Proof;
    args.proof.fits(is_proof)?;
    let keys = args.zobrist.keys(args.format)?;
    if let Some(variant) = args.variant {
        let mut all = book.positions();
        let is_there =
            |entry: &Result<_, _>| entry.as_ref().is_ok_and(|entry: &Entry| entry.position.variant() == variant);
        let first = all.next().transpose()?;
        if let Some(first) =
            first.filter(|first| first.position.variant() != variant && !all.any(|entry| is_there(&entry)))
        {
            bail!("{} has no position of {variant}; its first is of {}", args.book.display(), first.position.variant());
        }
    }
    let write = |out: &mut dyn Write| match args.format {
        Format::Proof => Ok((proof::write(&book, args.variant, &args.proof, out)?, Losses::new())),
        format => match &keys {
            Some(keys) => {
                let (bytes, count, losses) = obk::write(&book, args.variant.unwrap_or(Variant::XIANGQI), keys)?;
                out.write_all(&bytes)?;
                Ok((count, losses))
            }
            None => format.write(&book, args.variant, out),
        },
    };
    if args.file.as_os_str() == "-" {
        let (_, losses) = write(out)?;
        tell(&losses, &mut std::io::stderr())?;
        return Ok(Exit::Done);
    }
    // A file that is there is half written only if it is named so.
    let half = half_written(&args.file);
    let name = args.file.display();
    if args.file.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let file = File::create_new(&half).with_context(|| format!("cannot write {name}"))?;
    let written = || -> Result<(u64, Losses)> {
        let mut file = BufWriter::new(file);
        let done = write(&mut file)?;
        file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        std::fs::rename(&half, &args.file)?;
        Ok(done)
    };
    let done = written().inspect_err(|_| {
        // The error that matters is the first.
        let _ = std::fs::remove_file(&half);
    });
    let (count, losses) = done.with_context(|| format!("cannot write {name}"))?;
    writeln!(out, "{name}: {count} {}", if is_proof { "nodes" } else { "positions" })?;
    tell(&losses, out)?;
    Ok(Exit::Done)
}

/// A name that is nobody else's.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}

/// Whether a position is to be written; others are counted.
fn is_asked(position: &Position, variant: Option<Variant>, losses: &mut Losses) -> bool {
    let is_asked = variant.is_none_or(|variant| variant == position.variant());
    if !is_asked {
        lose(losses, "positions_of_other_games", 1);
    }
    is_asked
}

fn write_lines(book: &Book, variant: Option<Variant>, out: &mut dyn Write) -> Result<(u64, Losses)> {
    let (mut count, mut losses) = (0, Losses::new());
    for entry in book.positions() {
        let entry = entry?;
        if is_asked(&entry.position, variant, &mut losses) {
            write_json(out, &Record::new(&entry.position, &entry.facts))?;
            count += 1;
        }
    }
    Ok((count, losses))
}

fn write_table(book: &Book, variant: Option<Variant>, out: &mut dyn Write) -> Result<(u64, Losses)> {
    let mut table = Table::begin(out)?;
    let (mut count, mut losses) = (0, Losses::new());
    for entry in book.positions() {
        let entry = entry?;
        if is_asked(&entry.position, variant, &mut losses) {
            table.write(&entry.position, &entry.facts)?;
            count += 1;
        }
    }
    table.end()?;
    Ok((count, losses))
}

pub(crate) fn import(args: &ImportArgs, out: &mut dyn Write) -> Result<Exit> {
    let name = args.file.display();
    let keys = args.zobrist.keys(args.format)?;
    let root = match &args.moves {
        Some(line) if keys.is_some() => {
            let variant = args.variant.unwrap_or(Variant::XIANGQI);
            Some(Position::from_line(variant, line).with_context(|| format!("--moves \"{line}\""))?)
        }
        Some(_) => bail!("--moves is for --format obk; the other formats are read whole"),
        None => None,
    };
    let mut source: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot read {name}"))?))
    };
    let contents = if args.format == Format::Json {
        None
    } else {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
        let contents = match &keys {
            Some(keys) => read_obk(&bytes, args.variant, keys, root.as_ref()),
            None => args.format.read(&bytes, args.variant),
        };
        Some(contents.with_context(|| name.to_string())?)
    };
    let (read, others, conflicts, positions, new) = fill(&args.book, |book| {
        let before = book.len();
        let mut learner = Learner { book, only: args.variant, read: 0, others: 0, conflicts: Conflicts::default() };
        let end = match &contents {
            Some(contents) => {
                contents.answers.iter().try_for_each(|(position, answer)| learner.learn(position, answer))
            }
            None => read_lines(&mut *source, &name.to_string(), &mut learner),
        };
        let Learner { book, read, others, conflicts, .. } = learner;
        end.with_context(|| format!("{read} positions before it are in the book"))?;
        Ok((read, others, conflicts, book.len(), book.len() - before))
    })?;
    let (items, mut losses) = contents.map(|contents| (contents.items, contents.losses)).unzip();
    if others > 0 {
        lose(losses.get_or_insert_default(), "positions_of_other_games", others);
    }
    let exit = conflicts.exit();
    if args.json {
        let conflicts = Some(conflicts).filter(|_| exit == Exit::No);
        write_json(out, &ImportJson { read, positions, new, conflicts, items, losses })?;
        return Ok(exit);
    }
    conflicts.write(out)?;
    writeln!(out, "{}: {read} positions read, {new} of them new; {positions} in all", args.book.display())?;
    tell(&losses.unwrap_or_default(), out)?;
    Ok(exit)
}

/// A book that learns many answers.
struct Learner<'a> {
    book: &'a mut Book,
    /// The game whose positions are learned, if not all are.
    only: Option<Variant>,
    read: u64,
    /// Positions of other games.
    others: u64,
    conflicts: Conflicts,
}

impl Learner<'_> {
    fn learn(&mut self, position: &Position, answer: &Answer) -> Result<()> {
        if self.only.is_some_and(|only| only != position.variant()) {
            self.others += 1;
            return Ok(());
        }
        if let Some(known) = self.book.lookup(position)? {
            self.conflicts.look(position, &known.facts, answer);
        }
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
        if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
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
