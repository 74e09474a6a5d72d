//! `kagetsu import`: files of other programs into a book.

//! Files of other formats, read into a book.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail, ensure};
use kagetsu_book::Book;
use kagetsu_game::{Answer, Position, Variant};
use kagetsu_program::Exit;
use serde::Serialize;

use kagetsu_formats::{
    BYTE_ORDER_MARK, Contents, Format, Importer, Omissions, PositionRecord, ZobristKeys, omit,
    write_omissions,
};

use super::arguments::{FormatArg, ZobristArgs};
use crate::books::fill;
use crate::commands::maintenance::conflicts::Conflicts;
use crate::output::json::write_json;

/// Answers between two times that all is made durable.
const SYNC_EVERY: u64 = 1_000;
/// Bytes of the longest line that is read.
const LONGEST: u64 = 16 << 20;

/// Reads files of another format into a book
///
/// The book is made where it is not there. Where it has a position already, the stronger evidence of each move stays: a proof,
/// then the deeper search. Where both are proofs of the contrary, both are told and the exit code is 1. Reading the same file again
/// changes nothing, and games that are read one file after the other do not add up: name all files at once, as in `*.psq`. A line
/// that is wrong ends it, with its number; of a `json` file what stood before it is in the book. So it is after Ctrl-C: the same
/// command again reads the rest. What could not be carried over is told.
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
pub(crate) struct Args {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: FormatArg,
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
    /// The files to be read; - for stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
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
    losses: Option<Omissions>,
}

/// Opens a file, or stdin.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

impl Args {
    /// Where else the walk through a book of positions begins.
    fn root(&self) -> Result<Option<Position>> {
        let Some(line) = &self.moves else {
            return Ok(None);
        };
        ensure!(
            self.format == FormatArg::Book(Format::Obk),
            "--moves is for --format obk; the other formats are read whole"
        );
        let variant = self.variant.unwrap_or(Variant::XIANGQI);
        Position::from_line(variant, line)
            .map(Some)
            .with_context(|| format!("--moves \"{line}\""))
    }

    /// What all files say together, those of lines apart.
    fn contents(&self, format: Format, keys: Option<ZobristKeys>) -> Result<Contents> {
        let root = self.root()?;
        let mut importer = Importer::new(format, self.variant)
            .with_zobrist(keys)
            .with_root(root);
        for path in &self.files {
            let mut bytes = Vec::new();
            open(path)?
                .read_to_end(&mut bytes)
                .with_context(|| format!("cannot read {}", path.display()))?;
            importer
                .add(&bytes)
                .with_context(|| path.display().to_string())?;
        }
        Ok(importer.finish())
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let keys = args.zobrist.keys(args.format)?;
    let FormatArg::Book(format) = args.format else {
        bail!("a win tree is checked by `kagetsu verify`, and not imported")
    };
    let is_lines = format == Format::Json;
    let stdin = args
        .files
        .iter()
        .filter(|path| path.as_os_str() == "-")
        .count();
    ensure!(
        stdin < 2,
        "- stands {stdin} times among the files: stdin is read once"
    );
    let mut sources = Vec::new();
    let contents = if is_lines {
        args.root()?;
        // A file that is not there is an error before a book is.
        sources = args
            .files
            .iter()
            .map(|path| open(path))
            .collect::<Result<_>>()?;
        None
    } else {
        Some(args.contents(format, keys)?)
    };
    let (read, others, conflicts, positions, new) = fill(&args.book, |book| {
        let before = book.len();
        let (only, conflicts, interrupted) = (args.variant, Conflicts::default(), interrupted()?);
        let mut learner = Learner {
            book,
            only,
            read: 0,
            others: 0,
            conflicts,
            interrupted,
        };
        let end = match &contents {
            Some(contents) => contents
                .answers
                .iter()
                .try_for_each(|(position, answer)| learner.learn(position, answer)),
            None => args
                .files
                .iter()
                .zip(&mut sources)
                .try_for_each(|(path, source)| {
                    read_lines(&mut **source, &path.display().to_string(), &mut learner)
                }),
        };
        // Who is interrupted may find the end of its stdin first.
        let end = end.and_then(|()| learner.goes_on());
        let Learner {
            book,
            read,
            others,
            conflicts,
            ..
        } = learner;
        end.with_context(|| format!("{read} positions before it are in the book"))?;
        Ok((read, others, conflicts, book.len(), book.len() - before))
    })?;
    let (items, mut losses) = contents
        .map(|contents| (contents.items, contents.omissions))
        .unzip();
    if others > 0 {
        omit(
            losses.get_or_insert_default(),
            "positions_of_other_games",
            others,
        );
    }
    let exit = conflicts.exit();
    if args.json {
        let conflicts = Some(conflicts).filter(|_| exit == Exit::No);
        write_json(
            out,
            &ImportJson {
                read,
                positions,
                new,
                conflicts,
                items,
                losses,
            },
        )?;
        return Ok(exit);
    }
    conflicts.write(out)?;
    writeln!(
        out,
        "{}: {read} positions read, {new} of them new; {positions} in all",
        args.book.display()
    )?;
    write_omissions(&losses.unwrap_or_default(), out)?;
    Ok(exit)
}

/// Becomes true at Ctrl-C; a second one ends the process, as it does elsewhere.
fn interrupted() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
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
    interrupted: Arc<AtomicBool>,
}

