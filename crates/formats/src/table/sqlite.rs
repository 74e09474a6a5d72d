//! The table as a SQLite database.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::TableWriter;
use super::columns::{COLUMNS, Cell, ColumnKind};

/// A database with the table `moves`.
pub(super) struct SqliteTable {
    database: Connection,
    /// The statement that inserts a row.
    query: String,
}

impl SqliteTable {
    /// Creates the database.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let database = Connection::open(path).context("cannot make a database")?;
        // The file is written once and renamed when it is whole, so it needs no journal.
        database.pragma_update(None, "journal_mode", "off")?;
        database.pragma_update(None, "synchronous", "off")?;
        let columns: Vec<String> = COLUMNS
            .iter()
            .map(|column| {
                let kind = match column.kind {
                    ColumnKind::Text => "TEXT",
                    ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
                    ColumnKind::Number => "REAL",
                };
                let empty = if column.is_optional { "" } else { " NOT NULL" };
                format!("\"{}\" {kind}{empty}", column.name)
            })
            .collect();
        database.execute_batch(&format!(
            "CREATE TABLE moves ({}); BEGIN",
            columns.join(", ")
        ))?;
        let places = vec!["?"; COLUMNS.len()].join(", ");
        Ok(Self {
            database,
            query: format!("INSERT INTO moves VALUES ({places})"),
        })
    }
}

impl TableWriter for SqliteTable {
    fn row(&mut self, cells: &[Cell]) -> Result<()> {
        let mut insert = self.database.prepare_cached(&self.query)?;
        insert.execute(params_from_iter(cells))?;
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<()> {
        self.database
            .execute_batch("COMMIT; CREATE INDEX moves_key ON moves (key)")?;
        self.database.flush_prepared_statement_cache();
        self.database.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let owned = |value| Ok(ToSqlOutput::Owned(value));
        match self {
            Self::Empty => owned(Value::Null),
            Self::Text(text) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Self::Integer(_) | Self::Count(_) => {
                owned(Value::Integer(self.as_integer().unwrap_or_default()))
            }
            Self::Number(number) => owned(Value::Real(*number)),
            Self::Boolean(is_so) => owned(Value::Integer((*is_so).into())),
        }
    }
}
