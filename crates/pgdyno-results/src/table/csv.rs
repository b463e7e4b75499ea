//! A table as CSV (RFC 4180): a header, and one line for each run, whatever its cells contain.

use std::io;

use pgdyno_untrusted::CsvField;

use super::{Column, EXPORT, TableError};
use crate::record::RunRecord;

/// The header of a table.
pub(crate) fn header(columns: &[Column]) -> String {
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    names.join(",") + "\n"
}

/// The line of a run.
pub(crate) fn line(columns: &[Column], record: &RunRecord) -> String {
    let cells: Vec<_> = columns.iter().map(|column| quoted(&(column.of)(record).text(column.kind))).collect();
    cells.join(",") + "\n"
}

pub(super) fn write(records: &[RunRecord], out: &mut (dyn io::Write + Send)) -> Result<(), TableError> {
    let lines = std::iter::once(header(EXPORT)).chain(records.iter().map(|record| line(EXPORT, record)));
    lines.into_iter().try_for_each(|line| out.write_all(line.as_bytes())).map_err(TableError::of("csv"))
}

/// Quotes a field if RFC 4180 requires it, and puts a `'` before one that a spreadsheet would take for a formula.
#[must_use]
pub fn quoted(field: &str) -> String {
    CsvField(field).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_one_line_with_as_many_fields_as_the_header() {
        let mut records = crate::fixture::all();
        records[0].reason = Some("ended by \"an error\":\r\nline 2, and\nline 3".to_owned());
        records[0].plan.target = "host=a,b".into();
        let mut bytes = Vec::new();
        write(&records, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), records.len() + 1);
        for line in text.lines() {
            assert_eq!(fields(line).len(), EXPORT.len(), "{line}");
        }
        let row = text.lines().nth(1).unwrap();
        assert!(
            row.contains("\"host=a,b\"") && row.contains("\"ended by \"\"an error\"\": line 2, and line 3\""),
            "{row}"
        );
    }

    /// Splits a line by an independent parser.
    fn fields(line: &str) -> Vec<String> {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().unwrap().push(c),
            }
        }
        fields
    }
}
