//! The columns of a table, and the rows of a position.

use std::sync::LazyLock;

use kagetsu_book::{Day, ScannedEntry};
use kagetsu_game::{Bound, Move, Position, Proof, Score, Variant};
use kagetsu_games::without_history;

use crate::native::record::{board_text, draw_plies};

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

impl Column {
    /// Reads a row of the list: name, type, whether cells may be empty, meaning.
    fn read(row: &'static str) -> Option<Self> {
        let mut parts = row.split(" | ");
        Some(Self {
            name: parts.next()?,
            kind: match parts.next()? {
                "integer" => ColumnKind::Integer,
                "number" => ColumnKind::Number,
                "boolean" => ColumnKind::Boolean,
                _ => ColumnKind::Text,
            },
            is_optional: parts.next()? == "yes",
            about: parts.next()?,
        })
    }
}

/// The columns of the table, in order. Values are from the view of the side that makes the move.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let rows = include_str!("columns.txt").lines();
    rows.filter_map(Column::read).collect()
});

/// The number of the first columns that are about the position, not about a move.
pub(super) const SHARED_COLUMNS: usize = 6;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Empty,
    Text(&'a str),
    Integer(i64),
    /// An integer that may not fit into 64 bits with a sign.
    Count(u64),
    Number(f64),
    Boolean(bool),
}

impl<'a> Cell<'a> {
    fn text_or_empty(text: Option<&'a str>) -> Self {
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

/// A scanned position with what its rows need beside it.
pub(crate) struct PositionRows {
    pub(crate) scanned: ScannedEntry,
    /// The position as a job leads to it, if one does.
    pub(crate) way: Option<Position>,
}

impl PositionRows {
    /// Passes each row to `write`. The first [`SHARED_COLUMNS`] cells are the same in all of them.
    pub(crate) fn each<E>(
        &self,
        names: &mut MoveNames,
        mut write: impl FnMut(&[Cell]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (position, facts) = (&self.scanned.position, &self.scanned.facts);
        let (known, best) = (&self.scanned.moves, &self.scanned.best);
        // The board as the moves of the row lead to it; the book keeps one of its images.
        let shown = self.way.as_ref().unwrap_or(position);
        let back = position.variant().inverse(shown.key_and_symmetry().1);
        let turned = |m: Move| position.variant().image(m, back);
        let (variant, side) = (position.variant().to_string(), shown.side().to_string());
        let place = place(shown);
        let key = self.scanned.key.to_string();
        let moves = self.moves(names);
        let mut date = (None, String::new());
        let mut line = String::new();
        for ((m, verdict), known) in facts.verdicts().iter().zip(known) {
            if date.0 != Some(verdict.by.day) {
                date = (Some(verdict.by.day), Day(verdict.by.day).to_string());
            }
            line.clear();
            let played: Vec<Move> = verdict.line.iter().map(|m| turned(*m)).collect();
            names.push_line(position, &played, &mut line);
            let mut value = match known.backed_up {
                Some((score, proof)) => value_cells(score, Bound::Exact, proof),
                None => value_cells(verdict.score, verdict.bound, verdict.proof),
            };
            if known.backed_up.is_none() && verdict.is_silent() {
                value[0] = Cell::Empty;
            }
            let [value, value_win_in, value_loss_in, value_bound, value_proof] = value;
            write(&[
                Cell::Text(&variant),
                Cell::text_or_empty(moves.as_deref()),
                Cell::Text(&place),
                Cell::Text(&key),
                Cell::integer(self.scanned.stones),
                Cell::Text(&side),
                Cell::Text(names.name(position, turned(*m))),
                Cell::Boolean(*best == Some(*m)),
                Cell::Boolean(known.behind.is_some()),
                self.scanned.priority.map_or(Cell::Empty, Cell::Number),
                value,
                value_win_in,
                value_loss_in,
                value_bound,
                value_proof,
                if verdict.is_silent() {
                    Cell::Empty
                } else {
                    score_cell(verdict.score)
                },
                Cell::integer_or_empty(verdict.score.win_plies()),
                Cell::integer_or_empty(verdict.score.loss_plies()),
                Cell::integer_or_empty(draw_plies(verdict)),
                Cell::Text(verdict.bound.name()),
                Cell::integer(verdict.depth),
                Cell::Count(verdict.nodes),
                claim_cell(verdict.proof),
                Cell::text_or_empty(verdict.proof.map(|proof| proof.kind.name())),
                Cell::text_or_empty((!line.is_empty()).then_some(&line)),
                Cell::Text(&verdict.by.engine),
                Cell::Text(&date.1),
            ])?;
        }
        Ok(())
    }

    /// Returns the moves to the position as text. A position that no job leads to has the moves
    /// that its stones allow, if the game places stones.
    fn moves(&self, names: &mut MoveNames) -> Option<String> {
        let position = &self.scanned.position;
        let places_stones = position.variant().places_stones();
        let way = match &self.way {
            Some(way) => way.moves().to_vec(),
            None => position.line().filter(|_| places_stones)?,
        };
        let mut text = String::new();
        names.push_line(position, &way, &mut text);
        Some(text)
    }
}

/// Returns the FEN of a position without its history, or the rows of its board.
fn place(position: &Position) -> String {
    // A game that places stones has no FEN.
    let pieces = without_history(position).filter(|_| !position.variant().places_stones());
    let fen = pieces.and_then(|pieces| pieces.fen().ok());
    fen.unwrap_or_else(|| board_text(position))
}

/// The moves of a variant as text. Each is written once.
#[derive(Default)]
pub(crate) struct MoveNames {
    variant: Option<Variant>,
    names: Vec<Option<Box<str>>>,
}

impl MoveNames {
    /// Appends a line of moves of the position's game, with a space between.
    fn push_line(&mut self, position: &Position, line: &[Move], text: &mut String) {
        for (nth, &m) in line.iter().enumerate() {
            if nth > 0 {
                text.push(' ');
            }
            text.push_str(self.name(position, m));
        }
    }

    /// Returns the name of a move of the position's game.
    fn name(&mut self, position: &Position, m: Move) -> &str {
        if self.variant != Some(position.variant()) {
            self.variant = Some(position.variant());
            self.names.clear();
        }
        if self.names.len() <= m.index() {
            self.names.resize(m.index() + 1, None);
        }
        self.names[m.index()].get_or_insert_with(|| position.write_move(m).into())
    }
}

/// Returns the cells of the value that the book believes.
fn value_cells(score: Score, bound: Bound, proof: Option<Proof>) -> [Cell<'static>; 5] {
    [
        score_cell(score),
        Cell::integer_or_empty(score.win_plies()),
        Cell::integer_or_empty(score.loss_plies()),
        Cell::Text(bound.name()),
        claim_cell(proof),
    ]
}

/// Returns the cell of a value in centi-units, which is empty for a forced win or loss.
fn score_cell(score: Score) -> Cell<'static> {
    Cell::integer_or_empty((!score.is_mate()).then(|| score.raw()))
}

fn claim_cell(proof: Option<Proof>) -> Cell<'static> {
    Cell::Text(proof.map_or("none", |proof| proof.claim.name()))
}
