//! Records of measurements of many runs that can go on after their end: `<id>.json` in a directory of their kind within the
//! results directory. The runs have records of their own, which these name.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::store::{named, read_versioned, write_json};

/// A measurement of many runs.
pub trait Resumable: Serialize + DeserializeOwned {
    /// The directory of its kind within the results directory.
    const DIRECTORY: &'static str;

    /// Returns its name.
    fn id(&self) -> &str;

    /// Sets why it ended; `None` while it goes on.
    fn set_ended(&mut self, why: Option<String>);

    /// Returns the directory of its kind in `results`.
    #[must_use]
    fn directory(results: &Path) -> PathBuf {
        results.join(Self::DIRECTORY)
    }

    /// Returns the path of its record.
    #[must_use]
    fn path(&self, results: &Path) -> PathBuf {
        Self::directory(results).join(format!("{}.json", self.id()))
    }

    /// Finds the record that a user names: a file, a name, its unique beginning or end, or `last`.
    ///
    /// # Errors
    /// When there is none, or several.
    fn find(results: &Path, name: &str) -> Result<PathBuf, StoreError> {
        if Path::new(name).is_file() {
            return Ok(name.into());
        }
        let directory = Self::directory(results);
        let files = records(&directory);
        let id = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        named(&files, name, id)?.cloned().ok_or_else(|| StoreError::NoSuchRecord { name: name.to_owned(), directory })
    }

    /// Returns the paths of all records of this kind in `results`, oldest first.
    #[must_use]
    fn list(results: &Path) -> Vec<PathBuf> {
        records(&Self::directory(results))
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When it cannot be read, is no record, or has a newer format.
    fn read(path: &Path) -> Result<Self, StoreError> {
        read_versioned(path)
    }

    /// Writes the record, and makes the directory of its kind if it is missing.
    ///
    /// # Errors
    /// When the disk refuses it.
    fn save(&self, results: &Path) -> Result<(), StoreError> {
        write_json(&Self::directory(results), &format!("{}.json", self.id()), self)
    }
}

/// Returns the records of a directory. Names begin with the time.
pub(crate) fn records(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(directory).into_iter().flatten().filter_map(|file| Some(file.ok()?.path()));
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AbRecord, FrontierRecord};

    #[test]
    fn a_record_is_found_by_its_beginning_its_end_and_as_the_last_one_of_its_kind() {
        let results = tempfile::tempdir().unwrap();
        for id in ["20260101-ab-x-1111", "20260102-ab-x-2222"] {
            AbRecord { id: id.to_owned(), ..AbRecord::default() }.save(results.path()).unwrap();
        }
        let find = |name: &str| AbRecord::find(results.path(), name).map(|path| AbRecord::read(&path).unwrap().id);
        assert_eq!(find("last").unwrap(), "20260102-ab-x-2222");
        assert_eq!(find("1111").unwrap(), "20260101-ab-x-1111");
        assert!(find("2026").unwrap_err().to_string().contains("it could be"));
        assert!(matches!(FrontierRecord::find(results.path(), "last"), Err(StoreError::NoSuchRecord { .. })));
        assert_eq!((AbRecord::list(results.path()).len(), FrontierRecord::list(results.path()).len()), (2, 0));
    }
}
