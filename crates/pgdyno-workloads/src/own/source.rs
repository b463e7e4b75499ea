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
    /// Tables that are there.
    Existing,
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
        let of = match (&data.workload, data.existing) {
            (Some(workload), false) => workload,
            (None, true) => "existing tables",
            (None, false) => return Err(wrong("data: name a workload, or write existing = true".to_owned())),
            (Some(_), true) => {
                return Err(wrong("data: it has a workload and existing: remove one of them".to_owned()));
            }
        };
        for file in [SCHEMA, LOAD] {
            if files.holds(file)? {
                let what = format!("its data comes from {of}, by [data], and from {file}: remove one of them");
                return Err(wrong(what));
            }
        }
        if data.existing {
            let what = match (manifest.check.is_empty(), data.params.is_empty() && data.checks.is_none()) {
                (false, _) => "[[check]]: existing tables are not checked",
                (true, false) => "data: existing tables have no params and no checks",
                (true, true) => return Ok(Self::Existing),
            };
            return Err(wrong(what.to_owned()));
        }
        Tables::read(of, data).map(Self::Tables).map_err(wrong)
    }
}
