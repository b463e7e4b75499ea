//! Studies: experiments, searches and frontiers. Each is one record about many runs, `DIRECTORY/ID.json` in the results
//! directory; this file has what lists and stores need of a record of any kind.

use std::path::{Path, PathBuf};

use pgdyno_plan::SuitePlan;

use crate::ab::AbRecord;
use crate::error::{StoreError, io_error};
use crate::frontier::FrontierRecord;
use crate::resumable::{Resumable, records};
use crate::search::SearchRecord;
use crate::store::{named, parse_record, read_text};

/// A kind of study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StudyKind {
    /// An A/B experiment.
    Experiment,
    /// A search for the highest load.
    Search,
    /// A frontier of transactions and queries.
    Frontier,
}

impl StudyKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Experiment, Self::Search, Self::Frontier];

    /// Returns the word in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Experiment => "experiment",
            Self::Search => "search",
            Self::Frontier => "frontier",
        }
    }

    /// Returns the kind with this word.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the directory of its records within the results directory.
    #[must_use]
    pub fn directory(self) -> &'static str {
        match self {
            Self::Experiment => AbRecord::DIRECTORY,
            Self::Search => SearchRecord::DIRECTORY,
            Self::Frontier => FrontierRecord::DIRECTORY,
        }
    }

    /// Returns the kind of the study that a run with this place belongs to; `None` if it is a suite. The kind is in the suite's
    /// name. The id has a workload between time and salt, which that of a suite has not.
    #[must_use]
    pub fn of_run(place: &SuitePlan) -> Option<Self> {
        let kind = match place.suite.split('-').next()? {
            "ab" if place.suite == "ab" => Self::Experiment,
            "search" => Self::Search,
            "frontier" => Self::Frontier,
            _ => return None,
        };
        (place.id.matches('-').count() > 1).then_some(kind)
    }

    /// Returns the kind of the study whose record is this file, by the directory in which it is.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        let directory = path.canonicalize().ok()?.parent()?.file_name()?.to_owned();
        Self::ALL.into_iter().find(|kind| directory == kind.directory())
    }

    /// Returns the path of the record of this name in `results`.
    #[must_use]
    pub fn path(self, results: &Path, id: &str) -> PathBuf {
        results.join(self.directory()).join(format!("{id}.json"))
    }
}

/// What a record of any kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    /// Its kind.
    pub kind: StudyKind,
    /// Its name.
    pub id: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// What it shows, or how it ended, in a word or two.
    pub status: String,
    /// The workload.
    pub workload: String,
    /// Names of the runs that count.
    pub runs: Vec<String>,
}

