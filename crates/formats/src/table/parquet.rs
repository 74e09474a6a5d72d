//! The table as a Parquet file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
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
    /// The current row group, by column.
    columns: Vec<ColumnCells>,
    /// Rows of the current row group.
    rows: usize,
}

/// The cells of a column in a row group.
struct ColumnCells {
    values: Values,
    /// 1 for each cell with a value, 0 for each empty one.
    levels: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Boolean(Vec<bool>),
}

impl ColumnCells {
    fn of(column: &Column) -> Self {
        let values = match column.kind {
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Integer => Values::Integer(Vec::new()),
            ColumnKind::Number => Values::Number(Vec::new()),
            ColumnKind::Boolean => Values::Boolean(Vec::new()),
        };
        Self {
            values,
            levels: Vec::new(),
        }
    }

    fn push(&mut self, cell: &Cell) {
        self.levels.push(i16::from(*cell != Cell::Empty));
        match (&mut self.values, cell) {
            (Values::Text(values), Cell::Text(text)) => {
                // The rows of a position share most texts.
                let same = values.last().filter(|last| last.data() == text.as_bytes());
                let value = same.cloned();
                values.push(value.unwrap_or_else(|| ByteArray::from(&**text)));
            }
            (Values::Integer(values), cell) => values.extend(cell.as_integer()),
            (Values::Number(values), Cell::Number(number)) => values.push(*number),
            (Values::Boolean(values), Cell::Boolean(is_so)) => values.push(*is_so),
            _ => {}
        }
    }

    /// Writes the cells and removes them.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>, is_optional: bool) -> Result<()> {
        let levels = is_optional.then_some(&self.levels[..]);
        match &mut self.values {
            Values::Text(values) => write_values::<ByteArrayType>(writer, values, levels),
            Values::Integer(values) => write_values::<Int64Type>(writer, values, levels),
            Values::Number(values) => write_values::<DoubleType>(writer, values, levels),
            Values::Boolean(values) => write_values::<BoolType>(writer, values, levels),
        }?;
        self.levels.clear();
        Ok(())
    }
}

fn write_values<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<()> {
    writer.typed::<T>().write_batch(values, levels, None)?;
    values.clear();
    Ok(())
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
            columns: COLUMNS.iter().map(ColumnCells::of).collect(),
            rows: 0,
        })
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for (column, cells) in COLUMNS.iter().zip(&mut self.columns) {
            let Some(mut writer) = group.next_column()? else {
                bail!("the schema has no column {}", column.name);
            };
            cells.write(&mut writer, column.is_optional)?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl TableWriter for ParquetTable {
    fn row(&mut self, cells: &[Cell]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.rows += 1;
        if self.rows >= ROWS_PER_GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if self.rows > 0 {
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
