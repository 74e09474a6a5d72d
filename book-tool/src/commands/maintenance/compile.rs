use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use kagetsu_book::{Book, Compilation};
use kagetsu_compiled::{CompileReport, Compiled, DeltaReport, Extras, apply_delta, write_delta};
use kagetsu_games::GameStore;
use kagetsu_program::{Exit, shown};
use serde::Serialize;

use crate::arguments::path::check_is_new;
use crate::output::OutputArgs;
use crate::output::progress::bar;
use kagetsu_reader::read_book;

/// Compiles a book into one read-only file for engines
///
/// The file holds the value, the best moves and the proofs of each position in about 40 bytes. Any
/// number of processes can open it; query, pick, tree, stats and check read it in place of the
/// folder. It has no lines, no node counts and no moves known to be worse, and a build cannot
/// continue from it; --texts and --games keep the words of people and the results of games beside
/// the values. With --force an existing compiled book is replaced; programs that have it
/// open keep the old one.
///
/// --delta also writes FILE.delta: a small file by which --patch, and `kagetsu books get`, make the
/// new book of an older one, so that readers need not fetch all of it. The result has the same
/// bytes as the newer book; a delta of another book is refused.
///
/// Example: kagetsu compile --book h8.book --out h8.kbk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder; with --patch, the older compiled book
    #[arg(long, value_name = "DIR|FILE")]
    book: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Keeps the annotations of people too, in 60 bytes and more each
    #[arg(long)]
    texts: bool,
    /// Keeps the results of the imported games too, in about 40 bytes for each move that was made
    #[arg(long)]
    games: bool,
    /// The greatest size of the file, in bytes: keeps the positions that are reached most often,
    /// times the nodes of their searches, with the ways to them
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Replaces the file
    #[arg(long)]
    force: bool,
    /// An older compiled book: writes FILE.delta, the difference to it
    #[arg(long, value_name = "OLD")]
    delta: Option<PathBuf>,
    /// A delta: makes the newer version of the compiled book, which --out may name with --force
    #[arg(long, value_name = "DELTA", conflicts_with_all = ["delta", "texts", "games", "max_bytes"])]
    patch: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct CompileJson {
    positions: u64,
    bytes: u64,
    /// Bytes of the delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta_bytes: Option<u64>,
}

/// Returns the name of the delta beside a compiled book.
fn delta_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".delta");
    name.into()
}

impl Args {
    /// Returns the parts of the file beside the values.
    fn extras(&self, book: &Book) -> Result<Extras> {
        let mut extras = Extras::default();
        if self.texts {
            extras = annotations(book)?;
        }
        if self.games
            && let Some(store) = GameStore::open(&self.book)?
        {
            extras.games = store.all_results()?;
        }
        Ok(extras)
    }
}

/// Returns the annotations of a book, for a compiled one.
pub(crate) fn annotations(book: &Book) -> Result<Extras> {
    let mut extras = Extras::default();
    for known in book.annotated() {
        let (position, notes) = known?;
        extras.annotations.insert(position.key().0, notes);
    }
    Ok(extras)
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    check_is_new(&args.out, args.force)?;
    match &args.patch {
        Some(delta) => {
            let report = apply_delta(&Compiled::open(&args.book)?, delta, &args.out)?;
            tell(args, &report, None, out)
        }
        None => compile(args, out),
    }
}

fn compile(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let book = read_book(&args.book)?;
    let bar = bar(
        Some(book.len()),
        "{bar:40} {pos}/{len} positions, {eta} left",
    );
    // The older book is opened first, because the new one may replace it.
    let old = args.delta.as_deref().map(Compiled::open).transpose()?;
    let mut progress = |done| bar.set_position(done);
    let compilation = Compilation {
        base: old.as_ref(),
        extras: args.extras(&book)?,
        max_bytes: args.max_bytes,
    };
    let report = book.compile(&args.out, compilation, &mut progress)?;
    bar.finish_and_clear();
    let delta = delta_of(&args.out);
    let write = |old| write_delta(old, &Compiled::open(&args.out)?, &delta);
    let written = old.as_ref().map(write).transpose()?;
    tell(args, &report, written, out)
}

fn tell(
    args: &Args,
    report: &CompileReport,
    written: Option<DeltaReport>,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (positions, bytes) = (report.positions, report.bytes);
    let delta_bytes = written.map(|delta| delta.bytes);
    let json = CompileJson {
        positions,
        bytes,
        delta_bytes,
    };
    let out = &mut args.output.report(out, &json)?;
    let share = bytes as f64 / positions.max(1) as f64;
    writeln!(
        out,
        "{}: {positions} positions, {bytes} bytes, {share:.1} each",
        shown(&args.out)
    )?;
    if let Some(DeltaReport {
        bytes,
        changed,
        buckets,
    }) = written
    {
        let name = shown(&delta_of(&args.out));
        writeln!(
            out,
            "{name}: {bytes} bytes, {changed} of {buckets} buckets changed"
        )?;
    }
    Ok(Exit::Done)
}