impl Study {
    /// Parses the text of the record at `path`.
    ///
    /// # Errors
    /// When it is no record of this kind, or has a newer format.
    pub fn parse(kind: StudyKind, path: &Path, text: &str) -> Result<Self, StoreError> {
        Ok(match kind {
            StudyKind::Experiment => parse_record::<AbRecord>(path, text)?.into(),
            StudyKind::Search => parse_record::<SearchRecord>(path, text)?.into(),
            StudyKind::Frontier => parse_record::<FrontierRecord>(path, text)?.into(),
        })
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When it cannot be read, is no record of this kind, or has a newer format.
    pub fn read(kind: StudyKind, path: &Path) -> Result<Self, StoreError> {
        Self::parse(kind, path, &read_text(path).map_err(io_error("read", path))?)
    }

    /// Returns the kinds and paths of all records in `results`, each kind with the oldest first.
    #[must_use]
    pub fn list(results: &Path) -> Vec<(StudyKind, PathBuf)> {
        let of_kind = |kind: StudyKind| {
            records(&results.join(kind.directory())).into_iter().map(move |path| (kind, path)).collect::<Vec<_>>()
        };
        StudyKind::ALL.into_iter().flat_map(of_kind).collect()
    }

    /// Returns the record in `results` that `name` is the file of, the name, or a unique beginning or end of it.
    ///
    /// # Errors
    /// When there are several.
    pub fn find(results: &Path, name: &str) -> Result<Option<(StudyKind, PathBuf)>, StoreError> {
        let all = Self::list(results);
        if let Ok(file) = Path::new(name).canonicalize() {
            let is_it = |path: &Path| path.canonicalize().is_ok_and(|path| path == file);
            return Ok(all.into_iter().find(|(_, path)| is_it(path)));
        }
        // `last` and `last-N` are runs.
        if name == "last" || name.starts_with("last-") {
            return Ok(None);
        }
        let paths: Vec<PathBuf> = all.iter().map(|(_, path)| path.clone()).collect();
        let id = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let found = named(&paths, name, id)?;
        Ok(found.and_then(|found| all.iter().find(|(_, path)| path == found).cloned()))
    }
}

impl From<AbRecord> for Study {
    fn from(record: AbRecord) -> Self {
        let AbRecord { id, started_at, verdict, workload, runs, .. } = record;
        let runs = runs.a.into_iter().chain(runs.b).collect();
        Self { kind: StudyKind::Experiment, id, started_at, status: verdict.name().to_owned(), workload, runs }
    }
}

impl From<SearchRecord> for Study {
    fn from(record: SearchRecord) -> Self {
        let SearchRecord { id, started_at, status, workload, runs, .. } = record;
        Self { kind: StudyKind::Search, id, started_at, status: status.name().to_owned(), workload, runs }
    }
}

impl From<FrontierRecord> for Study {
    fn from(record: FrontierRecord) -> Self {
        let FrontierRecord { id, started_at, ended, workload, highest_run, points, .. } = record;
        let runs = highest_run.into_iter().chain(points.into_iter().flat_map(|point| point.runs)).collect();
        let status = match ended.as_deref() {
            Some(why @ ("complete" | "budget" | "interrupted")) => why,
            Some(_) => "failed",
            None => "not ended",
        };
        Self { kind: StudyKind::Frontier, id, started_at, status: status.to_owned(), workload, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ab::AbRuns;
    use crate::frontier::FrontierPoint;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn records_of_all_kinds_are_listed_and_found_by_name() {
        let results = tempfile::tempdir().unwrap();
        let results = results.path();
        let runs = AbRuns { a: names(&["a1"]), b: names(&["b1"]) };
        let ab = AbRecord { id: "20260101-ab-x-1111".to_owned(), runs, ..AbRecord::default() };
        ab.save(results).unwrap();
        let point = FrontierPoint { runs: names(&["p"]), ..FrontierPoint::default() };
        let frontier = FrontierRecord {
            id: "20260102-frontier-2222".to_owned(),
            highest_run: Some("h".to_owned()),
            points: vec![point],
            ended: Some("the server was lost".to_owned()),
            ..FrontierRecord::default()
        };
        frontier.save(results).unwrap();
        let read = |(kind, path): (StudyKind, PathBuf)| Study::read(kind, &path).unwrap();
        let all: Vec<_> = Study::list(results).into_iter().map(read).collect();
        assert_eq!(all.iter().map(|study| study.kind.name()).collect::<Vec<_>>(), ["experiment", "frontier"]);
        assert_eq!((&all[0].runs, all[0].status.as_str()), (&names(&["a1", "b1"]), "cannot tell"));
        assert_eq!((&all[1].runs, all[1].status.as_str()), (&names(&["h", "p"]), "failed"));
        let find = |name: &str| Study::find(results, name).map(|found| found.map(|found| read(found).id));
        assert_eq!(find("1111").unwrap().as_deref(), Some("20260101-ab-x-1111"));
        assert_eq!(find("20260102").unwrap().as_deref(), Some("20260102-frontier-2222"));
        let file = StudyKind::Frontier.path(results, &frontier.id).display().to_string();
        assert_eq!(find(&file).unwrap().as_deref(), Some("20260102-frontier-2222"));
        assert_eq!((find("nothing").unwrap(), find("last").unwrap()), (None, None));
        assert!(find("2026").unwrap_err().to_string().contains("it could be"));
    }

    #[test]
    fn kinds_have_words_and_directories_of_their_own() {
        for kind in StudyKind::ALL {
            assert_eq!(StudyKind::named(kind.name()), Some(kind));
        }
        assert_eq!(StudyKind::ALL.map(StudyKind::directory), ["ab", "searches", "frontiers"]);
        assert_eq!(StudyKind::named("run"), None);
        for (suite, id, kind) in [
            ("ab", "20260101T000000Z-ab-x-1f", Some(StudyKind::Experiment)),
            ("ab", "20260101T000000Z-my-script-sql-1f", Some(StudyKind::Experiment)),
            ("search-noop", "20260101T000000Z-search-noop-1f", Some(StudyKind::Search)),
            ("frontier-ch-benchmark", "20260101T000000Z-frontier-ch-benchmark-1f", Some(StudyKind::Frontier)),
            // Suites of a user.
            ("ab", "20260101T000000Z-1f", None),
            ("ab-nightly", "20260101T000000Z-1f", None),
            ("nightly", "20260101T000000Z-ab-x-1f", None),
        ] {
            let place = SuitePlan { suite: suite.to_owned(), id: id.to_owned(), ..SuitePlan::default() };
            assert_eq!(StudyKind::of_run(&place), kind, "{suite} {id}");
        }
    }
}
