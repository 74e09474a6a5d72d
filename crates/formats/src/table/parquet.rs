//! The table as a Parquet file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::TableWriter;
use super::columns::{COLUMNS, Cell, Column, ColumnKind};

/// Rows of a row group, which memory holds.
const ROWS_PER_GROUP: usize = 65_536;

/// A Parquet file that is being written.
pub(super) struct ParquetTable {
    file: SerializedFileWriter<File>,
    /// The cells of the current row group, by column.
    columns: Vec<Vec<Cell>>,
}

impl ParquetTable {
    /// Creates the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let fields = COLUMNS.iter().map(|column| Ok(Arc::new(field(column)?)));
        let fields = fields.collect::<Result<_>>()?;
        let schema = Type::group_type_builder("moves")
            .with_fields(fields)
            .build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("kagetsu ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let file = File::create(path).context("cannot make a temporary file")?;
        let file = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        Ok(Self {
            file,
            columns: vec![Vec::new(); COLUMNS.len()],
        })
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for (column, cells) in COLUMNS.iter().zip(&mut self.columns) {
            let Some(mut writer) = group.next_column()? else {
                bail!("the schema has no column {}", column.name);
            };
            write_column(&mut writer, column, cells)?;
            writer.close()?;
            cells.clear();
        }
        group.close()?;
        Ok(())
    }
}

impl TableWriter for ParquetTable {
    fn row(&mut self, cells: &[Cell]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell.clone());
        }
        if self.columns[0].len() >= ROWS_PER_GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if !self.columns[0].is_empty() {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(())
    }
}

fn field(column: &Column) -> Result<Type> {
    let (kind, logical) = match column.kind {
        ColumnKind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Integer => (PhysicalType::INT64, None),
        ColumnKind::Number => (PhysicalType::DOUBLE, None),
        ColumnKind::Boolean => (PhysicalType::BOOLEAN, None),
    };
    let repetition = if column.is_optional {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    };
    let field = Type::primitive_type_builder(column.name, kind)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(field)
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    cells: &[Cell],
) -> Result<()> {
    let levels: Vec<i16> = cells
        .iter()
        .map(|cell| i16::from(*cell != Cell::Empty))
        .collect();
    let levels = column.is_optional.then_some(&levels[..]);
    match column.kind {
        ColumnKind::Text => {
            let values: Vec<_> = cells
                .iter()
                .filter_map(|cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                })
                .collect();
            let writer = writer.typed::<ByteArrayType>();
            writer.write_batch(&values, levels, None)?;
        }
        ColumnKind::Integer => {
            let values: Vec<_> = cells.iter().filter_map(Cell::as_integer).collect();
            writer
                .typed::<Int64Type>()
                .write_batch(&values, levels, None)?;
        }
        ColumnKind::Number => {
            let values: Vec<_> = cells
                .iter()
                .filter_map(|cell| match cell {
                    Cell::Number(number) => Some(*number),
                    _ => None,
                })
                .collect();
            writer
                .typed::<DoubleType>()
                .write_batch(&values, levels, None)?;
        }
        ColumnKind::Boolean => {
            let values: Vec<_> = cells
                .iter()
                .filter_map(|cell| match cell {
                    Cell::Boolean(is_so) => Some(*is_so),
                    _ => None,
                })
                .collect();
            writer
                .typed::<BoolType>()
                .write_batch(&values, levels, None)?;
        }
    }
    Ok(())
}
