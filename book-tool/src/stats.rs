use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_program::Exit;
use serde::Serialize;

use crate::cli::write_json;
use crate::source::{Any, open_any};
use crate::table;

/// Counts what a book holds
///
/// Example: kagetsu stats --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book's folder, or a compiled book
    #[arg(long, value_name = "DIR|FILE")]
    book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StatsJson {
    positions: u64,
    wins: u64,
    losses: u64,
    draws: u64,
    nodes: u64,
    entries: u64,
    bytes: u64,
    by_stones: BTreeMap<u16, u64>,
    by_depth: BTreeMap<u8, u64>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (stats, bytes) = match open_any(&args.book)? {
        Any::Folder(book) => (book.stats()?, book.bytes()?),
        Any::File(compiled) => (compiled.stats().clone(), compiled.bytes()),
    };
    let json = StatsJson {
        positions: stats.positions,
        wins: stats.wins,
        losses: stats.losses,
        draws: stats.draws,
        nodes: stats.nodes,
        entries: stats.entries,
        bytes,
        by_stones: stats.by_stones,
        by_depth: stats.by_depth,
    };
    if args.json {
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    let StatsJson { positions, wins, losses, draws, nodes, entries, bytes, .. } = &json;
    writeln!(out, "{positions} positions; proven {wins} won, {losses} lost, {draws} drawn (for the side to move)")?;
    writeln!(out, "{nodes} nodes searched, {entries} journal entries, {:.1} MiB on disk", *bytes as f64 / 1_048_576.0)?;
    write_counts(out, "stones", &json.by_stones)?;
    write_counts(out, "depth", &json.by_depth)?;
    Ok(Exit::Done)
}

fn write_counts<K: Display>(out: &mut dyn Write, what: &str, counts: &BTreeMap<K, u64>) -> Result<()> {
    let mut rows = table::plain(&[what, "positions"]);
    for (key, count) in counts {
        rows.add_row([key.to_string(), count.to_string()]);
    }
    table::align_right(&mut rows, &[0, 1]);
    writeln!(out)?;
    table::write(out, &rows)
}
