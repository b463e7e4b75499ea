//! A table as JSON: an array of objects, with JSON numbers, and null for missing values.

use std::io;

use serde_json::{Map, Value};

use super::{Cell, EXPORT, TableError};
use crate::record::RunRecord;

pub(super) fn write(records: &[RunRecord], out: &mut (dyn io::Write + Send)) -> Result<(), TableError> {
    let rows: Vec<_> = records.iter().map(row).collect();
    serde_json::to_writer_pretty(&mut *out, &rows).map_err(TableError::of("json"))?;
    out.write_all(b"\n").map_err(TableError::of("json"))
}

/// Returns a run as an object with the columns of an export.
#[must_use]
pub fn row(record: &RunRecord) -> Value {
    let cell = |cell| match cell {
        Cell::Missing => Value::Null,
        Cell::Text(text) => text.into(),
        Cell::Time(time) => time.to_string().into(),
        Cell::Count(count) => count.into(),
        Cell::Number(number) => number.into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Json(json) => json,
    };
    EXPORT.iter().map(|column| (column.name.to_owned(), cell((column.of)(record)))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_and_what_is_missing_is_null() {
        let records = crate::fixture::all();
        let (full, empty) = (row(&records[0]), row(&records[1]));
        assert!(full["tps"].is_f64() && full["committed"].is_u64() && full["fitted"].is_boolean(), "{full}");
        assert_eq!(full["settings"]["fsync"], "on");
        assert!(empty["tps"].is_null() && empty["recipe"].is_null() && empty["fitted"].is_null(), "{empty}");
        assert_eq!(empty.as_object().map(Map::len), Some(EXPORT.len()));
    }
}
