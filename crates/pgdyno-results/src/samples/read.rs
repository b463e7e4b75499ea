//! Samples read back, as tables and as values over time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pgdyno_samples::{SampleColumn, SampleSource};
use pgdyno_untrusted::plain_cell;

use super::{AT, DIRECTORY};
use crate::error::{StoreError, io_error};
use crate::store::read_beside;

/// All samples of a run, by source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    tables: BTreeMap<String, SampleTable>,
}

/// The samples of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleTable {
    columns: Vec<String>,
    rows: Vec<(f64, Vec<String>)>,
}

/// Values over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Times, in seconds since the clients began, ascending.
    pub at_s: Vec<f64>,
    /// A value for each time; `None` if unknown.
    pub values: Vec<Option<f64>>,
}

/// Reads the samples of the run in `directory`; a run without samples has none. Skips a line that a crash cut off.
///
/// # Errors
/// When a file cannot be read, or has no `at_s`.
pub fn read_samples(directory: &Path) -> Result<Samples, StoreError> {
    let place = directory.join(DIRECTORY);
    let entries = match fs::read_dir(&place) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Samples::default()),
        entries => entries.map_err(io_error("read", &place))?,
    };
    let mut tables = BTreeMap::new();
    for path in entries.filter_map(|entry| entry.ok().map(|e| e.path())) {
        let (Some(source), Some("csv")) =
            (path.file_stem().and_then(|s| s.to_str()), path.extension().and_then(|e| e.to_str()))
        else {
            continue;
        };
        let name = format!("{DIRECTORY}/{source}.csv");
        let bytes = read_beside(directory, &name).map_err(io_error("read", &path))?;
        let table = SampleTable::parse(&bytes).ok_or_else(|| StoreError::Malformed {
            path: path.clone(),
            why: format!("its first column is not {AT}"),
        })?;
        tables.insert(source.to_owned(), table);
    }
    Ok(Samples { tables })
}

impl Samples {
    /// Returns the samples of `source`; an empty table if there are none.
    #[must_use]
    pub fn of(&self, source: SampleSource) -> &SampleTable {
        self.named(source.name)
    }

    /// Returns the samples of the source that declares a column; an empty table if there are none.
    #[must_use]
    pub fn of_column(&self, column: SampleColumn) -> &SampleTable {
        self.named(column.source)
    }

    fn named(&self, source: &str) -> &SampleTable {
        static NOTHING: SampleTable = SampleTable { columns: Vec::new(), rows: Vec::new() };
        self.tables.get(source).unwrap_or(&NOTHING)
    }

    /// Returns the sources, in the order of their names.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// Adds or replaces a source.
    pub fn insert(&mut self, source: &str, table: SampleTable) {
        self.tables.insert(source.to_owned(), table);
    }
}

impl SampleTable {
    /// Returns a table of these rows.
    #[must_use]
    pub fn new(columns: &[&str], rows: Vec<(f64, Vec<String>)>) -> Self {
        Self { columns: columns.iter().map(|c| (*c).to_owned()).collect(), rows }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
        let header = reader.byte_headers().ok()?.clone();
        let text = |field: &[u8]| plain_cell(String::from_utf8_lossy(field)).into_owned();
        let mut columns: Vec<String> = header.iter().map(text).collect();
        if columns.is_empty() || columns.remove(0) != AT {
            return None;
        }
        let mut rows = Vec::new();
        for record in reader.byte_records() {
            let Ok(record) = record else { break };
            let mut fields = record.iter().map(text);
            let Some(at_s) = fields.next().and_then(|at| at.parse().ok()) else { continue };
            let cells: Vec<String> = fields.collect();
            if cells.len() == columns.len() {
                rows.push((at_s, cells));
            }
        }
        Some(Self { columns, rows })
    }

    /// Returns the rows of looks after a time.
    #[must_use]
    pub(crate) fn after(mut self, since_s: f64) -> Self {
        self.rows.retain(|(at_s, _)| *at_s > since_s);
        self
    }

    /// Returns true if it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the columns, without `at_s`.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the rows with their times.
    #[must_use]
    pub fn rows(&self) -> &[(f64, Vec<String>)] {
        &self.rows
    }

    fn place(&self, column: SampleColumn) -> Option<usize> {
        self.columns.iter().position(|known| known == column.name)
    }