impl Learner<'_> {
    fn goes_on(&self) -> Result<()> {
        ensure!(
            !self.interrupted.load(Ordering::Relaxed),
            "interrupted; the same command again reads the rest"
        );
        Ok(())
    }

    fn learn(&mut self, position: &Position, answer: &Answer) -> Result<()> {
        self.goes_on()?;
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
        let record = if whole {
            line.parse::<PositionRecord>()
        } else {
            Err(anyhow!("the line is longer than {LONGEST} bytes"))
        };
        let learned = record.and_then(|record| {
            let (position, answer) = record.decode()?;
            learner.learn(&position, &answer)
        });
        learned.with_context(|| format!("{name}, line {number}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kagetsu_book::BookOptions;
    use kagetsu_game::Score;
    use tempfile::TempDir;

    use super::*;

    fn args(folder: &TempDir, format: Format, variant: Variant, files: &[(&str, &str)]) -> Args {
        let path = |(name, text): &(&str, &str)| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("room");
            path
        };
        Args {
            format: FormatArg::Book(format),
            book: folder.path().join("book"),
            variant: Some(variant),
            zobrist: ZobristArgs { zobrist: None },
            moves: None,
            files: files.iter().map(path).collect(),
            json: false,
        }
    }

    /// Value and number of games of a move from the start, and what was told.
    fn imported(
        format: Format,
        variant: Variant,
        files: &[(&str, &str)],
        m: &str,
    ) -> ((Score, u64), String) {
        let folder = tempfile::tempdir().expect("a folder");
        let args = args(&folder, format, variant, files);
        let mut told = Vec::new();
        run(&args, &mut told).expect("files");
        let (book, _) = Book::open(&args.book, &BookOptions::default()).expect("it was made");
        let start = Position::start(variant);
        let entry = book
            .lookup(&start)
            .expect("readable")
            .expect("it was played from");
        let verdict = entry
            .facts
            .get(start.parse_move(m).expect("legal"))
            .expect("it was played")
            .clone();
        (
            (verdict.score, verdict.nodes),
            String::from_utf8_lossy(&told).into_owned(),
        )
    }

    #[test]
    fn games_of_many_files_add_up() {
        let variant = Variant::FREESTYLE_15;
        let games = ["h8 i9 1-0\n", "h8 h9 0-1\n", "h8 i9 1-0\nh8 i9 1-0\n"];
        let together = imported(Format::Lines, variant, &[("all", &games.concat())], "h8").0;
        assert_eq!(together, (Score::opinion(50), 4));
        let [a, b, c] = [("a", games[0]), ("b", games[1]), ("c", games[2])];
        for files in [[a, b, c], [c, a, b]] {
            assert_eq!(imported(Format::Lines, variant, &files, "h8").0, together);
        }
        // Half files are told by their number.
        let cut = "(;SZ[15];B[hh];W[ih]";
        let told = imported(Format::Sgf, variant, &[("a", cut), ("b", cut)], "h8").1;
        assert!(told.contains("2 files that end in the middle"), "{told}");
    }

    #[test]
    fn who_interrupts_it_hears_what_is_in_the_book() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(&folder.path().join("book"), &options).expect("opens");
        let interrupted = Arc::new(AtomicBool::new(true));
        let learner = Learner {
            book: &mut book,
            only: None,
            read: 0,
            others: 0,
            conflicts: Conflicts::default(),
            interrupted,
        };
        let error = learner.goes_on().expect_err("it is interrupted");
        assert!(
            error
                .to_string()
                .contains("the same command again reads the rest"),
            "{error}"
        );
    }
}
