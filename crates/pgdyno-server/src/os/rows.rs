//! Parses the CSV that a user's command prints of a machine.

use std::time::{Duration, SystemTime};

use pgdyno_samples::machine::{BUSY_CPUS, CPU_PERCENT, CPUS, SOURCE};

use super::MACHINE_COLUMNS;

/// The column with the time of a row: RFC 3339, or seconds since 1970.
const AT: &str = "at";

/// Parser of lines: a header with some of [`MACHINE_COLUMNS`] in any order and maybe `at`, then rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Meaning of each column of the header; empty before it.
    columns: Option<Vec<Column>>,
    lines: u64,
    /// CPUs of the machine, if the rows do not have them.
    cpus: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    At,
    /// Its place in [`MACHINE_COLUMNS`].
    Known(usize),
    Unknown,
}

/// Kind of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Empty, or a comment.
    Nothing,
    /// The header, with its mistakes.
    Header(Vec<String>),
    /// A header without a known column.
    Useless(String),
    /// A row, and its own time if it has one.
    Row(Option<SystemTime>, Vec<Option<String>>),
    /// An invalid row, and the reason.
    Garbage(String),
}

impl Rows {
    /// Returns the parser for a machine with so many CPUs, if known.
    pub(crate) fn of(cpus: Option<f64>) -> Self {
        Self { cpus, ..Self::default() }
    }

    /// Parses the next line.
    pub(crate) fn take(&mut self, line: &str) -> Line {
        self.lines += 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Line::Nothing;
        }
        let cells: Vec<&str> = line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
        match &self.columns {
            None => self.header(&cells),
            Some(columns) => row(columns, &cells, self.cpus).map_or_else(
                |why| Line::Garbage(format!("line {}: {why}", self.lines)),
                |(at, row)| Line::Row(at, row),
            ),
        }
    }

    fn header(&mut self, names: &[&str]) -> Line {
        let column = |name: &&str| match MACHINE_COLUMNS.iter().position(|known| known == name) {
            _ if *name == AT => Column::At,
            Some(nth) => Column::Known(nth),
            None => Column::Unknown,
        };
        let columns: Vec<Column> = names.iter().map(column).collect();
        let unknown = names.iter().zip(&columns).filter(|(_, column)| **column == Column::Unknown);
        let complaints: Vec<String> = unknown.map(|(name, _)| complaint(name)).collect();
        if !columns.iter().any(|column| matches!(column, Column::Known(_))) {
            let first = complaints.first().cloned().unwrap_or_default();
            let all = MACHINE_COLUMNS.join(", ");
            return Line::Useless(format!("its first line names no column that is known; {first}; there are {all}"));
        }
        self.columns = Some(columns);
        Line::Header(complaints)
    }
}

/// Returns the message about an unknown column.
fn complaint(name: &str) -> String {
    let shown: String = name.chars().take(40).collect();
    // A line of garbage is a long name, similar to none.
    if shown.len() < name.len() {
        return format!("column {shown:?} is not known");
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), known);
    let near = MACHINE_COLUMNS.iter().chain([&AT]).map(|known| (distance(known), *known)).min();
    match near.filter(|(distance, known)| *distance <= known.len().div_ceil(3)) {
        Some((_, known)) => format!("column {shown:?} is not known; did you mean {known}?"),
        None => format!("column {shown:?} is not known"),
    }
}

