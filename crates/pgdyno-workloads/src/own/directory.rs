//! A directory: read, checked, and built into a workload once its parameters have values.

use std::collections::BTreeMap;
use std::sync::Arc;

use pgdyno_script::SCRIPTS_MAX;
use pgdyno_workload::{
    Check, CheckCost, DataSet, Drive, Expect, FIDELITY_FILE, Meta, ParamError, Params, SqlData, SqlFile, ValueQuery,
    Workload,
};

use super::files::{Files, within};
use super::groups::{OwnGroup, OwnGroups};
use super::manifest::{CheckEntry, Manifest, RunDefaults};
use super::script_entry::ScriptEntry;
use super::source::Source;
use super::sql;
use super::value_lists::{self, ValuesEntry};
use super::{BuiltInDataSet, MANIFEST, OwnError, SCALE, SqlDataSet, leak, meta};
use crate::scripted::Groups;

/// A script of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnScript {
    /// Name of the file within the directory.
    pub file: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// Whether it only reads; `None`: its text says it.
    pub read_only: Option<bool>,
    /// Its text.
    pub text: Vec<u8>,
}

/// The content of a directory, checked as far as possible without values for its parameters.
#[derive(Debug)]
pub struct WorkloadDirectory {
    meta: &'static Meta,
    name: &'static str,
    path: String,
    source: Source,
    scripts: Vec<OwnScript>,
    groups: Option<Box<OwnGroups>>,
    run: RunDefaults,
    checks: Vec<CheckEntry>,
    values: Vec<ValuesEntry>,
    files: BTreeMap<String, Vec<u8>>,
}

impl WorkloadDirectory {
    /// Reads the directory `path`. `read` returns the bytes of a file by its name in the directory, or `None`.
    ///
    /// # Errors
    /// When a file is missing, cannot be read, or is wrong.
    pub fn read(path: &str, read: &mut dyn FnMut(&str) -> std::io::Result<Option<Vec<u8>>>) -> Result<Self, OwnError> {
        let path = path.trim_end_matches('/').to_owned();
        let mut files = Files { path: &path, read, found: BTreeMap::new() };
        let wrong = |what: String| OwnError::Wrong { file: within(&path, MANIFEST), what };
        let manifest = Manifest::parse(&files.text(MANIFEST)?).map_err(wrong)?;
        let source = Source::read(&mut files, &manifest)?;
        // It is part of the plan, for a run of the plan without the directory.
        files.find(FIDELITY_FILE)?;
        if manifest.script.is_empty() {
            return Err(wrong("it names no scripts: add [[script]] with file = \"….sql\"".to_owned()));
        }
        let scripts = manifest.script.len();
        if scripts > SCRIPTS_MAX {
            return Err(wrong(format!("it names {scripts} scripts: at most {SCRIPTS_MAX} are allowed")));
        }
        if manifest.script.iter().all(|script| script.weight == 0) {
            return Err(wrong("all scripts have weight 0".to_owned()));
        }
        let mut scripts = Vec::new();
        for entry in &manifest.script {
            let text = files.bytes(&entry.file)?;
            let ScriptEntry { file, weight, read_only } = entry;
            scripts.push(OwnScript { file: file.clone(), weight: *weight, read_only: *read_only, text });
        }
        let name = meta::name(&path, &manifest).map_err(wrong)?;
        let meta = leak(meta::meta(&path, name, &manifest, &source).map_err(wrong)?);
        distinguished(&manifest.check, &source).map_err(wrong)?;
        value_lists::admit_names(&manifest.values).map_err(wrong)?;
        let groups = OwnGroups::new(manifest.group, manifest.stage, &manifest.script).map_err(wrong)?.map(Box::new);
        let found = files.found;
        let (run, checks, values) = (manifest.run, manifest.check, manifest.values);
        let directory = Self { meta, name, path, source, scripts, groups, run, checks, values, files: found };
        // Reports mistakes that do not depend on values.
        let defaults = meta.params.iter().map(|param| (param.name, param.default)).collect();
        if let Source::Files(texts) = &directory.source {
            sql_data(texts, &defaults)?;
        }
        directory.checks(&defaults)?;
        directory.queries(&defaults)?;
        Ok(directory)
    }

    /// Returns its name in records. Its data has the same name, unless it is that of a built-in workload.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns its files, by their names within the directory.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// Returns what a run does unless its options say otherwise.
    #[must_use]
    pub fn run_defaults(&self) -> RunDefaults {
        self.run.clone()
    }

    /// Returns true if its data is that of a built-in workload.
    #[must_use]
    pub fn is_on_built_in(&self) -> bool {
        matches!(self.source, Source::Tables(_))
    }

