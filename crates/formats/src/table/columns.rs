//! The columns of a table, and the rows of a position.

use anyhow::Result;
use kagetsu_book::{Choice, Entry};
use kagetsu_game::{Bound, Move, Position, Score, Verdict};

use super::paths::Paths;
use crate::native::record::{MoveRecord, PositionRecord};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text in UTF-8.
    Text,
    /// A signed integer of 64 bits.
    Integer,
    /// A number of 64 bits.
    Number,
    /// True or false; 1 or 0 in SQLite and CSV.
    Boolean,
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: ColumnKind,
    /// Whether cells may be empty.
    pub is_optional: bool,
    /// The meaning of a cell.
    pub about: &'static str,
}

const fn column(
    name: &'static str,
    kind: ColumnKind,
    is_optional: bool,
    about: &'static str,
) -> Column {
    Column {
        name,
        kind,
        is_optional,
        about,
    }
}

use ColumnKind::{Boolean, Integer, Number, Text};

/// The columns of the table, in order. Values are from the view of the side that makes the move.
pub const COLUMNS: &[Column] = &[
    column(
        "variant",
        Text,
        false,
        "game and rules, as in `freestyle-15`",
    ),
    column(
        "moves",
        Text,
        true,
        "moves from the start, or from a job's root with a FEN, by the shortest known way",
    ),
    column(
        "position",
        Text,
        false,
        "FEN, or the rows of the board from the top with `X`, `O` and `.`",
    ),
    column(
        "key",
        Text,
        false,
        "32 hexadecimal digits, the same for all symmetries and orders of moves",
    ),
    column("stones", Integer, false, "stones or pieces on the board"),
    column("side", Text, false, "side to move: `first` or `second`"),
    column("move", Text, false, "the move"),
    column(
        "is_best",
        Boolean,
        false,
        "whether the book chooses this move",
    ),
    column(
        "in_book",
        Boolean,
        false,
        "whether the book has the position after the move",
    ),
    column(
        "priority",
        Number,
        true,
        "least priority of the position among the jobs, in plies; 0 at a root",
    ),
    column(
        "value",
        Integer,
        true,
        "backed-up value in centi-units; empty for a forced win or loss",
    ),
    column(
        "value_win_in",
        Integer,
        true,
        "plies to a forced win by the backed-up value",
    ),
    column(
        "value_loss_in",
        Integer,
        true,
        "plies to a forced loss by the backed-up value",
    ),
    column(
        "value_bound",
        Text,
        false,
        "`exact`, `lower` or `upper` for the backed-up value",
    ),
    column(
        "value_proof",
        Text,
        false,
        "`none`, `win`, `loss` or `draw`, by the backed-up value",
    ),
    column(
        "score",
        Integer,
        true,
        "searched value in centi-units; empty for a forced win or loss",
    ),
    column(
        "win_in",
        Integer,
        true,
        "plies to a forced win, as searched",
    ),
    column(
        "loss_in",
        Integer,
        true,
        "plies to a forced loss, as searched",
    ),
    column(
        "draw_in",
        Integer,
        true,
        "plies to a proven draw, as searched",
    ),
    column(
        "bound",
        Text,
        false,
        "`exact`, `lower` or `upper` for the searched value",
    ),
    column("depth", Integer, false, "depth of the search in plies"),
    column("nodes", Integer, false, "positions that the search visited"),
    column(
        "proof",
        Text,
        false,
        "`none`, `win`, `loss` or `draw`, as searched",
    ),
    column(
        "proof_kind",
        Text,
        true,
        "`terminal`, `vcf`, `vct`, `search`, `tree` or `manual`",
    ),
    column(
        "line",
        Text,
        true,
        "expected play of the search, this move first",
    ),
    column("engine", Text, false, "engine of the search"),
    column("date", Text, false, "day of the search, as in 2026-11-24"),
];

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Empty,
    Text(String),
    Integer(i64),
    /// An integer that may not fit into 64 bits with a sign.
    Count(u64),
    Number(f64),
    Boolean(bool),
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn text_or_empty(text: Option<String>) -> Self {
        text.map_or(Self::Empty, Self::Text)
    }

    /// Returns the integer of a cell, at most the greatest of 64 bits with a sign.
    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Count(count) => Some(i64::try_from(*count).unwrap_or(i64::MAX)),
            _ => None,
        }
    }

    fn integer(number: impl Into<i64>) -> Self {
        Self::Integer(number.into())
    }

    fn integer_or_empty(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::Empty, Self::integer)
    }
}

