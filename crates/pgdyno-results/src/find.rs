//! Runs and studies by the names that users give.

use std::path::{Path, PathBuf};

use pgdyno_plan::SuitePlan;
use serde::Deserialize;

use crate::error::StoreError;
use crate::layout::RECORD;
use crate::store::{list_runs, named, places_back, read_text};
use crate::study::{Study, StudyKind};

/// Length of the time at the beginning of a name.
const SECOND: usize = "20260101T000000Z".len();

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedRecord {
    /// The `run.json` of a run.
    Run(PathBuf),
    /// The record of a study.
    Study(StudyKind, PathBuf),
}

/// Finds the `run.json` that a user names: a run directory, a record file, a run's id or a unique beginning or end of it,
/// `last`, or `last-N` for the run N before it. `last` is never a run of an experiment, a search or a frontier: these are
/// parts of a study, and no results by themselves.
///
/// # Errors
/// When there is none, or several.
pub fn find_run(results: &Path, name: &str) -> Result<PathBuf, StoreError> {
    if let Some(given) = given(name) {
        return Ok(given);
    }
    let runs = list_runs(results)?;
    let run = match places_back(name) {
        Some(back) => runs.iter().rev().filter(|run| study_of(run).is_none()).nth(back),
        None => named(&runs, name, file_name)?,
    };
    run.map(|run| run.join(RECORD)).ok_or_else(|| no_such(results, name))
}

/// Finds the run or the study that a user names, as [`find_run`] does; `last` may also be a study.
///
/// # Errors
/// When there is none, or several.
pub fn find_record(results: &Path, name: &str) -> Result<NamedRecord, StoreError> {
    if let Some(given) = given(name) {
        return Ok(match StudyKind::of_file(&given) {
            Some(kind) => NamedRecord::Study(kind, given),
            None => NamedRecord::Run(given),
        });
    }
    let studies = Study::list(results);
    let runs = list_runs(results)?;
    let mut paths: Vec<PathBuf> = studies.iter().map(|(_, path)| path.clone()).chain(runs).collect();
    let found = match places_back(name) {
        Some(back) => {
            // Names begin with the time, in seconds; runs of the same second stay in their order.
            paths.sort_by_cached_key(|path| file_name(path).chars().take(SECOND).collect::<String>());
            let is_study = |path: &PathBuf| studies.iter().any(|(_, study)| study == path);
            let is_whole = |path: &&PathBuf| is_study(path) || study_of(path).is_none();
            paths.iter().rev().filter(is_whole).nth(back)
        }
        None => named(&paths, name, |path| file_name(path).trim_end_matches(".json").to_owned())?,
    };
    let found = found.ok_or_else(|| no_such(results, name))?;
    Ok(match studies.iter().find(|(_, path)| path == found) {
        Some((kind, path)) => NamedRecord::Study(*kind, path.clone()),
        None => NamedRecord::Run(found.join(RECORD)),
    })
}

/// Returns the record at a path, if the name is one: of a file, or of a run directory.
fn given(name: &str) -> Option<PathBuf> {
    let given = Path::new(name);
    let record = given.join(RECORD);
    if given.is_file() { Some(given.to_owned()) } else { record.is_file().then_some(record) }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn no_such(results: &Path, name: &str) -> StoreError {
    StoreError::NoSuchRun { name: name.to_owned(), results: results.to_owned() }
}

/// The part of a run's record that says of what it is a part.
#[derive(Deserialize)]
struct PlacedRun {
    plan: PlacedPlan,
}

#[derive(Deserialize)]
struct PlacedPlan {
    #[serde(default)]
    suite: Option<SuitePlan>,
}

/// Returns the kind of the study that the run in a directory is a part of. A run whose record cannot be read is of none.
fn study_of(run: &Path) -> Option<StudyKind> {
    let text = read_text(&run.join(RECORD)).ok()?;
    let run: PlacedRun = serde_json::from_str(&text).ok()?;
    StudyKind::of_run(&run.plan.suite?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AbRecord, Resumable as _, find_runs};

    #[test]
    fn the_last_is_a_study_or_a_run_and_never_a_part_of_a_study() {
        let home = tempfile::tempdir().unwrap();
        let results = home.path();
        let run = |id: &str, suite: &str| {
            std::fs::create_dir(results.join(id)).unwrap();
            let place =
                serde_json::json!({ "suite": suite, "id": "20260103T000000Z-ab-x-11", "run": "A", "repetition": 1 });
            let plan = if suite.is_empty() { serde_json::json!({}) } else { serde_json::json!({ "suite": place }) };
            std::fs::write(results.join(id).join(RECORD), serde_json::json!({ "plan": plan }).to_string()).unwrap();
        };
        run("20260101T000000Z-x-aa", "");
        run("20260102T000000Z-x-bb", "nightly");
        AbRecord { id: "20260103T000000Z-ab-x-11".to_owned(), ..AbRecord::default() }.save(results).unwrap();
        run("20260103T000001Z-x-cc", "ab");
        run("20260103T000002Z-x-dd", "ab");
        let record = |name: &str| {
            find_record(results, name).map(|found| match found {
                NamedRecord::Run(path) => file_name(path.parent().unwrap()),
                NamedRecord::Study(kind, path) => format!("{} {}", kind.name(), file_name(&path)),
            })
        };
        let study = "experiment 20260103T000000Z-ab-x-11.json";
        for (name, found) in [
            ("last", study),
            ("last-1", "20260102T000000Z-x-bb"),
            ("last-2", "20260101T000000Z-x-aa"),
            ("11", study),
            ("20260103T000000Z", study),
            ("dd", "20260103T000002Z-x-dd"),
        ] {
            assert_eq!(record(name).unwrap(), found, "{name}");
        }
        let file = results.join("ab/20260103T000000Z-ab-x-11.json").display().to_string();
        assert_eq!(record(&file).unwrap(), study);
        assert!(record("20260103").unwrap_err().to_string().contains("it could be 20260103T000000Z-ab-x-11 or"));
        assert!(matches!(record("last-3"), Err(StoreError::NoSuchRun { .. })));
        let runs: Vec<_> = ["last", "last-1", "cc"].map(|name| find_run(results, name).unwrap()).into();
        let of = |id: &str| results.join(id).join(RECORD);
        assert_eq!(runs, [of("20260102T000000Z-x-bb"), of("20260101T000000Z-x-aa"), of("20260103T000001Z-x-cc")]);
        assert_eq!(find_runs(results, "last-1, last").unwrap(), [&runs[1], &runs[0]].map(Clone::clone));
        assert!(matches!(find_run(results, "last-2"), Err(StoreError::NoSuchRun { .. })));
    }
}