/// A row of [`MACHINE_COLUMNS`] with its time.
fn row(
    columns: &[Column],
    cells: &[&str],
    cpus: Option<f64>,
) -> Result<(Option<SystemTime>, Vec<Option<String>>), String> {
    if cells.len() != columns.len() {
        return Err(format!("{} values for {} columns", cells.len(), columns.len()));
    }
    let (mut at, mut values) = (None, vec![None; MACHINE_COLUMNS.len()]);
    for (column, cell) in columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
        let shown = || cell.chars().take(40).collect::<String>();
        match column {
            Column::At => at = Some(moment(cell).ok_or_else(|| format!("{:?} is no moment", shown()))?),
            Column::Known(nth) => {
                let number = cell.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
                values[*nth] = Some(number.ok_or_else(|| format!("{:?} is not a number of at least 0", shown()))?);
            }
            Column::Unknown => {}
        }
    }
    // CPU in percent and in CPUs are equivalent.
    let [all, busy, percent] = [CPUS, BUSY_CPUS, CPU_PERCENT].map(|column| SOURCE.place(column));
    values[all] = values[all].or(cpus);
    if let Some(cpus) = values[all].filter(|cpus| *cpus > 0.0) {
        values[busy] = values[busy].or(values[percent].map(|percent| percent / 100.0 * cpus));
        values[percent] = values[percent].or(values[busy].map(|busy| busy / cpus * 100.0));
    }
    Ok((at, values.into_iter().map(|value| value.map(|number| number.to_string())).collect()))
}

/// Parses a time of the command.
fn moment(cell: &str) -> Option<SystemTime> {
    if let Ok(timestamp) = cell.parse::<jiff::Timestamp>() {
        return Some(SystemTime::from(timestamp));
    }
    let seconds = cell.parse::<f64>().ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(row: &[Option<String>]) -> Vec<(&'static str, &str)> {
        MACHINE_COLUMNS.iter().zip(row).filter_map(|(name, cell)| Some((*name, cell.as_deref()?))).collect()
    }

    #[test]
    fn rows_are_put_where_their_header_says() {
        let mut rows = Rows::of(Some(8.0));
        assert_eq!(rows.take("# made by my-cloud"), Line::Nothing);
        assert_eq!(rows.take("at, \"cpu_percent\",disk_write_bytes_per_s"), Line::Header(Vec::new()));
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_500);
        for line in ["1700000000.5,25,1e6", "2023-11-14T22:13:20.5Z,25,1000000"] {
            let Line::Row(moment, row) = rows.take(line) else { panic!("{line}") };
            assert_eq!(moment, Some(at));
            let percent = [("busy_cpus", "2"), ("cpu_percent", "25"), ("disk_write_bytes_per_s", "1000000")];
            assert_eq!(shown(&row), [&[("cpus", "8")], &percent[..]].concat());
        }
        let Line::Row(None, row) = rows.take(",,3") else { panic!("a row without a moment") };
        assert_eq!(shown(&row), [("cpus", "8"), ("disk_write_bytes_per_s", "3")]);
    }

    #[test]
    fn a_column_that_is_not_known_is_reported_with_the_nearest_one() {
        let Line::Header(complaints) = Rows::default().take("busy_cpu,load_1min,zebra,At") else { panic!("no header") };
        assert_eq!(
            complaints,
            [
                "column \"busy_cpu\" is not known; did you mean busy_cpus?",
                "column \"zebra\" is not known",
                "column \"At\" is not known; did you mean at?"
            ]
        );
        let mut rows = Rows::default();
        let Line::Useless(why) = rows.take("curl: (22) 403 Forbidden") else { panic!("a header of nothing") };
        assert!(why.contains("\"curl: (22) 403 Forbidden\" is not known; there are cpus, busy_cpus"), "{why}");
    }

    #[test]
    fn garbage_is_no_row() {
        let mut rows = Rows::default();
        rows.take("busy_cpus,at");
        for (line, why) in [
            ("1", "line 2: 1 values for 2 columns"),
            ("x,1", "line 3: \"x\" is not a number of at least 0"),
            ("-1,1", "line 4: \"-1\" is not a number of at least 0"),
            ("1,yesterday", "line 5: \"yesterday\" is no moment"),
            ("NaN,1", "line 6: \"NaN\" is not a number of at least 0"),
        ] {
            assert_eq!(rows.take(line), Line::Garbage(why.to_owned()));
        }
        let Line::Row(_, row) = rows.take("1.5,1700000000") else { panic!("a row") };
        assert_eq!(shown(&row), [("busy_cpus", "1.5")]);
    }
}
