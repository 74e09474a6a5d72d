//! The table as a Parquet file.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use bytes::Bytes;
use kagetsu_book::Book;
use kagetsu_game::Variant;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr,
};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::columns::{COLUMNS, Cell, Column, ColumnKind, MoveNames, PositionRows};
use super::parts::each_part;
use crate::omissions::Omissions;

/// Positions of a row group, which memory holds: about 20,000 rows of gomoku.
const POSITIONS_PER_GROUP: usize = 2048;

/// Writes a book as a table. Returns the number of positions.
///
/// # Errors
/// If the book is damaged, or `out` fails.
pub(super) fn write(
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    let properties = Arc::new(properties());
    let schema = Arc::new(schema()?);
    let described = SchemaDescriptor::new(Arc::clone(&schema));
    // The file is in memory, and what it holds goes to `out` after each group.
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::clone(&properties))?;
    let written = each_part(
        book,
        variant,
        POSITIONS_PER_GROUP,
        |positions| encode_group(positions, &described, &properties),
        |columns: Vec<EncodedColumn>| {
            let mut group = file.next_row_group()?;
            for column in columns {
                group.append_column(&column.bytes, column.result)?;
            }
            group.close()?;
            file.flush()?;
            Ok(out.write_all(&std::mem::take(file.inner_mut()))?)
        },
    )?;
    out.write_all(&file.into_inner()?)?;
    Ok(written)
}

/// Returns the settings of the file. Keys are the only texts with statistics: they are in order
/// within a row group, while the least and greatest of other texts help no query.
fn properties() -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("kagetsu ", env!("CARGO_PKG_VERSION")).into())
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let is_unordered = |column: &&Column| column.kind == ColumnKind::Text && column.name != "key";
    let texts = COLUMNS.iter().filter(is_unordered);
    let without = |properties: WriterPropertiesBuilder, column: &Column| {
        properties.set_column_statistics_enabled(column.name.into(), EnabledStatistics::None)
    };
    texts.fold(properties, without).build()
}

/// A column of a row group as bytes of the file.
struct EncodedColumn {
    bytes: Bytes,
    result: ColumnCloseResult,
}

/// Encodes the rows of positions, column by column.
fn encode_group(
    positions: &[PositionRows],
    schema: &SchemaDescriptor,
    properties: &WriterPropertiesPtr,
) -> Result<Vec<EncodedColumn>> {
    let mut columns: Vec<ColumnCells> = COLUMNS.iter().map(ColumnCells::of).collect();
    let mut names = MoveNames::default();
    for rows in positions {
        let Ok(()) = rows.each(&mut names, |cells| -> Result<(), Infallible> {
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.push(cell);
            }
            Ok(())
        });
    }
    let columns = columns
        .into_iter()
        .zip(COLUMNS.iter())
        .zip(schema.columns());
    let encoded = columns.map(|((cells, column), described)| {
        let mut bytes = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut bytes));
        let writer = get_column_writer(Arc::clone(described), Arc::clone(properties), pages);
        let result = cells.write(writer, column.is_optional)?;
        let bytes = bytes.into_inner()?.into();
        Ok(EncodedColumn { bytes, result })
    });
    encoded.collect()
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
                values.push(value.unwrap_or_else(|| ByteArray::from(*text)));
            }
            (Values::Integer(values), cell) => values.extend(cell.as_integer()),
            (Values::Number(values), Cell::Number(number)) => values.push(*number),
            (Values::Boolean(values), Cell::Boolean(is_so)) => values.push(*is_so),
            _ => {}
        }
    }

    /// Writes the cells.
    fn write(self, mut writer: ColumnWriter<'_>, is_optional: bool) -> Result<ColumnCloseResult> {
        let levels = is_optional.then_some(&self.levels[..]);
        match (&mut writer, &self.values) {
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                writer.write_batch(values, levels, None)
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Integer(values)) => {
                writer.write_batch(values, levels, None)
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
                writer.write_batch(values, levels, None)
            }
            (ColumnWriter::BoolColumnWriter(writer), Values::Boolean(values)) => {
                writer.write_batch(values, levels, None)
            }
            _ => bail!("the schema has another type"),
        }?;
        Ok(writer.close()?)
    }
}

fn schema() -> Result<Type> {
    let fields = COLUMNS.iter().map(|column| Ok(Arc::new(field(column)?)));
    let fields = fields.collect::<Result<_>>()?;
    let schema = Type::group_type_builder("moves")
        .with_fields(fields)
        .build()?;
    Ok(schema)
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
