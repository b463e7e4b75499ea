//! Lists of values on the copy, from which scripts draw rows.

use super::copy::{Copy, FitError};
use super::measure::literals;
use super::skew::KeySkew;
use super::values::{Parameters, Room, Values};
use super::{Fitted, SCHEMA, Sampled};

/// Rows that are written at once.
const WRITTEN: usize = 500;

/// Returns the name of the list of a statement, and the query that reads it; `None` without parameters.
pub(super) fn name_and_query(nth: usize, parameters: usize) -> Option<(String, String)> {
    let columns: Vec<_> = (1..=parameters).map(|number| format!("p{number}")).collect();
    let name = format!("s{nth}");
    let query = format!("SELECT {} FROM {SCHEMA}.{name}", columns.join(", "));
    (!columns.is_empty()).then_some((name, query))
}

/// Writes the values of a statement into a table of the copy. A script draws one of its rows uniformly, so that a key which is used more
/// often is there more often. Where the skew is not determined, they are of so many executions.
pub(super) fn keep(
    copy: &mut Copy,
    fitted: &mut Fitted,
    skew: Option<KeySkew>,
    executions: usize,
) -> Result<(), FitError> {
    let Fitted { about, script: Some(script), sampled: Some(sampled) } = fitted else { return Ok(()) };
    let Some((name, _)) = &script.values else { return Ok(()) };
    let list = List { table: format!("{SCHEMA}.{name}"), columns: sampled.parameters.roles.len() };
    list.create(copy)?;
    let times = skew.as_ref().zip(sampled.key()).and_then(|(skew, key)| skew.times(key));
    match times {
        Some(times) => {
            let key = sampled.key().cloned();
            let Sampled { parameters, mixture, .. } = sampled;
            let parameters = Parameters { keyed: key, ..parameters.clone() };
            let values = parameters.values(copy, &mixture.parts[0].1, times.len())?;
            list.write(copy, &values[..with_room(&values, &times)], &times)?;
        }
        None => {
            for (share, sampling) in &sampled.mixture.parts {
                let number = ((executions as f64 * share).round() as usize).max(1);
                let values = sampled.parameters.values(copy, sampling, number)?;
                list.write(copy, &values, &[])?;
            }
        }
    }
    let words = skew.as_ref().and_then(|skew| skew.words(about.captured_read_blocks_per_call));
    if let (Some(values), Some(words)) = (&mut about.values, words) {
        *values = format!("{values}, {words}");
    }
    about.keys = skew;
    Ok(())
}

/// Returns how many of the values have room in the memory of a run, each so many times.
fn with_room(values: &[Values], times: &[u32]) -> usize {
    let mut room = Room::default();
    values.iter().zip(times).take_while(|(values, times)| room.takes(values, **times)).count()
}

/// A table with the values of a statement.
struct List {
    table: String,
    columns: usize,
}

impl List {
    fn columns(&self) -> String {
        (1..=self.columns).map(|number| format!("p{number}")).collect::<Vec<_>>().join(", ")
    }

    fn create(&self, copy: &mut Copy) -> Result<(), FitError> {
        let columns = self.columns().replace(", ", " text, ");
        copy.execute("create a list of values", &format!("CREATE TABLE {} ({columns} text)", self.table))
    }

    /// Writes rows, each so many times; once where nothing is said.
    fn write(&self, copy: &mut Copy, values: &[Values], times: &[u32]) -> Result<(), FitError> {
        let columns = self.columns();
        for (nth, part) in values.chunks(WRITTEN).enumerate() {
            let times = |at: usize| times.get(nth * WRITTEN + at).copied().unwrap_or(1);
            let row = |(at, row): (usize, &Values)| format!("({}, {})", literals(row), times(at));
            let rows: Vec<_> = part.iter().enumerate().map(row).collect();
            let sql = format!(
                "INSERT INTO {} SELECT {columns} FROM (VALUES {}) v({columns}, times), generate_series(1, times)",
                self.table,
                rows.join(", ")
            );
            copy.execute("keep the values of a statement", &sql)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::BYTES_MAX;
    use super::*;

    #[test]
    fn values_that_are_repeated_need_more_room() {
        let values = vec![vec![Some("x".repeat(BYTES_MAX / 16)), None]; 10];
        assert_eq!(with_room(&values, &[1; 10]), 10);
        assert_eq!(with_room(&values, &[8, 8, 1, 1, 1, 1, 1, 1, 1, 1]), 2);
        assert_eq!(with_room(&values, &[100; 10]), 1, "there is one in any case");
    }
}