/// The rows of one position.
pub(crate) struct Rows<'a> {
    entry: &'a Entry,
    record: PositionRecord,
    priority: Option<f64>,
    paths: &'a Paths,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(entry: &'a Entry, priority: Option<f64>, paths: &'a Paths) -> Self {
        Self {
            entry,
            record: PositionRecord::new(&entry.position, &entry.facts),
            priority,
            paths,
        }
    }

    /// Passes each row to `write`.
    pub(crate) fn each(&self, write: &mut dyn FnMut(&[Cell]) -> Result<()>) -> Result<()> {
        let Entry {
            position,
            answer,
            facts,
            derived,
        } = self.entry;
        let canonical = position.canonical();
        let place = self.record.fen.clone();
        let place = place.unwrap_or_else(|| self.record.board.join("/"));
        let best = derived
            .best
            .or_else(|| Choice::default().pick(answer).map(|(m, _)| *m));
        let moves: Vec<Move> = facts.verdicts().iter().map(|(m, _)| *m).collect();
        let children = position.children(&moves);
        let head = [
            Cell::text(self.record.variant.clone()),
            Cell::text_or_empty(self.paths.moves_to(position, canonical.key)),
            Cell::Text(place),
            Cell::Text(canonical.key.to_string()),
            Cell::integer(canonical.stones),
            Cell::text(self.record.side.clone()),
        ];
        let searched = self.record.answers.iter().zip(moves).zip(&children);
        for ((record, m), child) in searched {
            let mut cells = head.to_vec();
            cells.extend([
                Cell::text(record.r#move.clone()),
                Cell::Boolean(best == Some(m)),
                Cell::Boolean(self.paths.has(child.key)),
                self.priority.map_or(Cell::Empty, Cell::Number),
            ]);
            let believed = answer.verdicts().iter().find(|(known, _)| *known == m);
            cells.extend(value_cells(believed.map(|(_, verdict)| verdict)));
            cells.extend(search_cells(record));
            debug_assert_eq!(cells.len(), COLUMNS.len());
            write(&cells)?;
        }
        Ok(())
    }
}

/// Returns the cells of the value that the book believes.
fn value_cells(verdict: Option<&Verdict>) -> [Cell; 5] {
    let score = verdict.map(|verdict| verdict.score);
    let bound = verdict.map_or(Bound::Upper, |verdict| verdict.bound);
    let proof = verdict.and_then(|verdict| verdict.proof);
    [
        Cell::integer_or_empty(score.filter(|score| !score.is_mate()).map(Score::raw)),
        Cell::integer_or_empty(score.and_then(Score::win_plies)),
        Cell::integer_or_empty(score.and_then(Score::loss_plies)),
        Cell::text(bound.to_string()),
        Cell::text(proof.map_or_else(|| "none".into(), |proof| proof.claim.to_string())),
    ]
}

/// Returns the cells of the search.
fn search_cells(record: &MoveRecord) -> [Cell; 12] {
    let line = Some(record.line.join(" ")).filter(|line| !line.is_empty());
    [
        Cell::integer_or_empty(record.score),
        Cell::integer_or_empty(record.win_in),
        Cell::integer_or_empty(record.loss_in),
        Cell::integer_or_empty(record.draw_in),
        Cell::text(record.bound.clone()),
        Cell::integer(record.depth),
        Cell::Count(record.nodes),
        Cell::text(record.proof.clone()),
        Cell::text_or_empty(record.proof_kind.clone()),
        Cell::text_or_empty(line),
        Cell::text(record.engine.clone()),
        Cell::text(record.date.clone()),
    ]
}

/// Returns the moves of a position that no job leads to, where its stones say them.
pub(crate) fn own_moves(position: &Position) -> Option<Vec<Move>> {
    position
        .variant()
        .places_stones()
        .then(|| position.line())?
}
