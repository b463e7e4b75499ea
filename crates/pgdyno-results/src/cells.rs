//! Runs by their cell of a suite.

use std::path::{Path, PathBuf};

use pgdyno_plan::SuitePlan;

use crate::error::StoreError;
use crate::layout::RECORD;
use crate::pattern::fits;
use crate::store::{list_runs, read_record};

/// Returns the records of the runs with this name, oldest first: `SUITE/CELL`, where `*` in the cell matches
/// anything, and whole words of a key stand for it if they mean one cell. A suite is named as in `pgdyno suite`: its name
/// means its newest execution. Returns `None` if no run belongs to such a suite.
///
/// # Errors
/// When the suite has no such cell, or several.
pub(crate) fn runs_of_cell(results: &Path, name: &str) -> Result<Option<Vec<PathBuf>>, StoreError> {
    let Some((suite, cell)) = name.split_once('/') else { return Ok(None) };
    let of_suite = |run: PathBuf| {
        let record = run.join(RECORD);
        let place = read_record(&record).ok()?.plan.suite.filter(|place| is_called(place, suite))?;
        Some((record, place))
    };
    let mut runs: Vec<(PathBuf, SuitePlan)> = list_runs(results)?.into_iter().filter_map(of_suite).collect();
    let Some(newest) = runs.last().map(|(_, place)| place.id.clone()) else { return Ok(None) };
    runs.retain(|(_, place)| place.id == newest);
    let mut cells: Vec<String> = runs.iter().map(|(_, place)| place.run.clone()).collect();
    cells.sort();
    cells.dedup();
    let mut meant: Vec<&String> = cells.iter().filter(|key| fits(cell, key)).collect();
    if meant.is_empty() {
        // A part of a key, such as a value, will do if it means one cell.
        meant = cells.iter().filter(|key| has_part(key, cell)).collect();
    }
    if meant.is_empty() || (meant.len() > 1 && !cell.contains('*')) {
        return Err(StoreError::NoSuchCell { suite: suite.to_owned(), cell: cell.to_owned(), cells });
    }
    Ok(Some(runs.iter().filter(|(_, place)| meant.contains(&&place.run)).map(|(run, _)| run.clone()).collect()))
}

/// Returns true if `part` is in a key as whole words.
fn has_part(key: &str, part: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !part.is_empty()
        && key
            .match_indices(part)
            .any(|(at, _)| !key[..at].ends_with(is_word) && !key[at + part.len()..].starts_with(is_word))
}

/// Returns true if an execution of a suite has this name: the suite's, its own, or its id.
fn is_called(place: &SuitePlan, name: &str) -> bool {
    let SuitePlan { suite, id, .. } = place;
    name == suite || name == id || name.strip_prefix(suite.as_str()).and_then(|rest| rest.strip_prefix('-')) == Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_runs;

    /// Returns a results directory with runs of these executions and cells, in this order, and one run without a
    /// suite.
    fn results(runs: &[(&str, &str)]) -> tempfile::TempDir {
        let results = tempfile::tempdir().unwrap();
        let fixture = include_str!("../../../fixtures/runs/v1/run.json");
        let places =
            runs.iter().map(|(id, run)| serde_json::json!({ "suite": "pools", "id": id, "run": run, "repetition": 1 }));
        for (nth, place) in places.chain([serde_json::Value::Null]).enumerate() {
            let mut record: serde_json::Value = serde_json::from_str(fixture).unwrap();
            record["plan"]["suite"] = place;
            let run = results.path().join(format!("2026010{}T000000Z-x-{nth}", nth + 1));
            std::fs::create_dir(&run).unwrap();
            std::fs::write(run.join("run.json"), record.to_string()).unwrap();
        }
        results
    }

    /// Returns the last characters of the runs' names.
    fn found(results: &Path, names: &str) -> Result<String, String> {
        let last = |path: PathBuf| path.parent()?.to_str()?.chars().last();
        find_runs(results, names).map(|runs| runs.into_iter().filter_map(last).collect()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_cell_means_its_runs_of_the_newest_execution_or_of_the_one_that_is_named() {
        let results = results(&[("one", "a"), ("one", "b"), ("two", "a"), ("two", "b,c=1"), ("two", "a")]);
        for (names, runs) in [
            ("pools/a", "24"),
            ("two/a", "24"),
            ("pools-two/a", "24"),
            ("pools-one/a", "0"),
            ("one/b", "1"),
            ("pools/*", "234"),
            ("pools/*=1", "3"),
            ("pools/b,c=1", "3"),
            ("pools/1", "3"),
            ("pools/b", "3"),
            ("one/a, pools/a,last", "0245"),
        ] {
            assert_eq!(found(results.path(), names).as_deref(), Ok(runs), "{names}");
        }
        let cells = "'x' is not one cell of the suite 'pools'; its cells are a, b,c=1";
        assert_eq!(found(results.path(), "pools/x"), Err(cells.to_owned()));
        for name in ["pool/a", "pools-three/a", "pools-/a", "/a", "./a"] {
            assert!(found(results.path(), name).unwrap_err().starts_with(&format!("no run '{name}'")), "{name}");
        }
    }
}
