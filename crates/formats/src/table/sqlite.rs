//! The table as a SQLite database.
//!
//! The cells that all moves of a position share are in a table of their own, because a board has
//! more bytes than all other cells of a move together. A view joins both tables.

use std::convert::Infallible;
use std::path::Path;

use anyhow::{Context, Result};
use kagetsu_book::Book;
use kagetsu_game::Variant;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement};

use super::columns::{COLUMNS, Cell, Column, ColumnKind, MoveNames, PositionRows, SHARED_COLUMNS};
use super::parts::each_part;
use crate::omissions::Omissions;

/// Positions whose cells are made together.
const POSITIONS_PER_PART: usize = 512;

/// The first and the last row of a position in `position_moves`.
const ROW_RANGE: [&str; 2] = ["first_move", "last_move"];

/// Writes a book as a database. Returns the number of positions.
///
/// # Errors
/// If the book is damaged, or the file cannot be written.
pub(super) fn write(
    book: &Book,
    variant: Option<Variant>,
    path: &Path,
) -> Result<(u64, Omissions)> {
    let database = Connection::open(path).context("cannot make a database")?;
    // Nothing reads the file before it is whole, so it needs no journal.
    database.pragma_update(None, "journal_mode", "off")?;
    database.pragma_update(None, "synchronous", "off")?;
    database.pragma_update(None, "locking_mode", "exclusive")?;
    database.pragma_update(None, "page_size", PAGE_BYTES)?;
    database.execute_batch(&tables())?;
    let written = {
        let mut table = TableRows {
            positions: insert(&database, "positions", SHARED_COLUMNS + ROW_RANGE.len())?,
            moves: insert(&database, "position_moves", COLUMNS.len() - SHARED_COLUMNS)?,
            moves_written: 0,
        };
        each_part(
            book,
            variant,
            POSITIONS_PER_PART,
            |positions| Ok(StoredCells::of(positions)),
            |cells| table.write(&cells),
        )?
    };
    database.execute_batch("CREATE INDEX positions_key ON positions (key); COMMIT")?;
    database.close().map_err(|(_, error)| error)?;
    Ok(written)
}

const PAGE_BYTES: u32 = 16_384;

/// Returns the statements that make the tables and the view, and begin a transaction.
fn tables() -> String {
    let (position, own) = COLUMNS.split_at(SHARED_COLUMNS);
    let position: Vec<String> = position.iter().map(definition).collect();
    let own: Vec<String> = own.iter().map(definition).collect();
    let names: Vec<String> = COLUMNS.iter().map(|c| format!("\"{}\"", c.name)).collect();
    let [first, last] = ROW_RANGE;
    format!(
        "BEGIN;
         CREATE TABLE positions ({}, {first} INTEGER NOT NULL, {last} INTEGER NOT NULL);
         CREATE TABLE position_moves ({});
         CREATE VIEW moves AS SELECT {} FROM positions
         CROSS JOIN position_moves ON position_moves.rowid BETWEEN {first} AND {last};",
        position.join(", "),
        own.join(", "),
        names.join(", ")
    )
}

fn definition(column: &Column) -> String {
    let kind = match column.kind {
        ColumnKind::Text => "TEXT",
        ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
        ColumnKind::Number => "REAL",
    };
    let empty = if column.is_optional { "" } else { " NOT NULL" };
    format!("\"{}\" {kind}{empty}", column.name)
}

fn insert<'a>(database: &'a Connection, table: &str, columns: usize) -> Result<Statement<'a>> {
    let places = vec!["?"; columns].join(", ");
    Ok(database.prepare(&format!("INSERT INTO {table} VALUES ({places})"))?)
}

/// The statements that insert rows.
struct TableRows<'a> {
    positions: Statement<'a>,
    moves: Statement<'a>,
    moves_written: i64,
}

