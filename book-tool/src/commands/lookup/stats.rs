use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;

use anyhow::Result;
use kagetsu_api::{GradeJson, HoleJson, OverviewJson, StatisticsJson};
use kagetsu_book::Overview;
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use serde::Serialize;

use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// The most roots of a variant that are listed.
const MAX_LISTED_ROOTS: usize = 10;

/// Counts the positions of a book, and how well they are searched
///
/// First come the variants of the book with the positions where it begins. For each number of
/// stones the table shows the positions, their mean depth, the proven ones, the open ones (a move
/// without a value may be the best), and the holes (moves with a value that lead out of the book,
/// except beside a proven win). The holes nearest to the root are listed. A compiled book has only
/// the counts.
///
/// Example: kagetsu stats --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder, a compiled book, or the URL of a coordinator such as http://127.0.0.1:7615
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    access: Access,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StatsJson {
    #[serde(flatten)]
    statistics: StatisticsJson,
    /// Size on disk; null for the book of a server.
    bytes: Option<u64>,
    #[serde(flatten)]
    overview: OverviewJson,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let mut reader = kagetsu_reader::open(&args.book, &args.access)?;
    let overview = reader.overview()?;
    let (statistics, bytes) = (reader.statistics()?, reader.bytes()?);
    if args.json {
        let json = StatsJson {
            statistics,
            bytes,
            overview: OverviewJson::from(&overview),
        };
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    let StatisticsJson {
        positions,
        wins,
        losses,
        draws,
        nodes,
        entries,
        ..
    } = &statistics;
    writeln!(
        out,
        "{positions} positions; proven {wins} won, {losses} lost, {draws} drawn (for the side to move)"
    )?;
    writeln!(
        out,
        "{nodes} nodes searched, {entries} journal entries{}",
        bytes.map_or_else(String::new, on_disk)
    )?;
    write_overview(out, &overview)?;
    match &statistics.grades {
        Some(grades) => write_grades(out, grades)?,
        None => write_counts(out, "stones", &statistics.by_stones)?,
    }
    write_counts(out, "depth", &statistics.by_depth)?;
    for (engine, moves) in statistics.engines.iter().flatten() {
        writeln!(out, "{moves} moves by {}", table::one_line(engine))?;
    }
    if statistics.holes.iter().flatten().next().is_some() {
        writeln!(out, "\nholes nearest to the root:")?;
    }
    for HoleJson {
        position,
        key,
        r#move,
        loss,
        ..
    } in statistics.holes.iter().flatten()
    {
        writeln!(
            out,
            "{move}, {loss} centi-units worse than the best, in {position} ({key})"
        )?;
    }
    Ok(Exit::Done)
}

fn on_disk(bytes: u64) -> String {
    format!(", {:.1} MiB on disk", bytes as f64 / 1_048_576.0)
}

/// Writes the variants of a book, each with its roots.
fn write_overview(out: &mut dyn Write, overview: &Overview) -> Result<()> {
    for held in &overview.variants {
        writeln!(out, "\n{}: {} positions", held.variant, held.positions)?;
        for root in held.roots.iter().take(MAX_LISTED_ROOTS) {
            let more = if root.is_more { "more than " } else { "" };
            writeln!(
                out,
                "  begins at {}, {more}{} positions behind it",
                root.position, root.positions
            )?;
        }
        let rest = held
            .all_roots
            .saturating_sub(held.roots.len().min(MAX_LISTED_ROOTS) as u64);
        if rest > 0 {
            writeln!(out, "  and at {rest} more")?;
        }
    }
    Ok(())
}

fn write_grades(out: &mut dyn Write, grades: &[GradeJson]) -> Result<()> {
    let heads = [
        "stones",
        "positions",
        "mean depth",
        "won",
        "lost",
        "drawn",
        "open",
        "holes",
    ];
    let mut rows = table::plain(&heads);
    for grade in grades {
        let GradeJson {
            stones,
            positions,
            mean_depth,
            wins,
            losses,
            draws,
            open,
            holes,
        } = grade;
        let counts =
            [*positions, *wins, *losses, *draws, *open, *holes].map(|count| count.to_string());
        let [positions, counts @ ..] = counts;
        let mut row = vec![stones.to_string(), positions, format!("{mean_depth:.1}")];
        row.extend(counts);
        rows.add_row(row);
    }
    table::align_right(&mut rows, &[0, 1, 2, 3, 4, 5, 6, 7]);
    writeln!(out)?;
    table::write(out, &rows)
}

fn write_counts<K: Display>(
    out: &mut dyn Write,
    what: &str,
    counts: &BTreeMap<K, u64>,
) -> Result<()> {
    let mut rows = table::plain(&[what, "positions"]);
    for (key, count) in counts {
        rows.add_row([key.to_string(), count.to_string()]);
    }
    table::align_right(&mut rows, &[0, 1]);
    writeln!(out)?;
    table::write(out, &rows)
}
