//! Several runs by name.

use std::path::{Path, PathBuf};

use crate::cells::runs_of_cell;
use crate::error::StoreError;
use crate::find::find_run;
use crate::layout::RECORD;
use crate::pattern::fits;
use crate::store::list_runs;

/// Returns the records of all runs in `names`, oldest first within each name: names separated by commas. Each is a
/// name for [`find_run`], `SUITE/CELL`, or a pattern in which `*` matches anything.
///
/// # Errors
/// When a name means no run, or several.
pub fn find_runs(results: &Path, names: &str) -> Result<Vec<PathBuf>, StoreError> {
    if Path::new(names).exists() {
        // A path may contain a comma.
        return Ok(vec![find_run(results, names)?]);
    }
    if let Ok(Some(found)) = runs_of_cell(results, names) {
        // So may a cell.
        return Ok(found);
    }
    let mut found = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let missing = || StoreError::NoSuchRun { name: name.to_owned(), results: results.to_owned() };
        let record = |run: &PathBuf| run.join(RECORD);
        if let Some(of_cell) = cell(results, name)? {
            found.extend(of_cell);
        } else if name.contains('*') {
            let runs = list_runs(results)?;
            let fits = |run: &&PathBuf| fits(name, &run.file_name().unwrap_or_default().to_string_lossy());
            let before = found.len();
            found.extend(runs.iter().filter(fits).map(record));
            if found.len() == before {
                return Err(missing());
            }
        } else {
            found.push(find_run(results, name)?);
        }
    }
    if found.is_empty() {
        return Err(StoreError::NoSuchRun { name: names.to_owned(), results: results.to_owned() });
    }
    Ok(found)
}

/// Returns the runs of a cell, unless the name is that of a file.
fn cell(results: &Path, name: &str) -> Result<Option<Vec<PathBuf>>, StoreError> {
    if Path::new(name).exists() { Ok(None) } else { runs_of_cell(results, name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_lists_patterns_and_their_place_from_the_end() {
        let results = tempfile::tempdir().unwrap();
        for id in ["20260101T000000Z-a-11", "20260102T000000Z-b-22", "20260103T000000Z-a-33"] {
            std::fs::create_dir(results.path().join(id)).unwrap();
            std::fs::write(results.path().join(id).join("run.json"), "{}").unwrap();
        }
        let found = |names: &str| -> Result<Vec<String>, String> {
            let ends = |path: &PathBuf| {
                let name = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
                name[name.len() - 2..].to_owned()
            };
            find_runs(results.path(), names).map(|runs| runs.iter().map(ends).collect()).map_err(|e| e.to_string())
        };
        let all = |runs: &[&str]| Ok(runs.iter().map(|run| (*run).to_owned()).collect());
        assert_eq!(found("*-a-*"), all(&["11", "33"]));
        assert_eq!(found("last, 20260101"), all(&["33", "11"]));
        assert_eq!((found("last-0"), found("last-2")), (all(&["33"]), all(&["11"])));
        for (wrong, words) in [
            ("last-3", "no run 'last-3'"),
            ("last,*-c-*", "no run '*-c-*'"),
            (",", "no run ','"),
            ("2026", "it could be 20260101T000000Z-a-11 or 20260102T000000Z-b-22"),
        ] {
            let error = found(wrong).unwrap_err();
            assert!(error.contains(words), "{wrong}: {error}");
        }
    }
}
