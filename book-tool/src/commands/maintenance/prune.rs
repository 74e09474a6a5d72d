use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use kagetsu_book::{BookOptions, Pruning};
use kagetsu_game::{Position, Variant};
use kagetsu_program::{Exit, shown};

use crate::arguments::query::only_variant;
use crate::output::OutputArgs;
use kagetsu_reader::open_book;

/// Removes positions from a book for good
///
/// Positions that no root leads to are removed; with --max-ply also those farther away, with
/// --max-loss also those reached only by worse moves. Without --moves the roots are those of the
/// book's jobs, and the positions that no other position leads to. At least one of the three flags
/// is needed. Make a backup first. Jobs stay;
/// a finished job that lost positions can be resumed.
///
/// Example: kagetsu prune --book h8.book --max-ply 12 --max-loss 150
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The game of --moves, whose positions alone are removed [default: all games]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    /// A root, as in "h8 i9"; repeat the flag for several
    #[arg(long, value_name = "LINE")]
    moves: Vec<String>,
    /// Keeps positions at most N plies from a root
    #[arg(long, value_name = "N")]
    max_ply: Option<u16>,
    /// Follows only moves at most N centi-units worse than the best
    #[arg(long, value_name = "N")]
    max_loss: Option<u16>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    ensure!(
        !args.moves.is_empty() || args.max_ply.is_some() || args.max_loss.is_some(),
        "nothing says what to remove: give --max-ply, --max-loss, or --moves for a root to keep"
    );
    let book = open_book(&args.book, false)?;
    let variant = match args.variant {
        None if !args.moves.is_empty() => Some(only_variant(
            &book.overview()?,
            &args.book.to_string_lossy(),
        )?),
        given => given,
    };
    let root = |line: &String| {
        let variant = variant.context("--moves needs --variant")?;
        Position::from_line(variant, line).with_context(|| format!("--moves \"{line:.200}\""))
    };
    let roots = args.moves.iter().map(root).collect::<Result<_>>()?;
    let pruning = Pruning {
        variant,
        roots,
        max_ply: args.max_ply,
        max_loss: args.max_loss,
    };
    let (book, report) = book.prune(&pruning, &BookOptions::default())?;
    book.close()?;
    let out = &mut args.output.report(out, &report)?;
    let (name, kept) = (shown(&args.book), report.kept);
    writeln!(
        out,
        "{name}: {} positions removed, {kept} kept",
        report.removed
    )?;
    for name in report.paused {
        writeln!(
            out,
            "job '{name}' has lost positions and is paused; `kagetsu jobs resume {name}` has them searched again"
        )?;
    }
    Ok(Exit::Done)
}
