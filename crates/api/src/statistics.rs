use std::collections::BTreeMap;

use kagetsu_book::{Grade, Grades, Hole, Stats};
use kagetsu_game::{Move, Position};
use kagetsu_proto::{WireError, v1};
use serde::Serialize;

use crate::date::date;

/// The statistics of a book.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Statistics))]
pub struct StatisticsJson {
    /// Positions of the book.
    pub positions: u64,
    /// Positions proven won for the side to move.
    pub wins: u64,
    /// Positions proven lost for the side to move.
    pub losses: u64,
    /// Positions proven drawn.
    pub draws: u64,
    /// Positions visited by all searches.
    pub nodes: u64,
    /// Entries of the journal.
    pub entries: u64,
    /// Positions by stones on the board.
    pub by_stones: BTreeMap<u16, u64>,
    /// Positions by the depth of their search.
    pub by_depth: BTreeMap<u8, u64>,
    /// The quality by stones on the board; absent for a compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<Vec<GradeJson>>,
    /// The number of moves searched by each engine; absent for a compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<BTreeMap<String, u64>>,
    /// Positions by the first day of their searches, as in `2026-11-21`; absent for a compiled
    /// book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_day: Option<BTreeMap<String, u64>>,
    /// Moves with a value that lead out of the book, the nearest to the start; absent for a
    /// compiled book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holes: Option<Vec<HoleJson>>,
}

/// The quality of the positions with the same number of stones.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Grade))]
pub struct GradeJson {
    /// Stones on the board.
    pub stones: u16,
    /// The number of positions.
    pub positions: u64,
    /// The mean depth of their searches.
    pub mean_depth: f64,
    /// Positions proven won for the side to move.
    pub wins: u64,
    /// Positions proven lost for the side to move.
    pub losses: u64,
    /// Positions proven drawn.
    pub draws: u64,
    /// Positions where a move without a value may be the best.
    pub open: u64,
    /// Moves with a value that lead out of the book, in positions without a proven win.
    pub holes: u64,
}

/// A move with a value that leads to no position of the book.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Hole))]
pub struct HoleJson {
    /// The game.
    pub variant: String,
    /// The position as text.
    pub position: String,
    /// The moves from the start; `fen` is given where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<String>>,
    /// The position as FEN, in games that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// 32 hex digits, the same for every order of moves and every symmetry of the board.
    pub key: String,
    /// The move.
    pub r#move: String,
    /// Centi-units by which it is worse than the position's value.
    pub loss: u32,
}

impl StatisticsJson {
    /// The statistics with the quality of a folder.
    #[must_use]
    pub fn graded(grades: &Grades) -> Self {
        let by_stones = grades.by_stones.iter();
        Self {
            grades: Some(
                by_stones
                    .map(|(stones, grade)| GradeJson::new(*stones, grade))
                    .collect(),
            ),
            engines: Some(grades.engines.clone()),
            by_day: Some(
                grades
                    .by_day
                    .iter()
                    .map(|(day, positions)| (date(*day), *positions))
                    .collect(),
            ),
            holes: Some(grades.holes.iter().map(HoleJson::from).collect()),
            ..Self::counted(&grades.stats)
        }
    }

    /// The counts alone, as a compiled book has them.
    #[must_use]
    pub fn counted(stats: &Stats) -> Self {
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

/// Returns the statistics of a folder as a message.
#[must_use]
pub fn graded_message(grades: &Grades) -> v1::BookStatistics {
    let by_stones = grades.by_stones.iter().map(|(&stones, grade)| v1::Grade {
        stones: stones.into(),
        positions: grade.positions,
        depths: grade.depths,
        wins: grade.wins,
        losses: grade.losses,
        draws: grade.draws,
        open: grade.open,
        holes: grade.holes,
    });
    let holes = grades.holes.iter().map(|hole| v1::Hole {
        position: Some((&hole.position).into()),
        r#move: hole.at.code().into(),
        loss: hole.loss,
    });
    let engines = grades.engines.iter();
    v1::BookStatistics {
        by_stones: by_stones.collect(),
        engines: engines
            .map(|(engine, moves)| (engine.clone(), *moves))
            .collect(),
        by_day: grades
            .by_day
            .iter()
            .map(|(day, positions)| (*day, *positions))
            .collect(),
        holes: holes.collect(),
        is_graded: true,
        ..counted_message(&grades.stats)
    }
}

/// Returns the counts of a compiled book as a message.
#[must_use]
pub fn counted_message(stats: &Stats) -> v1::BookStatistics {
    let by_depth = stats.by_depth.iter();
    let by_stones = stats
        .by_stones
        .iter()
        .map(|(&stones, &positions)| v1::Grade {
            stones: stones.into(),
            positions,
            ..v1::Grade::default()
        });
    v1::BookStatistics {
        positions: stats.positions,
        by_depth: by_depth
            .map(|(depth, count)| (u32::from(*depth), *count))
            .collect(),
        by_stones: by_stones.collect(),
        nodes: stats.nodes,
        entries: stats.entries,
        wins: stats.wins,
        losses: stats.losses,
        draws: stats.draws,
        ..v1::BookStatistics::default()
    }
}

/// Returns the statistics of a message.
///
/// # Errors
/// If a number is out of its range or a position is impossible.
pub fn read_statistics(message: &v1::BookStatistics) -> Result<StatisticsJson, WireError> {
    let mut stats = Stats {
        positions: message.positions,
        wins: message.wins,
        losses: message.losses,
        draws: message.draws,
        nodes: message.nodes,
        entries: message.entries,
        ..Stats::default()
    };
    for (&depth, &count) in &message.by_depth {
        let depth = u8::try_from(depth).map_err(|_| out_of_range("a depth", depth))?;
        stats.by_depth.insert(depth, count);
    }
    let mut by_stones = BTreeMap::new();
    for grade in &message.by_stones {
        let range = |_| out_of_range("a number of stones", grade.stones);
        let stones = u16::try_from(grade.stones).map_err(range)?;
        stats.by_stones.insert(stones, grade.positions);
        let grade = Grade {
            positions: grade.positions,
            depths: grade.depths,
            wins: grade.wins,
            losses: grade.losses,
            draws: grade.draws,
            open: grade.open,
            holes: grade.holes,
        };
        by_stones.insert(stones, grade);
    }
    if !message.is_graded {
        return Ok(StatisticsJson::counted(&stats));
    }
    let hole = |hole: &v1::Hole| {
        let position = hole.position.as_ref();
        let code = u16::try_from(hole.r#move).map_err(|_| out_of_range("a move", hole.r#move))?;
        Ok(Hole {
            position: Position::try_from(position.ok_or(WireError::Missing("the position"))?)?,
            at: Move::new(code),
            loss: hole.loss,
        })
    };
    let engines = message.engines.iter();
    Ok(StatisticsJson::graded(&Grades {
        stats,
        by_stones,
        engines: engines
            .map(|(engine, moves)| (engine.clone(), *moves))
            .collect(),
        by_day: message
            .by_day
            .iter()
            .map(|(day, positions)| (*day, *positions))
            .collect(),
        holes: message
            .holes
            .iter()
            .map(hole)
            .collect::<Result<_, WireError>>()?,
    }))
}

fn out_of_range(what: &'static str, value: u32) -> WireError {
    WireError::Range {
        what,
        value: value.into(),
    }
}
