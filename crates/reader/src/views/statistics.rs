//! Counts of the positions of a book.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use kagetsu_api::OverviewJson;
use kagetsu_book::{Day, Grade, Grades, Grading, Hole, Stats};
use kagetsu_game::{Move, Notation, quote_message};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::books::{overview, print_overview};
use crate::error::ViewError;
use crate::print::TextBlock;
use crate::source::Source;
use crate::view::{View, WholeBook};

/// Positions of a part.
const MAX_PART: usize = 20_000;

/// Counts the positions of a book, and how well they are searched
///
/// First come the variants of the book with the positions where it begins. For each number of
/// stones the table shows the positions, their mean depth, the proven ones, the open ones (a move
/// without a value may be the best), and the holes (moves with a value that lead out of the book,
/// except beside a proven win). The holes nearest to the root are listed. A compiled book has only
/// the counts.
///
/// Example: kagetsu stats --book h8.book
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsView {
    /// Counts one part of a large book: `first`, or the `next` of the part before
    #[arg(long, value_name = "PLACE")]
    part: Option<String>,
}

/// The statistics of a book.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Statistics)]
pub struct StatisticsJson {
    /// Positions of the book.
    positions: u64,
    /// Positions proven won for the side to move.
    wins: u64,
    /// Positions proven lost for the side to move.
    losses: u64,
    /// Positions proven drawn.
    draws: u64,
    /// Positions visited by all searches.
    nodes: u64,
    /// Entries of the journal.
    entries: u64,
    /// Positions by stones on the board.
    #[schema(value_type = BTreeMap<String, u64>)]
    by_stones: BTreeMap<u16, u64>,
    /// Positions by the depth of their search.
    #[schema(value_type = BTreeMap<String, u64>)]
    by_depth: BTreeMap<u8, u64>,
    /// The quality by stones on the board; absent for a compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    grades: Option<Vec<GradeJson>>,
    /// The number of moves searched by each engine; absent for a compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    engines: Option<BTreeMap<String, u64>>,
    /// Positions by the first day of their searches, as in `2026-11-21`; absent for a compiled
    /// book.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_day: Option<BTreeMap<String, u64>>,
    /// Moves with a value that lead out of the book, the nearest to the start; absent for a
    /// compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    holes: Option<Vec<HoleJson>>,
    /// The place of the next part, where one was asked for and is not the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Size on disk.
    bytes: Option<u64>,
    #[serde(flatten)]
    overview: OverviewJson,
}

/// The quality of the positions with the same number of stones.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Grade)]
pub struct GradeJson {
    /// Stones on the board.
    stones: u16,
    /// The number of positions.
    positions: u64,
    /// The mean depth of their searches.
    mean_depth: f64,
    /// Positions proven won for the side to move.
    wins: u64,
    /// Positions proven lost for the side to move.
    losses: u64,
    /// Positions proven drawn.
    draws: u64,
    /// Positions where a move without a value may be the best.
    open: u64,
    /// Moves with a value that lead out of the book, in positions without a proven win.
    holes: u64,
}

/// A move with a value that leads to no position of the book.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Hole)]
pub struct HoleJson {
    /// The game.
    variant: String,
    /// The position as text.
    position: String,
    /// The moves from the start; `fen` is given where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<String>>,
    /// The position as FEN, in games that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    /// 32 hex digits, the same for every order of moves and every symmetry of the board.
    key: String,
    /// The move.
    r#move: String,
    /// Centi-units by which it is worse than the position's value.
    loss: u32,
}

impl View for StatisticsView {
    const NAME: &'static str = "statistics";
    const COMMAND: &'static str = "stats";
    const LASTS: Duration = Duration::from_secs(60);
    type At = WholeBook;
    type Result = StatisticsJson;

    fn read(
        source: &Source,
        _: &WholeBook,
        StatisticsView { part }: StatisticsView,
    ) -> Result<StatisticsJson, ViewError> {
        let of_book = (overview(source)?, source.bytes()?);
        Ok(match source {
            Source::File(file) => StatisticsJson::counted(file.newest().stats(), of_book),
            Source::Folder(_) | Source::Growing(_) => {
                let most = part.as_ref().map_or(usize::MAX, |_| MAX_PART);
                let place = part.filter(|place| place != "first");
                let begun = place.as_deref().map(Grading::behind);
                let begun = begun.unwrap_or_else(|| Some(Grading::default()));
                let grading = begun.ok_or_else(|| {
                    ViewError::Invalid("the part must be `first` or the `next` of a part".into())
                })?;
                let graded = source.inspect(|book| book.grade(grading, most))?;
                let (grades, next) = graded.unwrap_or_default();
                StatisticsJson {
                    next,
                    ..StatisticsJson::graded(&grades, of_book)
                }
            }
            Source::Certificate(_) | Source::Server(_) => {
                let reason = "a certificate has no statistics; `kagetsu verify FILE` checks and describes it";
                return Err(ViewError::Unsupported(reason.into()));
            }
        })
    }

