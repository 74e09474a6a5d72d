use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use kagetsu_book::{BookOptions, PruneReport, Pruning};
use kagetsu_game::{Position, Variant};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::books::open_book;
use crate::output::json::write_json;

/// Removes positions from a book, for good
///
/// What its roots do not lead to is removed; with --max-ply what is farther away, with --max-loss what is reached only by worse moves.
/// Without --moves the roots are those of its jobs, and what no other position of the book leads to. A root must be in the book, or
/// lead to what is. With --variant the positions of other games stay. Make a backup first. Jobs stay; one that was done and has
/// lost positions waits to be resumed.
///
/// Example: kagetsu prune --book h8.book --max-ply 12 --max-loss 150
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book's folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// Whose positions are removed, and what --moves are of [default: those of all games]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    /// A root, as in "h8 i9"; more than one may be given
    #[arg(long, value_name = "LINE", requires = "variant")]
    moves: Vec<String>,
    /// Keeps what is at most N plies from a root
    #[arg(long, value_name = "N")]
    max_ply: Option<u16>,
    /// Follows a move only if it is at most N centi-units worse than the best
    #[arg(long, value_name = "N")]
    max_loss: Option<u16>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PruneJson {
    kept: u64,
    removed: u64,
    paused: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let root = |line: &String| {
        let variant = args.variant.context("--moves needs --variant")?;
        Position::from_line(variant, line).with_context(|| format!("--moves \"{line}\""))
    };
    let roots = args.moves.iter().map(root).collect::<Result<_>>()?;
    let pruning = Pruning {
        variant: args.variant,
        roots,
        max_ply: args.max_ply,
        max_loss: args.max_loss,
    };
    let (book, report) = open_book(&args.book, false)?.prune(&pruning, &BookOptions::default())?;
    book.close()?;
    let PruneReport {
        kept,
        removed,
        paused,
        ..
    } = report;
    if args.json {
        write_json(
            out,
            &PruneJson {
                kept,
                removed,
                paused,
            },
        )?;
        return Ok(Exit::Done);
    }
    writeln!(
        out,
        "{}: {removed} positions removed, {kept} kept",
        args.book.display()
    )?;
    for name in paused {
        writeln!(
            out,
            "job '{name}' has lost positions and is paused; `kagetsu jobs resume {name}` has them searched again"
        )?;
    }
    Ok(Exit::Done)
}