impl TableRows<'_> {
    fn write(&mut self, part: &StoredCells) -> Result<()> {
        let mut cells = part.cells.as_slice();
        let mut take = |count: usize| {
            let (taken, rest) = cells.split_at(count);
            cells = rest;
            taken
        };
        for &moves in &part.moves {
            let position = take(SHARED_COLUMNS);
            bind(&mut self.positions, position, &part.text)?;
            let last = self.moves_written + i64::from(moves);
            let range = [self.moves_written + 1, last];
            for (nth, number) in (SHARED_COLUMNS + 1..).zip(range) {
                self.positions.raw_bind_parameter(nth, number)?;
            }
            self.positions.raw_execute()?;
            for _ in 0..moves {
                bind(
                    &mut self.moves,
                    take(COLUMNS.len() - SHARED_COLUMNS),
                    &part.text,
                )?;
                self.moves.raw_execute()?;
            }
            self.moves_written = last;
        }
        Ok(())
    }
}

fn bind(statement: &mut Statement<'_>, cells: &[StoredCell], text: &str) -> Result<()> {
    for (nth, cell) in (1..).zip(cells) {
        match cell {
            // A statement keeps what was bound before.
            StoredCell::Same => Ok(()),
            StoredCell::Empty => statement.raw_bind_parameter(nth, Null),
            StoredCell::Text { end, length } => {
                let bytes = &text.as_bytes()[end - length..*end];
                let text = ToSqlOutput::Borrowed(ValueRef::Text(bytes));
                statement.raw_bind_parameter(nth, text)
            }
            StoredCell::Integer(number) => statement.raw_bind_parameter(nth, number),
            StoredCell::Number(number) => statement.raw_bind_parameter(nth, number),
        }?;
    }
    Ok(())
}

/// The cells of some positions: for each those that its moves share, then those of each move.
struct StoredCells {
    cells: Vec<StoredCell>,
    /// The texts of all cells.
    text: String,
    /// The number of moves of each position.
    moves: Vec<u32>,
    /// For each column, the last cell that is not [`StoredCell::Same`].
    last: Vec<StoredCell>,
}

/// A cell for the database, with its text in [`StoredCells::text`].
#[derive(Clone, Copy, PartialEq)]
enum StoredCell {
    /// As in the row before. Most cells are, and binding a text copies it.
    Same,
    Empty,
    Text {
        end: usize,
        length: usize,
    },
    Integer(i64),
    Number(f64),
}

impl StoredCells {
    fn of(positions: &[PositionRows]) -> Self {
        let mut part = Self {
            cells: Vec::new(),
            text: String::new(),
            moves: Vec::new(),
            last: vec![StoredCell::Same; COLUMNS.len()],
        };
        let mut names = MoveNames::default();
        for rows in positions {
            let mut moves = 0;
            let Ok(()) = rows.each(&mut names, |cells| -> Result<(), Infallible> {
                let written = if moves == 0 { 0 } else { SHARED_COLUMNS };
                let cells = cells.iter().enumerate().skip(written);
                cells.for_each(|(column, cell)| part.push(column, cell));
                moves += 1;
                Ok(())
            });
            if moves > 0 {
                part.moves.push(moves);
            }
        }
        part
    }

    fn push(&mut self, column: usize, cell: &Cell) {
        let stored = match cell {
            Cell::Empty => StoredCell::Empty,
            Cell::Text(text) => match self.last[column] {
                StoredCell::Text { end, length } if self.text[end - length..end] == **text => {
                    self.last[column]
                }
                _ => {
                    self.text.push_str(text);
                    StoredCell::Text {
                        end: self.text.len(),
                        length: text.len(),
                    }
                }
            },
            Cell::Integer(_) | Cell::Count(_) => {
                StoredCell::Integer(cell.as_integer().unwrap_or_default())
            }
            Cell::Number(number) => StoredCell::Number(*number),
            Cell::Boolean(is_so) => StoredCell::Integer((*is_so).into()),
        };
        let is_same = self.last[column] == stored;
        self.cells
            .push(if is_same { StoredCell::Same } else { stored });
        self.last[column] = stored;
    }
}