    fn print(result: &StatisticsJson, _: &WholeBook, _: Notation) -> Vec<TextBlock> {
        let (wins, losses, draws) = (result.wins, result.losses, result.draws);
        let on_disk = |bytes| format!(", {:.1} MiB on disk", bytes as f64 / 1_048_576.0);
        let mut blocks = vec![
            TextBlock::Line(format!(
                "{} positions; proven {wins} won, {losses} lost, {draws} drawn (for the side to \
                 move)",
                result.positions
            )),
            TextBlock::Line(format!(
                "{} nodes searched, {} journal entries{}",
                result.nodes,
                result.entries,
                result.bytes.map_or_else(String::new, on_disk)
            )),
        ];
        blocks.extend(print_overview(&result.overview));
        match &result.grades {
            Some(grades) => blocks.extend([TextBlock::line(""), print_grades(grades)]),
            None => blocks.extend(print_counts("stones", &result.by_stones)),
        }
        blocks.extend(print_counts("depth", &result.by_depth));
        let engines = result.engines.iter().flatten();
        blocks.extend(engines.map(|(engine, moves)| {
            TextBlock::Line(format!("{moves} moves by {}", quote_message(engine)))
        }));
        let mut holes = result.holes.iter().flatten().peekable();
        if holes.peek().is_some() {
            blocks.push(TextBlock::line("\nholes nearest to the root:"));
        }
        blocks.extend(holes.map(|hole| {
            TextBlock::Line(format!(
                "{}, {} centi-units worse than the best, in {} ({})",
                hole.r#move, hole.loss, hole.position, hole.key
            ))
        }));
        blocks
    }
}

fn print_grades(grades: &[GradeJson]) -> TextBlock {
    let rows = grades.iter().map(|grade| {
        let [open, holes] = [grade.open, grade.holes].map(|count| count.to_string());
        let [won, lost, drawn] = [grade.wins, grade.losses, grade.draws].map(|n| n.to_string());
        let depth = format!("{:.1}", grade.mean_depth);
        let [stones, all] = [grade.stones.into(), grade.positions].map(|n: u64| n.to_string());
        [stones, all, depth, won, lost, drawn, open, holes]
    });
    let [won, lost, drawn, open, holes] = ["won", "lost", "drawn", "open", "holes"];
    let heads = [
        "stones",
        "positions",
        "mean depth",
        won,
        lost,
        drawn,
        open,
        holes,
    ];
    TextBlock::table(heads, 0..8, rows)
}

fn print_counts<K: Display>(head: &'static str, counts: &BTreeMap<K, u64>) -> [TextBlock; 2] {
    let rows = counts.iter();
    let rows = rows.map(|(key, count)| [key.to_string(), count.to_string()]);
    [
        TextBlock::line(""),
        TextBlock::table([head, "positions"], 0..2, rows),
    ]
}

/// The content of a book in short, and its size on disk.
type Content = (OverviewJson, Option<u64>);

impl StatisticsJson {
    /// The statistics with the quality of a folder.
    fn graded(grades: &Grades, content: Content) -> Self {
        let by_stones = grades.by_stones.iter();
        let by_stones = by_stones.map(|(stones, grade)| GradeJson::new(*stones, grade));
        let by_day = grades.by_day.iter();
        Self {
            grades: Some(by_stones.collect()),
            engines: Some(grades.engines.clone()),
            by_day: Some(
                by_day
                    .map(|(day, count)| (Day(*day).to_string(), *count))
                    .collect(),
            ),
            holes: Some(grades.holes.iter().map(HoleJson::from).collect()),
            ..Self::counted(&grades.stats, content)
        }
    }

    /// The counts alone, as a compiled book has them.
    fn counted(stats: &Stats, (overview, bytes): Content) -> Self {
        Self {
            positions: stats.positions,
            wins: stats.wins,
            losses: stats.losses,
            draws: stats.draws,
            nodes: stats.nodes,
            entries: stats.entries,
            by_stones: stats.by_stones.clone(),
            by_depth: stats.by_depth.clone(),
            grades: None,
            engines: None,
            by_day: None,
            holes: None,
            next: None,
            bytes,
            overview,
        }
    }
}

impl GradeJson {
    fn new(stones: u16, grade: &Grade) -> Self {
        Self {
            stones,
            positions: grade.positions,
            mean_depth: grade.depths as f64 / grade.positions.max(1) as f64,
            wins: grade.wins,
            losses: grade.losses,
            draws: grade.draws,
            open: grade.open,
            holes: grade.holes,
        }
    }
}

impl From<&Hole> for HoleJson {
    fn from(Hole { position, at, loss }: &Hole) -> Self {
        let name = |m: Move| position.write_move(m);
        let line = position.line();
        Self {
            variant: position.variant().to_string(),
            position: position.to_string(),
            moves: line.map(|line| line.into_iter().map(name).collect()),
            fen: position.fen().ok(),
            key: position.key().to_string(),
            r#move: name(*at),
            loss: *loss,
        }
    }
}
