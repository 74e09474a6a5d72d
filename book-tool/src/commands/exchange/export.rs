//! `kagetsu export`: a book as a file of another program.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_book::Book;
use kagetsu_formats::{Format, Omissions, write_omissions};
use kagetsu_game::{Position, Variant};
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use serde::Serialize;

use super::arguments::{FormatArg, ZobristArgs};
use super::played;
use super::subtree::Subtree;
use crate::commands::verify::read_tree::read_tree;
use kagetsu_proofs::{ProofCache, ProofTreeBuilder};
use kagetsu_terminal::arguments::notation::NotationArg;
use kagetsu_terminal::json::write_json;

/// Writes a book as a file of another program
///
/// `json` and `csv` carry everything that was searched; an import derives the rest again. The other
/// formats carry what their programs can show: values, best moves and texts. Content that a format
/// has no room for is counted and reported. docs/using/files.md describes each format. With --moves
/// only the positions behind a line are written.
///
/// `sgf` and `pgn` write the imported games of a folder: all of them, those of --variant, or those
/// that passed the position after --moves.
///
/// `proof` writes the win tree of the position after --moves, which the book has proven: one move
/// at each node of the winner, and an answer to every legal move of the loser.
///
/// Example: kagetsu export --format lib --book h8.book h8.lib
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: FormatArg,
    /// A book folder, or the URL of a coordinator, whose book is copied first
    #[arg(long, value_name = "DIR|URL")]
    book: String,
    /// The game to export [default: all, or that of the first position if the format holds one
    /// game]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    /// Writes only the position after these moves and the positions behind it
    #[arg(long, value_name = "LINE", requires = "variant")]
    moves: Option<String>,
    /// Notation of xiangqi moves for --format pgn; `engine` is ICCS
    #[arg(long, value_enum, default_value = "engine", value_name = "NOTATION")]
    notation: NotationArg,
    /// For --format proof: maximum number of positions to visit when a win of the book is searched
    /// again
    #[arg(long, default_value_t = 20_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// For --format proof of gomoku: a win tree of a position behind it, which needs no proof in
    /// the book; repeat the flag for several
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    zobrist: ZobristArgs,
    #[command(flatten)]
    access: Access,
    /// Prints one JSON object about the export; not for FILE -
    #[arg(long)]
    json: bool,
    /// The file to write, which must not exist yet; - writes to stdout
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// The result of an export.
#[derive(Serialize)]
struct ExportJson {
    file: String,
    /// The number of positions, of games, or of nodes of a win tree.
    written: u64,
    /// Content that the format cannot carry.
    losses: Omissions,
}

/// The content of a written file.
struct Written {
    /// Positions, or nodes of a win tree.
    count: u64,
    /// The same in words.
    text: String,
    losses: Omissions,
}

impl Args {
    /// Returns the position given by --variant and --moves.
    fn root(&self) -> Result<Option<Position>> {
        let is_proof = self.format == FormatArg::Proof;
        let Some(variant) = self.variant else {
            ensure!(
                !is_proof,
                "a win tree begins at a position: name it by --variant and --moves"
            );
            return Ok(None);
        };
        let line = match &self.moves {
            Some(line) => line,
            None if is_proof => "",
            None => return Ok(None),
        };
        Position::from_line(variant, line)
            .map(Some)
            .with_context(|| format!("--moves \"{line}\""))
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let is_stdout = args.file.as_os_str() == "-";
    let name = args.file.display();
    ensure!(
        !(is_stdout && args.json),
        "--json reports about a file; with FILE - the book itself goes to stdout"
    );
    if !is_stdout && args.file.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let is_proof = args.format == FormatArg::Proof;
    let is_games = matches!(args.format, FormatArg::Book(Format::Sgf | Format::Pgn));
    let root = args.root()?;
    let keys = args.zobrist.keys(args.format)?;
    let mut reader = kagetsu_reader::open(&args.book, &args.access)?;
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{pos} positions copied")?);
    let whole = reader.contents(&mut |copied| bar.set_position(copied))?;
    bar.finish_and_clear();
    check_variant(whole, args)?;
    let part = match &root {
        Some(root) if !is_proof && !is_games => Some(Subtree::below(root, whole)?),
        _ => None,
    };
    let book = part.as_ref().map_or(whole, |part| &part.book);
    let write = |out: &mut dyn Write| match (args.format, &root) {
        (FormatArg::Proof, Some(root)) => {
            let mut cache = ProofCache::new(root.variant(), args.nodes)?;
            for path in &args.with {
                let loaded = read_tree(path).and_then(|tree| cache.load(&tree));
                loaded.with_context(|| path.display().to_string())?;
            }
            let (tree, size) = ProofTreeBuilder::new(book, &mut cache).tree(root)?;
            tree.write(out)?;
            Ok(Written {
                count: size.nodes,
                text: size.to_string(),
                losses: Omissions::new(),
            })
        }
        (FormatArg::Proof, None) => bail!("a win tree begins at a position"),
        (FormatArg::Book(format @ (Format::Sgf | Format::Pgn)), root) => {
            let style = (format, args.notation.0);
            let count = played::write(&args.book, style, args.variant, root.as_ref(), out)?;
            Ok(Written {
                count,
                text: format!("{count} games"),
                losses: Omissions::new(),
            })
        }
        (FormatArg::Book(format), _) => {
            let (count, losses) =
                kagetsu_formats::export(format, book, args.variant, keys.as_ref(), out)?;
            Ok(Written {
                count,
                text: format!("{count} positions"),
                losses,
            })
        }
    };
    if is_stdout {
        write_omissions(&write(out)?.losses, &mut std::io::stderr())?;
        return Ok(Exit::Done);
    }
    let written = write_file(&args.file, write).with_context(|| format!("cannot write {name}"))?;
    if args.json {
        let json = ExportJson {
            file: name.to_string(),
            written: written.count,
            losses: written.losses,
        };
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{name}: {}", written.text)?;
    write_omissions(&written.losses, out)?;
    Ok(Exit::Done)
}

/// Refuses a variant of which the book has no position.
fn check_variant(book: &Book, args: &Args) -> Result<()> {
    let Some(variant) = args.variant else {
        return Ok(());
    };
    let mut first = None;
    for entry in book.positions() {
        let found = entry?.position.variant();
        if found == variant {
            return Ok(());
        }
        first.get_or_insert(found);
    }
    match first {
        Some(first) => bail!(
            "{} has no position of {variant}; its first is of {first}",
            args.book
        ),
        None => Ok(()),
    }
}

/// Writes a file under a temporary name, so that no half-written file has the final one.
pub(crate) fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let half = half_written(path);
    let file = File::create_new(&half)?;
    let written = || -> Result<T> {
        let mut file = BufWriter::new(file);
        let done = write(&mut file)?;
        file.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()?;
        std::fs::rename(&half, path)?;
        Ok(done)
    };
    written().inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&half);
    })
}

/// Returns the temporary name of the output file.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}
