//! `kagetsu import`: files of other programs into a book.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_files::{read_file, read_whole};
use kagetsu_formats::{Contents, Format, Importer, Omissions, ZobristKeys, write_omissions};
use kagetsu_game::{Position, Variant};
use kagetsu_games::{GameRecord, GameStore};
use kagetsu_postgres::BookUrl;
use kagetsu_program::{Exit, shown};
use kagetsu_reader::fill;
use serde::Serialize;

use super::arguments::{FormatArg, ZobristArgs, format_parser};
use super::learner::{Learned, Learner, read_lines};
use crate::arguments::path::open;
use crate::commands::maintenance::conflicts::Conflicts;
use crate::output::OutputArgs;

/// Reads files of other programs into a book
///
/// The book is created if missing. For each move the stronger evidence stays: a proof, then the
/// deeper search. Contradictory proofs are reported, and the exit code is 1. A second import
/// changes nothing. Games are kept beside the positions, each once however often it is imported,
/// and their results are counted for each move; they are no values. `kagetsu query --games` shows
/// them.
///
/// An invalid file ends the import with the line number; of `json` the lines before it are in the
/// book. After Ctrl-C, run the same command again. Content that cannot be carried over is counted
/// and reported. docs/using/files.md says how each format is understood.
///
/// Example: kagetsu import --variant renju-15 --book lib.book my.lib
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file format [default: by the content and the ending of each FILE]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_imported, false))]
    format: Option<FormatArg>,
    /// The book folder, which is created if missing
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The game that was played, if the file does not say it; else the only game to import
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    #[command(flatten)]
    zobrist: ZobristArgs,
    /// For --format obk: a line of moves where the walk through the book begins too
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
    /// The files to read; - reads stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Whether a signal asked to stop.
    #[arg(skip)]
    pub(crate) interrupted: Arc<AtomicBool>,
}

/// The result of an import.
#[derive(Serialize)]
struct ImportJson {
    read: u64,
    positions: u64,
    new: u64,
    /// Given where there are any.
    #[serde(flatten)]
    conflicts: Option<Conflicts>,
    /// The number of games, and how many of them are new.
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<ImportedGames>,
    /// Annotations of people that are new.
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<usize>,
    /// The number of records, nodes, games or lines in the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    /// Content that the format cannot carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<Omissions>,
}

/// Games that the book keeps beside its positions.
#[derive(Clone, Copy, Serialize)]
struct ImportedGames {
    read: usize,
    new: u64,
}

impl Args {
    /// Returns the position given by --moves.
    fn root(&self, format: Option<Format>) -> Result<Option<Position>> {
        let Some(line) = &self.moves else {
            return Ok(None);
        };
        ensure!(
            format == Some(Format::Obk),
            "--moves is for --format obk; the other formats are read whole"
        );
        let variant = self.variant.unwrap_or(Variant::XIANGQI);
        Position::from_line(variant, line)
            .map(Some)
            .with_context(|| format!("--moves \"{line:.200}\""))
    }

