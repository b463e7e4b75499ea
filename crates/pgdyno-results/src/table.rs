//! Runs as a table: a row for each run, in the columns of `results.csv` and, for exports, a few more.
//!
//! docs/results.md says what each column means: its table is written from the columns.

pub(crate) mod cell;
mod columns;
mod csv;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod select;

use std::io;

use cell::Cell;
pub use cell::CellKind;
pub use columns::{EXPORT, RESULTS};
pub use csv::quoted;
pub(crate) use csv::{header as csv_header, line as csv_line};
pub use json::row as json_row;
pub use select::Selection;

use crate::record::RunRecord;

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// What it is, for readers of docs/results.md.
    pub meaning: &'static str,
    /// Its type.
    pub kind: CellKind,
    of: fn(&RunRecord) -> Cell,
}

/// The error when a table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("failed to write a table of runs as {format}: {source}")]
pub struct TableError {
    format: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl TableError {
    fn of<E: Into<Box<dyn std::error::Error + Send + Sync>>>(format: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self { format, source: source.into() }
    }
}

/// Writes a table of runs.
pub type WriteTable = fn(&[RunRecord], &mut (dyn io::Write + Send)) -> Result<(), TableError>;

/// The formats of a table by name. A build without the feature `parquet` has no Parquet.
pub const FORMATS: &[(&str, WriteTable)] = &[
    ("csv", csv::write),
    ("json", json::write),
    #[cfg(feature = "parquet")]
    ("parquet", parquet::write),
];

/// Returns the writer of a format.
#[must_use]
pub fn format(name: &str) -> Option<WriteTable> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, write)| *write)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_column_has_its_kind_of_cells_and_a_name_of_its_own() {
        let records = crate::fixture::all();
        let mut names: Vec<_> = EXPORT.iter().map(|column| column.name).collect();
        for column in EXPORT {
            for record in &records {
                let fits = match (column.of)(record) {
                    Cell::Missing => true,
                    Cell::Text(_) => column.kind == CellKind::Text,
                    Cell::Time(_) => column.kind == CellKind::Time,
                    Cell::Count(_) => column.kind == CellKind::Count,
                    Cell::Number(_) => matches!(column.kind, CellKind::Number(_)),
                    Cell::Flag(_) => column.kind == CellKind::Flag,
                    Cell::Json(_) => column.kind == CellKind::Json,
                };
                assert!(fits, "{column:?}");
            }
        }
        // Full and empty records together cover every column both ways.
        let missing = |column: &&Column| (column.of)(&records[0]) == Cell::Missing;
        assert_eq!(EXPORT.iter().filter(missing).map(|column| column.name).collect::<Vec<_>>(), Vec::<&str>::new());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EXPORT.len());
    }

    #[test]
    fn the_page_has_the_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
        let row = |column: &Column| format!("| `{}` | {} |\n", column.name, column.meaning);
        let rows: String = EXPORT.iter().map(row).collect();
        pgdyno_testing::pages::part_is(&page, "columns", &format!("\n| column | meaning |\n| --- | --- |\n{rows}\n"));
    }
}
