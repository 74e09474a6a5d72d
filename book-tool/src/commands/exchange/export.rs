//! `kagetsu export`: a book as a file of another program.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::Book;
use kagetsu_files::{Readers, replace_file};
use kagetsu_formats::{Format, Omissions, write_omissions};
use kagetsu_game::{Notation, Position, Variant};
use kagetsu_program::{Exit, shown};
use kagetsu_proto::Access;
use serde::Serialize;

use super::arguments::{FormatArg, ZobristArgs, format_parser};
use super::played;
use super::proof::ProofExport;
use super::site::SiteArgs;
use super::subtree::Subtree;
use crate::arguments::path::check_is_new;
use crate::arguments::query::only_variant;
use crate::output::OutputArgs;
use crate::output::progress::bar;
use kagetsu_proofs::{GrownTree, NodeCounts};
use kagetsu_reader::Source;

/// Writes a book as a file of another program
///
/// `json` and `csv` carry everything that was searched; an import derives the rest again. The other
/// formats carry what their programs can show: values, best moves and texts. Content that a format
/// has no room for is counted and reported. docs/using/files.md describes each format. With --moves
/// only the positions behind a line are written.
///
/// `sgf` and `pgn` write the imported games of a folder: all of them, those of --variant, or those
/// that passed the position after --moves. With --tree, or where the book has no games, they hold
/// its positions as one tree with comments (`sgf` also with texts and marks), as `lib` and `xqf`
/// do.
///
/// `proof` writes the win tree of the position after --moves, which the book has proven: one move
/// at each node of the winner, and an answer to every legal move of the loser.
///
/// `site` writes a folder of static files that any web server shows, without Kagetsu: the page, an
/// engine for the visitor's browser, and the book; --with adds other books and certificates.
///
/// Example: kagetsu export --book h8.book h8.lib
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file format [default: by the ending of FILE]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(Format::is_exported, true))]
    format: Option<FormatArg>,
    /// A book folder, or the URL of a coordinator, whose book is copied first
    #[arg(long, value_name = "DIR|URL")]
    book: String,
    /// The game to export [default: all, or that of the first position if the format holds one
    /// game]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    /// Writes only the position after these moves and the positions behind it
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
    /// For --format sgf and pgn: writes the positions of the book as a tree, not its imported games
    #[arg(long)]
    tree: bool,
    /// Notation of xiangqi moves for --format pgn: engine (h2e2, ICCS), wxf (C2=5) or chinese
    /// (炮二平五)
    #[arg(long, default_value_t, value_name = "NOTATION")]
    notation: Notation,
    /// For --format proof: maximum number of positions to visit when a win of the book is searched
    /// again
    #[arg(long, default_value_t = 20_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// For --format proof of gomoku: a win tree of a position behind it, which is checked and needs
    /// no proof in the book, or a win tree of another rule, whose moves are tried; for --format
    /// site: another book or certificate; repeat the flag for several
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// For --format proof: goes on behind positions whose win is neither proven nor found, and
    /// writes them to this file, as roots for `kagetsu build --policy prove --roots`. A position
    /// that the file holds already and that is still open gives way to the one two plies before
    #[arg(long, value_name = "FILE")]
    open: Option<PathBuf>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    zobrist: ZobristArgs,
    #[command(flatten)]
    access: Access,
    /// Prints one JSON object about the export; not for FILE -
    #[arg(long)]
    json: bool,
    /// Replaces FILE
    #[arg(long)]
    force: bool,
    /// The same as FILE
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "file",
        required_unless_present = "file"
    )]
    out: Option<PathBuf>,
    /// The file to write, or the folder of a site; - writes to stdout
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// The result of an export.
#[derive(Serialize)]
struct ExportJson {
    file: String,
    /// The number of positions, of games, or of nodes of a win tree.
    written: u64,
    /// Content that the format cannot carry.
    losses: Omissions,
    /// The number of positions without a proof, which --open names; the file is not written then.
    open: usize,
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
    fn file(&self) -> &Path {
        let file = self.file.as_ref().or(self.out.as_ref());
        file.map_or(Path::new(""), PathBuf::as_path)
    }

    /// Writes a site.
    fn write_site(&self, out: &mut dyn Write) -> Result<Exit> {
        let mut books = vec![Path::new(&self.book)];
        books.extend(self.with.iter().map(PathBuf::as_path));
        let (bytes, written) = self.site.write(&books, self.file())?;
        let name = shown(self.file());
        writeln!(
            out,
            "{name}: {bytes} bytes, {written} of them new; show it with `cd {name} && python3 -m http.server`"
        )?;
        Ok(Exit::Done)
    }

