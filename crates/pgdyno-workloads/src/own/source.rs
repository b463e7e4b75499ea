//! Source of a directory's data.

use super::files::{Files, within};
use super::manifest::Manifest;
use super::tables::Tables;
use super::{LOAD, MANIFEST, OwnError, SCHEMA};

/// Source of a directory's data.
#[derive(Debug)]
pub(super) enum Source {
    /// SQL files, with their texts.
    Files(Vec<(String, String)>),
    /// A built-in workload.
    Tables(Tables),
}

impl Source {
    pub(super) fn read(files: &mut Files<'_>, manifest: &Manifest) -> Result<Self, OwnError> {
        let Some(data) = &manifest.data else {
            let mut texts = vec![(files.within(SCHEMA), files.text(SCHEMA)?)];
            if files.holds(LOAD)? {
                texts.push((files.within(LOAD), files.text(LOAD)?));
            }
            return Ok(Self::Files(texts));
        };
        let wrong = |what: String| OwnError::Wrong { file: within(files.path, MANIFEST), what };
        for file in [SCHEMA, LOAD] {
            if files.holds(file)? {
                let of = &data.workload;
                let what = format!("its data comes from {of}, by [data], and from {file}: remove one of them");
                return Err(wrong(what));
            }
        }
        Tables::read(data).map(Self::Tables).map_err(wrong)
    }
}
