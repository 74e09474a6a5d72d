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
use crate::commands::verify::win_tree;
use kagetsu_reader::open_book;

/// Writes a book as a file of another program
///
/// `json` and `csv` carry everything that was searched; an import derives the rest again. The other
/// formats carry what their programs can show: values, best moves and texts. What a format has no
/// room for is counted and reported. docs/using/files.md describes each format.
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
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The game to export [default: all, or that of the first position if the format holds one
    /// game]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    #[command(flatten)]
    proof: win_tree::ProofArgs,
    #[command(flatten)]
    zobrist: ZobristArgs,
    /// The file to write, which must not exist yet; - writes to stdout
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
    let write = |out: &mut dyn Write| -> Result<(String, Omissions)> {
        match args.format {
            FormatArg::Proof => {
                let size = win_tree::write(&book, args.variant, &args.proof, out)?;
                Ok((size.to_string(), Omissions::new()))
            }
            FormatArg::Book(format) => {
                let exported =
                    kagetsu_formats::export(format, &book, args.variant, keys.as_ref(), out)?;
                Ok((format!("{} positions", exported.0), exported.1))
            }
        }
    };
    if args.file.as_os_str() == "-" {
        let (_, omissions) = write(out)?;
        write_omissions(&omissions, &mut std::io::stderr())?;
        return Ok(Exit::Done);
    }
    // The output is written under a temporary name, so that no half-written file has the final one.
    let half = half_written(&args.file);
    let name = args.file.display();
    if args.file.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let file = File::create_new(&half).with_context(|| format!("cannot write {name}"))?;
    let written = || -> Result<(String, Omissions)> {
        let mut file = BufWriter::new(file);
        let done = write(&mut file)?;
        file.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()?;
        std::fs::rename(&half, &args.file)?;
        Ok(done)
    };
    let done = written().inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&half);
    });
    let (size, omissions) = done.with_context(|| format!("cannot write {name}"))?;
    writeln!(out, "{name}: {size}")?;
    write_omissions(&omissions, out)?;
    Ok(Exit::Done)
}

/// Returns the temporary name of the output file.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}