    /// Returns the position given by --moves, in the game of --variant or the only one of the book.
    fn root(&self, is_proof: bool, reader: &Source) -> Result<Option<Position>> {
        let line = match &self.moves {
            Some(line) => line,
            None if is_proof && self.variant.is_some() => "",
            None => {
                ensure!(
                    !is_proof,
                    "a win tree begins at a position: name it by --moves, with --variant if the \
                     book holds several games"
                );
                return Ok(None);
            }
        };
        let variant = match self.variant {
            Some(variant) => variant,
            None => only_variant(&reader.overview()?, &self.book)?,
        };
        Position::from_line(variant, line)
            .map(Some)
            .with_context(|| format!("--moves \"{line:.200}\""))
    }

    /// How a win tree is grown.
    fn proof(&self) -> ProofExport<'_> {
        ProofExport {
            nodes: self.nodes,
            with: &self.with,
            open: self.open.as_deref(),
        }
    }

    /// Says how many positions keep a win tree from being written.
    fn report_open(&self, open: usize, out: &mut dyn Write) -> Result<Exit> {
        let file = shown(self.file());
        let json = ExportJson {
            file: self.file().display().to_string(),
            written: 0,
            losses: Omissions::new(),
            open,
        };
        let out = &mut OutputArgs { json: self.json }.report(out, &json)?;
        let named = self.open.as_deref().map(shown);
        let named = named.map_or_else(String::new, |path| format!(", named in {path}"));
        writeln!(
            out,
            "{file} is not written; positions without a proof: {open}{named}"
        )?;
        Ok(Exit::No)
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let is_stdout = args.file().as_os_str() == "-";
    let name = shown(args.file());
    ensure!(
        !(is_stdout && args.json),
        "--json reports about a file; with FILE - the book itself goes to stdout"
    );
    // A site is kept current in its folder.
    let is_site = args.file().join("site.json").is_file();
    if !is_stdout && !is_site {
        check_is_new(args.file(), args.force)?;
    }
    let format = FormatArg::of(args.format, args.file())?;
    if format == FormatArg::Site {
        return args.write_site(out);
    }
    let is_proof = format == FormatArg::Proof;
    let is_games = match format {
        FormatArg::Book(Format::Pgn | Format::Sgf) => {
            !args.tree && played::count(args.book.as_ref())? > 0
        }
        _ => false,
    };
    let keys = args.zobrist.keys(format)?;
    let mut reader = kagetsu_reader::open(&args.book, &args.access)?;
    let root = args.root(is_proof, &reader)?;
    let bar = bar(None, "{pos} positions copied");
    let whole = reader.contents(&mut |copied| bar.set_position(copied))?;
    bar.finish_and_clear();
    check_variant(whole, args)?;
    let part = match &root {
        Some(root) if !is_proof && !is_games => Some(Subtree::below(root, whole)?),
        _ => None,
    };
    let book = part.as_ref().map_or(whole, |part| &part.book);
    let proof = match &root {
        Some(root) if is_proof => match args.proof().grow(book, root)? {
            GrownTree::Whole(tree) => Some(tree),
            GrownTree::Open(positions) => return args.report_open(positions.len(), out),
        },
        _ => None,
    };
    let write = |out: &mut dyn Write| match (format, &root) {
        (FormatArg::Proof | FormatArg::Site, _) => {
            let Some(tree) = &proof else {
                bail!("a win tree begins at a position");
            };
            tree.write(out)?;
            Ok(Written {
                count: tree.nodes().len() as u64,
                text: NodeCounts::of(tree).to_string(),
                losses: Omissions::new(),
            })
        }
        (FormatArg::Book(format), root) if is_games => {
            let style = (format, args.notation);
            let count = played::write(&args.book, style, args.variant, root.as_ref(), out)?;
            let mut losses = Omissions::new();
            let noted = book
                .annotated()
                .map(|noted| noted.map(|(_, notes)| notes.len() as u64));
            losses.omit("annotations_that_need_tree", noted.sum::<Result<_, _>>()?);
            Ok(Written {
                count,
                text: format!("{count} games"),
                losses,
            })
        }
        (FormatArg::Book(format), root) => {
            let (count, mut losses) = kagetsu_formats::export(
                format,
                book,
                args.variant,
                root.as_ref(),
                keys.as_ref(),
                out,
            )?;
            losses.omit("games", played::count(args.book.as_ref())?);
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
    let written = replace_file(args.file(), Readers::Usual, write)
        .with_context(|| format!("cannot write {name}"))?;
    let json = ExportJson {
        file: args.file().display().to_string(),
        written: written.count,
        losses: written.losses,
        open: 0,
    };
    let out = &mut OutputArgs { json: args.json }.report(out, &json)?;
    writeln!(out, "{name}: {}", written.text)?;
    write_omissions(&json.losses, out)?;
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