    /// Lets Ctrl-C set the flag; a second Ctrl-C ends the process as usual.
    fn watch_signals(&self) -> Result<()> {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let flag = || Arc::clone(&self.interrupted);
            signal_hook::flag::register_conditional_default(signal, flag())?;
            signal_hook::flag::register(signal, flag())?;
        }
        Ok(())
    }

    /// Reads all files, except in `json`, which is read line by line.
    fn contents(&self, format: Option<Format>, keys: Option<ZobristKeys>) -> Result<Contents> {
        let root = self.root(format)?;
        let mut importer = Importer::new(format, self.variant)
            .with_zobrist(keys)
            .with_root(root);
        for path in &self.files {
            let bytes = match path.as_os_str() == "-" {
                true => read_whole(std::io::stdin()),
                false => read_file(path),
            };
            let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or(path.as_os_str());
            importer.set_source(&name.to_string_lossy());
            importer
                .add(&bytes)
                .with_context(|| path.display().to_string())?;
        }
        Ok(importer.finish())
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let first = args.files.first().context("a file is needed")?;
    // The other formats are told apart file by file.
    let format = args.format.or_else(|| {
        use FormatArg::{Book, Proof};
        let format = FormatArg::of(None, first).ok();
        format.filter(|format| matches!(format, Proof | Book(Format::Json | Format::Obk)))
    });
    let keys = format.map_or(Ok(None), |format| args.zobrist.keys(format))?;
    let format = match format {
        Some(FormatArg::Proof | FormatArg::Site) => {
            bail!("a win tree is checked by `kagetsu verify`, and not imported")
        }
        Some(FormatArg::Book(format)) => Some(format),
        None => None,
    };
    let is_lines = format == Some(Format::Json);
    let stdin = args.files.iter().filter(|path| path.as_os_str() == "-");
    let stdin = stdin.count();
    ensure!(
        stdin < 2,
        "- stands {stdin} times among the files: stdin is read once"
    );
    let mut sources = Vec::new();
    let contents = if is_lines {
        args.root(format)?;
        // A missing file is reported before a book is created.
        let opened = args.files.iter().map(|path| open(path));
        sources = opened.collect::<Result<_>>()?;
        None
    } else {
        Some(args.contents(format, keys)?)
    };
    if let Some(contents) = &contents
        && contents.answers.is_empty()
        && contents.annotations.is_empty()
    {
        let hint = match contents.omissions.contains_key("positions_without_a_move") {
            true => "`kagetsu build --roots FILE` grows a book from positions",
            false => "`kagetsu import --help` lists the formats",
        };
        let mut losses = Vec::new();
        write_omissions(&contents.omissions, &mut losses)?;
        let (files, losses) = (files(&args.files), String::from_utf8_lossy(&losses));
        let text = format!("no move was found in {files}; {hint}\n{losses}");
        bail!("{}", text.trim_end());
    }
    args.watch_signals()?;
    let learned = fill(&args.book, |book| {
        let before = book.len();
        let mut learner = Learner {
            book,
            only: args.variant,
            learned: Learned::default(),
            interrupted: Arc::clone(&args.interrupted),
        };
        let end = match &contents {
            Some(contents) => learner.learn_all(contents),
            None => {
                let mut files = args.files.iter().zip(&mut sources);
                files.try_for_each(|(path, source)| {
                    read_lines(&mut **source, &path.display().to_string(), &mut learner)
                })
            }
        };
        // An interrupted pipe may close stdin before the signal arrives here.
        let end = end.and_then(|()| learner.goes_on());
        let mut learned = learner.learned;
        end.with_context(|| format!("{} positions before it are in the book", learned.read))?;
        ensure!(
            learned.read > 0 || learned.others > 0 || learned.annotations > 0,
            "no position was found in {}: is it a file of --format json?",
            files(&args.files)
        );
        (learned.positions, learned.new) = (book.len(), book.len() - before);
        Ok(learned)
    })?;
    let games = contents
        .as_ref()
        .map_or(&[][..], |contents| &contents.games);
    let games = keep_games(&args.book, games)?;
    let (items, mut losses) = contents
        .map(|contents| (contents.items, contents.omissions))
        .unzip();
    if learned.others > 0 {
        let losses = losses.get_or_insert_default();
        losses.omit("positions_of_other_games", learned.others);
    }
    let exit = learned.conflicts.exit();
    let json = ImportJson {
        read: learned.read,
        positions: learned.positions,
        new: learned.new,
        conflicts: Some(learned.conflicts).filter(|_| exit == Exit::No),
        games,
        annotations: Some(learned.annotations).filter(|new| *new > 0),
        items,
        losses,
    };
    let out = &mut args.output.report(out, &json)?;
    if let Some(conflicts) = &json.conflicts {
        conflicts.write(out)?;
    }
    writeln!(
        out,
        "{}: {} positions read, {} of them new; {} in all",
        shown(&args.book),
        learned.read,
        learned.new,
        learned.positions
    )?;
    if let Some(ImportedGames { read, new }) = games {
        writeln!(
            out,
            "games kept: {read}, new ones: {new}; `kagetsu query --games` shows them"
        )?;
    }
    if learned.annotations > 0 {
        writeln!(out, "{} new annotations", learned.annotations)?;
    }
    write_omissions(&json.losses.unwrap_or_default(), out)?;
    Ok(exit)
}

/// Keeps the games of the files in the book's folder.
fn keep_games(book: &Path, games: &[GameRecord]) -> Result<Option<ImportedGames>> {
    // A book in a database has no folder.
    if games.is_empty() || book.to_str().is_some_and(BookUrl::is_one) {
        return Ok(None);
    }
    let new = GameStore::create(book)?.add(games)?;
    let read = games.len();
    Ok(Some(ImportedGames { read, new }))
}

/// Lists files by name.
fn files(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::Ordering;

    use kagetsu_book::{Book, BookOptions};
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
            format: Some(FormatArg::Book(format)),
            book: folder.path().join("book"),
            variant: Some(variant),
            zobrist: ZobristArgs { zobrist: None },
            moves: None,
            files: files.iter().map(path).collect(),
            output: OutputArgs { json: false },
            interrupted: Arc::default(),
        }
    }

    /// Returns the value and number of games of a move from the start, and the printed report.
    fn imported(
        format: Format,
        variant: Variant,
        files: &[(&str, &str)],
        m: &str,
    ) -> ((Score, u64), String) {
        let folder = tempfile::tempdir().expect("a folder");
        let args = args(&folder, format, variant, files);
        let mut output = Vec::new();
        run(&args, &mut output).expect("files");
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
            String::from_utf8_lossy(&output).into_owned(),
        )
    }

    #[test]
    fn games_of_many_files_add_up() {
        let variant = Variant::FREESTYLE_15;
        let games = ["h8 i9 1-0\n", "h8 h9 0-1\n", "h8 i9 1-0\nh8 i9 1-0\n"];
        let together = imported(Format::Lines, variant, &[("all", &games.concat())], "h8").0;
        // Results are no values.
        assert_eq!(together, (-Score::OPINION_MAX, 4));
        let [a, b, c] = [("a", games[0]), ("b", games[1]), ("c", games[2])];
        for files in [[a, b, c], [c, a, b]] {
            assert_eq!(imported(Format::Lines, variant, &files, "h8").0, together);
        }
        // Lines are no games. The number of truncated files is reported.
        let cut = "(;SZ[15];B[hh](;W[ih])(;W[hi]";
        let (lines, report) = imported(Format::Sgf, variant, &[("a", cut), ("b", cut)], "h8");
        assert_eq!(lines.1, 0, "{report}");
        assert!(report.contains("2 files that end in the middle"));
    }

    #[test]
    fn interruption_says_how_to_go_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let games = [("a", "h8 i9 1-0\n")];
        let args = args(&folder, Format::Lines, Variant::FREESTYLE_15, &games);
        args.interrupted.store(true, Ordering::Relaxed);
        let error = run(&args, &mut Vec::new()).expect_err("it is interrupted");
        let text = format!("{error:#}");
        assert!(
            text.contains("the same command again reads the rest"),
            "{text}"
        );
    }
}