    /// Returns the cell of a row in a column; `None` if it is empty, or there is no such column.
    #[must_use]
    pub fn cell<'a>(&self, row: &'a [String], column: SampleColumn) -> Option<&'a str> {
        row.get(self.place(column)?).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// Returns the values of `column`, summed over the rows of one look; `None` if no row has one.
    #[must_use]
    pub fn gauge(&self, column: SampleColumn) -> Points {
        let mut points = Points::default();
        for (at_s, row) in &self.rows {
            let value: Option<f64> = self.cell(row, column).and_then(|cell| cell.parse().ok());
            if points.at_s.last() == Some(at_s) {
                if let (Some(sum), Some(value)) = (points.values.last_mut(), value) {
                    *sum = Some(sum.unwrap_or(0.0) + value);
                }
            } else {
                points.at_s.push(*at_s);
                points.values.push(value);
            }
        }
        points
    }

    /// Returns the growth per second of the counter in `column`, from each look to the next, at the time of the later
    /// look. Rows are identified by the columns in `keys`, and their growth is summed. If a counter shrank, it was
    /// reset in between, and the growth in that span is unknown.
    #[must_use]
    pub fn rate(&self, keys: &[SampleColumn], column: SampleColumn) -> Points {
        let key = |row: &[String]| -> Vec<String> {
            keys.iter().map(|key| self.cell(row, *key).unwrap_or_default().to_owned()).collect()
        };
        let mut points = Points::default();
        let mut before: Option<(f64, BTreeMap<Vec<String>, f64>)> = None;
        for look in self.rows.chunk_by(|a, b| a.0 == b.0) {
            let at_s = look[0].0;
            let now: BTreeMap<Vec<String>, f64> =
                look.iter().filter_map(|(_, row)| Some((key(row), self.cell(row, column)?.parse().ok()?))).collect();
            if let Some((then_s, then)) = &before {
                // A new row has grown from zero.
                let grown = now.iter().map(|(key, value)| value - then.get(key).copied().unwrap_or(0.0));
                let shrunk = now.iter().any(|(key, value)| then.get(key).is_some_and(|then| value < then));
                let known = !now.is_empty() && !then.is_empty() && !shrunk;
                points.at_s.push(at_s);
                points.values.push(known.then(|| grown.sum::<f64>() / (at_s - then_s).max(1e-9)));
            }
            before = Some((at_s, now));
        }
        points
    }

    /// Returns the table's rows by the value of `key`, each a table with the same columns.
    #[must_use]
    pub fn by(&self, key: SampleColumn) -> BTreeMap<String, Self> {
        let mut tables: BTreeMap<String, Self> = BTreeMap::new();
        for (at_s, row) in &self.rows {
            let value = self.cell(row, key).unwrap_or_default().to_owned();
            let table = tables.entry(value).or_insert_with(|| Self { columns: self.columns.clone(), rows: Vec::new() });
            table.rows.push((*at_s, row.clone()));
        }
        tables
    }
}

impl Points {
    /// Returns the mean of the known values between two times, both included.
    #[must_use]
    pub fn mean(&self, from_s: f64, until_s: f64) -> Option<f64> {
        let within = self.at_s.iter().zip(&self.values).filter(|(at, _)| (from_s..=until_s).contains(at));
        let (sum, count) = within.filter_map(|(_, value)| *value).fold((0.0, 0_u32), |(s, n), v| (s + v, n + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Returns the maximum of the known values between two times, both included.
    #[must_use]
    pub fn max(&self, from_s: f64, until_s: f64) -> Option<f64> {
        let within = self.at_s.iter().zip(&self.values).filter(|(at, _)| (from_s..=until_s).contains(at));
        within.filter_map(|(_, value)| *value).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_samples::{locks, processes, statements};

    use super::*;
    use crate::SampleFiles;

    fn row(cells: &[&str]) -> Vec<Option<String>> {
        cells.iter().map(|c| Some((*c).to_owned()).filter(|c| !c.is_empty())).collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_samples(directory.path()).unwrap(), Samples::default());
        let mut files = SampleFiles::of_run(directory.path());
        let columns = ["query", "calls"];
        files.append("statements", -0.5, &columns, &[row(&["select 1,\n\"a\"", "10"]), row(&["x", ""])]);
        files.append("statements", 1.25, &columns, &[row(&["x", "7"])]);
        files.append("locks", 1.25, &["waiting"], &[]);
        assert_eq!(files.failure(), None);
        let samples = read_samples(directory.path()).unwrap();
        assert_eq!(samples.sources().collect::<Vec<_>>(), ["statements"]);
        let table = samples.of(statements::SOURCE);
        assert_eq!(table.rows()[0], (-0.5, vec!["select 1,\n\"a\"".to_owned(), "10".to_owned()]));
        assert_eq!(table.cell(&table.rows()[1].1, statements::CALLS), None);
        assert!(samples.of(locks::SOURCE).is_empty());
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let table = SampleTable::parse(b"at_s,a,b\n1.0,2,3\n2.0,4").unwrap();
        assert_eq!(table.rows(), [(1.0, vec!["2".to_owned(), "3".to_owned()])]);
        assert_eq!(SampleTable::parse(b"seconds,a\n1,2\n"), None);
    }

    fn table(rows: &[(f64, &str, &str)]) -> SampleTable {
        let rows = rows.iter().map(|(at, key, n)| (*at, vec![(*key).to_owned(), (*n).to_owned()])).collect();
        SampleTable::new(&["kind", "count"], rows)
    }

    #[test]
    fn a_rate_is_the_growth_of_all_rows_and_unknown_across_a_reset() {
        let t = table(&[
            (0.0, "a", "10"),
            (0.0, "b", "5"),
            (2.0, "a", "14"),
            (2.0, "b", "5"),
            (3.0, "a", "1"),
            (4.0, "a", "3"),
        ]);
        let rate = t.rate(&[processes::KIND], processes::COUNT);
        assert_eq!((rate.at_s, rate.values), (vec![2.0, 3.0, 4.0], vec![Some(2.0), None, Some(2.0)]));
        // A new one has grown from zero.
        let t = table(&[(0.0, "a", "1"), (1.0, "a", "1"), (1.0, "c", "9")]);
        assert_eq!(t.rate(&[processes::KIND], processes::COUNT).values, [Some(9.0)]);
    }

    #[test]
    fn a_gauge_is_the_sum_of_a_look() {
        let t = table(&[(0.0, "a", "1"), (0.0, "b", "2"), (1.0, "a", "")]);
        let gauge = t.gauge(processes::COUNT);
        assert_eq!(gauge.values, [Some(3.0), None]);
        assert_eq!((gauge.mean(0.0, 1.0), gauge.max(0.0, 1.0), gauge.mean(0.5, 1.0)), (Some(3.0), Some(3.0), None));
        assert_eq!(t.by(processes::KIND)["b"].gauge(processes::COUNT).values, [Some(2.0)]);
        assert_eq!(t.gauge(processes::CPUS).values, [None, None]);
    }
}