    /// Returns the parameters and the data set. Parameters that `schema.sql` and `load.sql` use, or that shape the
    /// data of the built-in workload, shape the data; the others shape the run.
    #[must_use]
    pub fn meta(&self) -> &'static Meta {
        self.meta
    }

    /// Returns the scripts in order.
    #[must_use]
    pub fn scripts(&self) -> &[OwnScript] {
        &self.scripts
    }

    /// Returns the group of this name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&OwnGroup> {
        self.groups.iter().flat_map(|groups| &groups.groups).find(|group| group.name == name)
    }

    /// Returns stages and groups with their scripts for a run that is given so many clients; `None` where all clients run
    /// all scripts.
    ///
    /// # Errors
    /// When a group would have no clients.
    pub fn groups(&self, clients: u32) -> Result<Option<Groups>, OwnError> {
        let wrong = |what| OwnError::Wrong { file: within(&self.path, MANIFEST), what };
        self.groups.as_ref().map(|groups| groups.for_clients(clients)).transpose().map_err(wrong)
    }

    /// Builds the workload with values for its parameters, and `drive` for its transactions.
    ///
    /// # Errors
    /// When an SQL file cannot be parsed with these values, or the built-in workload rejects them.
    pub fn build(&self, params: &Params, drive: Arc<Drive>) -> Result<Workload, OwnError> {
        let values = params.iter().collect();
        let mut checks = self.checks(&values)?;
        let (meta, params) = (self.meta, params.clone());
        let data: Arc<dyn DataSet> = match &self.source {
            Source::Existing => {
                let scale = params.integer(SCALE).unsigned_abs();
                return Ok(Workload { meta, params, scale, data: Vec::new(), drive, audit: None });
            }
            Source::Files(texts) => {
                Arc::new(SqlDataSet { meta, params: params.clone(), sql: sql_data(texts, &values)?, checks })
            }
            Source::Tables(tables) => {
                let wrong = |error: ParamError| OwnError::Wrong {
                    file: within(&self.path, MANIFEST),
                    what: format!("data: {error}"),
                };
                let of = tables.build(&params).map_err(wrong)?;
                let kept = tables.checks(&*of);
                let keeps_rules = kept.len() == of.checks().len();
                checks.splice(..0, kept);
                Arc::new(BuiltInDataSet { meta, params: params.clone(), of, checks, keeps_rules })
            }
        };
        Ok(Workload { meta, params, scale: data.scale(), data: vec![data], drive, audit: None })
    }

    /// Returns the names of the lists of values that its scripts draw from.
    #[must_use]
    pub fn list_names(&self) -> Vec<String> {
        self.values.iter().map(|list| list.name.clone()).collect()
    }

    /// Returns the lists of values that its scripts draw from, with values for the parameters in their SQL.
    ///
    /// # Errors
    /// When the SQL of a list is not one query with these values.
    pub fn value_queries(&self, params: &Params) -> Result<Vec<ValueQuery>, OwnError> {
        self.queries(&params.iter().collect())
    }

    fn queries(&self, values: &BTreeMap<&str, &str>) -> Result<Vec<ValueQuery>, OwnError> {
        value_lists::queries(&self.values, &within(&self.path, MANIFEST), values)
    }

    fn checks(&self, values: &BTreeMap<&str, &str>) -> Result<Vec<Check>, OwnError> {
        let file = || within(&self.path, MANIFEST);
        let check = |entry: &CheckEntry| {
            let in_check = || format!("{}, check {}", file(), entry.name);
            let statements =
                sql::substitute(&entry.sql, values).map_err(|source| OwnError::Sql { file: in_check(), source })?;
            let [statement] = statements.as_slice() else {
                let what = format!("a check is one query, but there are {}", statements.len());
                return Err(OwnError::Wrong { file: in_check(), what });
            };
            let (expect, condition) = match entry.unchanged {
                false => (Expect::NoRow, "its query returns no row"),
                true => (Expect::UnchangedByRun, "its query returns what it returned before the run"),
            };
            let condition = if entry.condition.is_empty() { condition } else { &entry.condition };
            Ok(Check {
                name: leak(entry.name.clone()),
                condition: leak(condition.to_owned()),
                sql: statement.sql.clone().into(),
                parts: None,
                screen: None,
                expect,
                cost: CheckCost::Expensive,
            })
        };
        self.checks.iter().map(check).collect()
    }
}

/// Checks that names are unique: by its name a check's result before the run is found after it.
fn distinguished(checks: &[CheckEntry], source: &Source) -> Result<(), String> {
    let mut names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
    if let Source::Tables(tables) = source {
        names.extend(&tables.checks);
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(format!("two checks are called '{}'", twice[0])),
        None => Ok(()),
    }
}

fn sql_data(texts: &[(String, String)], values: &BTreeMap<&str, &str>) -> Result<SqlData, OwnError> {
    let file = |(name, text): &(String, String)| {
        let statements =
            sql::substitute(text, values).map_err(|source| OwnError::Sql { file: name.clone(), source })?;
        Ok(SqlFile { name: name.clone(), text: text.clone(), statements })
    };
    Ok(SqlData { files: texts.iter().map(file).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests;
