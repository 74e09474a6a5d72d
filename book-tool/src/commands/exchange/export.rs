//! `kagetsu export`: a book as a file of another program.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kagetsu_book::Entry;
use kagetsu_formats::{Omissions, write_omissions};
use kagetsu_game::Variant;
use kagetsu_program::Exit;

use super::arguments::{FormatArg, ZobristArgs};
use crate::books::open_book;
use crate::commands::verify::win_tree;

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
pub(crate) struct Args {
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: FormatArg,
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

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(&args.book, false)?;
    let is_proof = args.format == FormatArg::Proof;
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
        FormatArg::Proof => Ok((
            win_tree::write(&book, args.variant, &args.proof, out)?,
            Omissions::new(),
        )),
        FormatArg::Book(format) => {
            kagetsu_formats::export(format, &book, args.variant, keys.as_ref(), out)
        }
    };
    if args.file.as_os_str() == "-" {
        let (_, omissions) = write(out)?;
        write_omissions(&omissions, &mut std::io::stderr())?;
        return Ok(Exit::Done);
    }
    // A file that is there is half written only if it is named so.
    let half = half_written(&args.file);
    let name = args.file.display();
    if args.file.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let file = File::create_new(&half).with_context(|| format!("cannot write {name}"))?;
    let written = || -> Result<(u64, Omissions)> {
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
    let (count, omissions) = done.with_context(|| format!("cannot write {name}"))?;
    writeln!(
        out,
        "{name}: {count} {}",
        if is_proof { "nodes" } else { "positions" }
    )?;
    write_omissions(&omissions, out)?;
    Ok(Exit::Done)
}

/// A name that is nobody else's.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}
