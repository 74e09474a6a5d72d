//! Books in the formats of other programs, read and written.

mod colours;
mod eleeye;
mod games;
mod import;
mod json;
mod library;
mod lines;
mod losses;
mod obk;
mod pgn;
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
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kagetsu_book::{Book, Entry};
use kagetsu_game::{Answer, Position, Variant};
use kagetsu_program::Exit;

use crate::books::open_book;
use crate::commands::verify::win_tree;
use crate::output::json::write_json;
use games::Games;
pub(crate) use import::{ImportArgs, import};
use json::Record;
use losses::{Losses, lose, tell};
use table::Table;
use zobrist::Keys;

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
    /// But for what is said in games, which add up where there are several files of them.
    answers: Vec<(Position, Answer)>,
    /// Records, nodes, games or lines that it has.
    items: u64,
    losses: Losses,
}

impl Format {
    /// Everything that a file says.
    fn read(self, bytes: &[u8], variant: Option<Variant>) -> Result<Contents> {
        let mut games = Games::default();
        let mut contents = self.take_in(bytes, variant, &mut games)?;
        contents.answers.extend(games.answers(self.engine()));
        Ok(contents)
    }

    /// Who is said to know what the games of such files say.
    fn engine(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Yxdb => "yxdb",
            Self::Lib => "renlib",
            Self::Psq => "psq",
            Self::Sgf => "sgf",
            Self::Rif => "rif",
            Self::Openings => "openings",
            Self::Lines => "lines",
            Self::Fen => "fen",
            Self::Pgn => "pgn",
            Self::Eleeye => "elephanteye",
            Self::Obk => "obk",
            Self::Proof => "proof",
        }
    }

    /// Everything that a file says; its games come to those that are there. It is understood whole before a book is touched.
    fn take_in(self, bytes: &[u8], variant: Option<Variant>, all: &mut Games) -> Result<Contents> {
        let played = || {
            variant.context(
                "--variant must say what was played, as in --variant renju-15: the file does not",
            )
        };
        // Windows' editors begin a text with a mark that is none of its letters.
        let unmarked = bytes
            .strip_prefix(BYTE_ORDER_MARK.as_bytes())
            .unwrap_or(bytes);
        let text = || {
            std::str::from_utf8(unmarked).context("it is no text in UTF-8; `iconv` makes it one")
        };
        let mut played_in = |(games, items, mut losses): (Games, u64, Losses)| {
            lose(&mut losses, "moves_on_forbidden_points", games.fouls());
            all.join(games);
            Contents {
                answers: Vec::new(),
                items,
                losses,
            }
        };
        Ok(match self {
            Self::Json => bail!("JSON is read line by line"),
            Self::Csv => {
                let (answers, items) = table::read(text()?)?;
                Contents {
                    answers,
                    items,
                    losses: Losses::new(),
                }
            }
            Self::Yxdb => {
                let records = yxdb::read(bytes).context("it is no database of Yixin or Rapfi")?;
                let (answers, losses) =
                    yixin::answers(&records).context("it is no database of Yixin or Rapfi")?;
                Contents {
                    answers,
                    items: records.len() as u64,
                    losses,
                }
            }
            Self::Lib => played_in(library::read(bytes, played()?)?),
            Self::Psq => played_in(psq::read(&String::from_utf8_lossy(unmarked), played()?)?),
            Self::Sgf => played_in(sgf::read(unmarked, played()?)?),
            Self::Rif => played_in(rif::read(&rif::text(unmarked)?, played()?)?),
            Self::Openings => played_in(lines::openings(text()?, played()?)?),
            Self::Lines => played_in(lines::games(text()?, played()?)?),
            Self::Fen => played_in(lines::fens(text()?, played()?)?),
            Self::Pgn => played_in(pgn::read(unmarked, variant.unwrap_or(Variant::XIANGQI))?),
            Self::Eleeye => played_in(eleeye::read(bytes, variant.unwrap_or(Variant::XIANGQI))?),
            Self::Obk => bail!(zobrist::MISSING),
            Self::Proof => bail!("a win tree is checked by `kagetsu verify`, and not imported"),
        })
    }

    /// Writes what a book says; how many positions that is, and what has no place there.
    fn write(
        self,
        book: &Book,
        variant: Option<Variant>,
        out: &mut dyn Write,
    ) -> Result<(u64, Losses)> {
        let first = || -> Result<Variant> {
            let first = book
                .positions()
                .next()
                .transpose()?
                .map(|entry| entry.position.variant());
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
                    "this format is for games, and a book has none: json, csv, yxdb, lib, openings, fen, eleeye, obk and proof are written"
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
        return text
            .lines()
            .try_for_each(|line| line.parse::<Record>()?.meaning().map(drop));
    }
    if format == Format::Obk {
        return read_obk(bytes, Some(variant), &Keys::made_up(1), None).map(drop);
    }
    format.read(bytes, Some(variant)).map(drop)
}

fn read_obk(
    bytes: &[u8],
    variant: Option<Variant>,
    keys: &Keys,
    root: Option<&Position>,
) -> Result<Contents> {
    let (games, items, losses) = obk::read(bytes, variant.unwrap_or(Variant::XIANGQI), keys, root)?;
    Ok(Contents {
        answers: games.answers(Format::Obk.engine()),
        items,
        losses,
    })
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
    proof: win_tree::ProofArgs,
    #[command(flatten)]
    zobrist: ZobristArgs,
    /// The file to be written; - for stdout. It must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(&args.book, false)?;
    let is_proof = args.format == Format::Proof;
    args.proof.fits(is_proof)?;
    let keys = args.zobrist.keys(args.format)?;
    if let Some(variant) = args.variant {
        let mut all = book.positions();
        let is_there = |entry: &Result<_, _>| {
            entry
                .as_ref()
                .is_ok_and(|entry: &Entry| entry.position.variant() == variant)
        };
        let first = all.next().transpose()?;
        if let Some(first) = first.filter(|first| {
            first.position.variant() != variant && !all.any(|entry| is_there(&entry))
        }) {
            bail!(
                "{} has no position of {variant}; its first is of {}",
                args.book.display(),
                first.position.variant()
            );
        }
    }
    let write = |out: &mut dyn Write| match args.format {
        Format::Proof => Ok((
            win_tree::write(&book, args.variant, &args.proof, out)?,
            Losses::new(),
        )),
        format => match &keys {
            Some(keys) => {
                let (bytes, count, losses) =
                    obk::write(&book, args.variant.unwrap_or(Variant::XIANGQI), keys)?;
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
        file.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()?;
        std::fs::rename(&half, &args.file)?;
        Ok(done)
    };
    let done = written().inspect_err(|_| {
        // The error that matters is the first.
        let _ = std::fs::remove_file(&half);
    });
    let (count, losses) = done.with_context(|| format!("cannot write {name}"))?;
    writeln!(
        out,
        "{name}: {count} {}",
        if is_proof { "nodes" } else { "positions" }
    )?;
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

fn write_lines(
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Losses)> {
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

fn write_table(
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Losses)> {
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
