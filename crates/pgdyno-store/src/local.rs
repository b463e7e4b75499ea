//! Runs and studies of a results directory that can be pushed to a store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pgdyno_results::{RECORD, StoreError, Study, StudyKind, find_runs, list_runs};

use crate::{CentralError, Pushed, RunFiles, SkippedFile, Store, StoredKind, StudyFile};

/// Something of a results directory that can be pushed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Local {
    /// A run directory.
    Run(PathBuf),
    /// The file of a study.
    Study(StudyKind, PathBuf),
}

/// What was pushed of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Size of its files.
    pub bytes: u64,
    /// Whether other files in the store were replaced.
    pub has_replaced: bool,
    /// Files that are not stored.
    pub left_out: Vec<SkippedFile>,
}

impl Local {
    /// Returns all of a results directory: its runs, then its studies.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn all(results: &Path) -> Result<Vec<Self>, StoreError> {
        let runs = list_runs(results)?.into_iter().map(Self::Run);
        let studies = Study::list(results).into_iter().map(|(kind, path)| Self::Study(kind, path));
        Ok(runs.chain(studies).collect())
    }

    /// Returns what names mean: runs, or studies with their runs.
    ///
    /// # Errors
    /// When there is nothing of a name, or it cannot be read.
    pub fn named(results: &Path, names: &[String]) -> Result<Vec<Self>, StoreError> {
        let mut found: Vec<Self> = Vec::new();
        for name in names {
            // find_runs takes any file for a run's record.
            let mut study = if Path::new(name).is_file() { Study::find(results, name)? } else { None };
            if study.is_none() {
                match find_runs(results, name) {
                    Ok(records) => {
                        let runs = records.iter().filter_map(|record| record.parent());
                        found.extend(runs.map(|run| Self::Run(run.to_owned())));
                        continue;
                    }
                    Err(error) => study = Some(Study::find(results, name)?.ok_or(error)?),
                }
            }
            if let Some((kind, path)) = study {
                found.extend(Self::of_study(results, kind, &path)?);
            }
        }
        let mut known = BTreeSet::new();
        found.retain(|local| known.insert(local.clone()));
        Ok(found)
    }

    /// Returns the runs of a study that are in the directory, and the study.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn of_study(results: &Path, kind: StudyKind, path: &Path) -> Result<Vec<Self>, StoreError> {
        let runs = Study::read(kind, path)?.runs.into_iter().map(|run| results.join(run));
        let runs = runs.filter(|run| run.join(RECORD).is_file()).map(Self::Run);
        Ok(runs.chain([Self::Study(kind, path.to_owned())]).collect())
    }

    /// Returns its directory or file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Run(path) | Self::Study(_, path) => path,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> String {
        let name = match self {
            Self::Run(path) => path.file_name(),
            Self::Study(_, path) => path.file_stem(),
        };
        name.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns what it is.
    #[must_use]
    pub fn kind(&self) -> StoredKind {
        match self {
            Self::Run(_) => StoredKind::Run,
            Self::Study(kind, _) => StoredKind::Study(*kind),
        }
    }

    /// Pushes it; `None` if it is there already.
    ///
    /// # Errors
    /// When its files cannot be read, or the store refuses them.
    pub fn push(&self, store: &mut Store, replace: bool) -> Result<Option<Sent>, CentralError> {
        let (pushed, bytes, left_out) = match self {
            Self::Run(directory) => {
                let files = RunFiles::read(directory)?;
                (store.push(&files, replace)?, files.bytes(), files.left_out)
            }
            Self::Study(kind, path) => {
                let file = StudyFile::read(*kind, path)?;
                (store.push_study(&file, replace)?, file.bytes(), Vec::new())
            }
        };
        let has_replaced = pushed == Pushed::Replaced;
        Ok((pushed != Pushed::WasThere).then_some(Sent { bytes, has_replaced, left_out }))
    }
}
