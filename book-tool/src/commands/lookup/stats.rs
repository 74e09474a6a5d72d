use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_book::{Grade, Hole};
use kagetsu_program::Exit;
use serde::Serialize;

use kagetsu_reader::{LocalBook, open_local};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// Counts the positions of a book, and how well they are searched
///
/// For each number of stones the table shows the positions, their mean depth, the proven ones, the
/// open ones (a move without a value may be the best), and the holes (moves with a value that lead
/// out of the book, except beside a proven win). The holes nearest to the root are listed. A
/// compiled book has only the counts.
///
/// Example: kagetsu stats --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder, or a compiled book
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
    #[serde(skip_serializing_if = "Option::is_none")]
    grades: Option<Vec<GradeJson>>,
    /// The number of moves searched by each engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    engines: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holes: Option<Vec<HoleJson>>,
}

#[derive(Serialize)]
struct GradeJson {
    stones: u16,
    positions: u64,
    mean_depth: f64,
    wins: u64,
    losses: u64,
    draws: u64,
    open: u64,
    holes: u64,
}

#[derive(Serialize)]
struct HoleJson {
    /// The position as text.
    position: String,
    /// The moves from the start; `fen` is given where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    key: String,
    r#move: String,
    loss: u32,
}

impl From<(u16, Grade)> for GradeJson {
    fn from((stones, grade): (u16, Grade)) -> Self {
        let Grade {
            positions,
            depths,
            wins,
            losses,
            draws,
            open,
            holes,
        } = grade;
        let mean_depth = depths as f64 / positions.max(1) as f64;
        Self {
            stones,
            positions,
            mean_depth,
            wins,
            losses,
            draws,
            open,
            holes,
        }
    }
}

impl From<&Hole> for HoleJson {
    fn from(Hole { position, at, loss }: &Hole) -> Self {
        let name = |m| position.write_move(m);
        Self {
            position: position.to_string(),
            moves: position
                .line()
                .map(|line| line.into_iter().map(name).collect()),
            fen: position.fen().ok(),
            key: position.key().to_string(),
            r#move: name(*at),
            loss: *loss,
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (stats, bytes, grades) = match open_local(&args.book)? {
        LocalBook::Folder(book) => {
            let grades = book.grades()?;
            (grades.stats.clone(), book.bytes()?, Some(grades))
        }
        LocalBook::File(compiled) => (compiled.stats().clone(), compiled.bytes(), None),
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
        holes: grades
            .as_ref()
            .map(|grades| grades.holes.iter().map(Into::into).collect()),
        engines: grades.as_ref().map(|grades| grades.engines.clone()),
        grades: grades.map(|grades| grades.by_stones.into_iter().map(Into::into).collect()),
    };
    if args.json {
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    let StatsJson {
        positions,
        wins,
        losses,
        draws,
        nodes,
        entries,
        bytes,
        ..
    } = &json;
    writeln!(
        out,
        "{positions} positions; proven {wins} won, {losses} lost, {draws} drawn (for the side to move)"
    )?;
    writeln!(
        out,
        "{nodes} nodes searched, {entries} journal entries, {:.1} MiB on disk",
        *bytes as f64 / 1_048_576.0
    )?;
    match &json.grades {
        Some(grades) => write_grades(out, grades)?,
        None => write_counts(out, "stones", &json.by_stones)?,
    }
    write_counts(out, "depth", &json.by_depth)?;
    for (engine, moves) in json.engines.iter().flatten() {
        writeln!(out, "{moves} moves by {}", table::one_line(engine))?;
    }
    if json.holes.iter().flatten().next().is_some() {
        writeln!(out, "\nholes nearest to the root:")?;
    }
    for HoleJson {
        position,
        key,
        r#move,
        loss,
        ..
    } in json.holes.iter().flatten()
    {
        writeln!(
            out,
            "{move}, {loss} centi-units worse than the best, in {position} ({key})"
        )?;
    }
    Ok(Exit::Done)
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
