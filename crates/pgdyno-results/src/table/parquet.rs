//! A table as Parquet: one row group, every column optional, times in microseconds.

use std::io;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::{Cell, CellKind, Column, EXPORT, TableError};
use crate::record::RunRecord;

pub(super) fn write(records: &[RunRecord], out: &mut (dyn io::Write + Send)) -> Result<(), TableError> {
    encode(records, out).map_err(TableError::of("parquet"))
}

fn encode(records: &[RunRecord], out: &mut (dyn io::Write + Send)) -> Result<(), ParquetError> {
    let properties =
        WriterProperties::builder().set_created_by(concat!("pgdyno ", env!("CARGO_PKG_VERSION")).to_owned());
    let mut file = SerializedFileWriter::new(out, schema()?, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for column in EXPORT {
        let cells: Vec<Cell> = records.iter().map(column.of).collect();
        // The schema has a column for each of ours.
        let Some(mut writer) = group.next_column()? else { break };
        fill(&mut writer, column.kind, &cells)?;
        writer.close()?;
    }
    group.close()?;
    file.close().map(drop)
}

fn schema() -> Result<TypePtr, ParquetError> {
    let fields = EXPORT.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("run").with_fields(fields).build()?))
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        CellKind::Json => (Physical::BYTE_ARRAY, Some(LogicalType::Json)),
        CellKind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        CellKind::Count => (Physical::INT64, None),
        CellKind::Number(_) => (Physical::DOUBLE, None),
        CellKind::Flag => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
}

fn fill(writer: &mut SerializedColumnWriter<'_>, kind: CellKind, cells: &[Cell]) -> Result<(), ParquetError> {
    match kind {
        CellKind::Text | CellKind::Json => column::<ByteArrayType>(writer, cells, |cell| match cell {
            Cell::Text(text) => Some(ByteArray::from(text.as_str())),
            Cell::Json(json) => Some(ByteArray::from(json.to_string().as_str())),
            _ => None,
        }),
        CellKind::Time | CellKind::Count => column::<Int64Type>(writer, cells, |cell| match cell {
            Cell::Time(time) => Some(time.as_microsecond()),
            // Readers of Parquet support signed numbers best, and no count is that large.
            Cell::Count(count) => i64::try_from(*count).ok(),
            _ => None,
        }),
        CellKind::Number(_) => column::<DoubleType>(writer, cells, |cell| match cell {
            Cell::Number(number) => Some(*number),
            _ => None,
        }),
        CellKind::Flag => column::<BoolType>(writer, cells, |cell| match cell {
            Cell::Flag(flag) => Some(*flag),
            _ => None,
        }),
    }
}

/// Returns the values, and for each row whether it has one.
fn column<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    cells: &[Cell],
    value: fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = cells.iter().map(value).collect();
    let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&there), None).map(drop)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let records = crate::fixture::all();
        let mut bytes = Vec::new();
        write(&records, &mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<Vec<(String, Field)>> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect();
        assert_eq!(rows.len(), records.len());
        for (row, record) in rows.iter().zip(&records) {
            assert_eq!(row.len(), EXPORT.len());
            for ((name, field), column) in row.iter().zip(EXPORT) {
                assert_eq!(name, column.name);
                let same = match ((column.of)(record), field) {
                    (Cell::Missing, Field::Null) => true,
                    (Cell::Text(text), Field::Str(found)) => *found == text,
                    (Cell::Json(json), Field::Str(found)) => {
                        found.parse().is_ok_and(|found: serde_json::Value| found == json)
                    }
                    (Cell::Time(time), Field::TimestampMicros(found)) => *found == time.as_microsecond(),
                    (Cell::Count(count), Field::Long(found)) => u64::try_from(*found) == Ok(count),
                    (Cell::Number(number), Field::Double(found)) => *found == number,
                    (Cell::Flag(flag), Field::Bool(found)) => *found == flag,
                    _ => false,
                };
                assert!(same, "{name}: {field:?} for {:?}", (column.of)(record));
            }
        }
    }

    #[test]
    fn no_runs_are_a_table_without_rows() {
        let mut bytes = Vec::new();
        write(&[], &mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), EXPORT.len());
    }
}
