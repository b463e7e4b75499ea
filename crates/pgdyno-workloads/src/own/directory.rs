//! The directory: read, checked, and made a workload once its parameters have values.

use std::collections::BTreeMap;

use pgdyno_workload::{
    Check, CheckCost, Expect, Meta, Param, ParamKind, Params, SqlData, SqlFile, SqlStatement, When, Workload,
};

use super::manifest::{CheckEntry, Manifest};
use super::sql::{self, SqlTextError};
use super::{LOAD, MANIFEST, Own, OwnError, SCALE, SCHEMA};
use crate::registry;

/// A script that the directory names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnScript {
    /// The file's name within the directory.
    pub file: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// Its text.
    pub text: Vec<u8>,
}

/// What a directory holds, read and understood as far as that goes without values for its parameters.
#[derive(Debug)]
pub struct Directory {
    meta: &'static Meta,
    path: String,
    texts: Vec<(String, String)>,
    scripts: Vec<OwnScript>,
    checks: Vec<CheckEntry>,
}

impl Directory {
    /// Reads the directory `path`. `read` brings the bytes of a file in it by its name there, or says that there is none.
    ///
    /// # Errors
    /// When a file is missing, cannot be read, or is wrong.
    pub fn read(path: &str, read: &mut dyn FnMut(&str) -> std::io::Result<Option<Vec<u8>>>) -> Result<Self, OwnError> {
        let path = path.trim_end_matches('/').to_owned();
        let within = |file: &str| format!("{path}/{file}");
        let mut optional = |file: &str| read(file).map_err(|source| OwnError::Read { file: within(file), source });
        let missing = |file: &str| OwnError::Missing { directory: path.clone(), file: file.to_owned() };
        let text = |file: &str, bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .map_err(|_| OwnError::Wrong { file: within(file), what: "it is not UTF-8".to_owned() })
        };
        let wrong = |what: String| OwnError::Wrong { file: within(MANIFEST), what };

        let manifest = text(MANIFEST, optional(MANIFEST)?.ok_or_else(|| missing(MANIFEST))?)?;
        let manifest = Manifest::parse(&manifest).map_err(wrong)?;
        let mut texts = vec![(within(SCHEMA), text(SCHEMA, optional(SCHEMA)?.ok_or_else(|| missing(SCHEMA))?)?)];
        if let Some(load) = optional(LOAD)? {
            texts.push((within(LOAD), text(LOAD, load)?));
        }
        if manifest.script.is_empty() {
            return Err(wrong("it names no script: add [[script]] with file = \"….sql\"".to_owned()));
        }
        if manifest.script.iter().all(|script| script.weight == 0) {
            return Err(wrong("all scripts have weight 0".to_owned()));
        }
        let mut scripts = Vec::new();
        for entry in &manifest.script {
            let text = optional(&entry.file)?.ok_or_else(|| missing(&entry.file))?;
            scripts.push(OwnScript { file: entry.file.clone(), weight: entry.weight, text });
        }
        let meta = leak(meta(&path, &manifest, &texts).map_err(wrong)?);
        let directory = Self { meta, path, texts, scripts, checks: manifest.check };
        // What does not depend on values is told now.
        let defaults = meta.params.iter().map(|param| (param.name, param.default)).collect();
        directory.data(&defaults)?;
        directory.checks(&defaults)?;
        Ok(directory)
    }

    /// Name and parameters. The parameters that `schema.sql` and `load.sql` use shape the data, the others the run.
    #[must_use]
    pub fn meta(&self) -> &'static Meta {
        self.meta
    }

    /// The scripts, in the order in which they are named.
    #[must_use]
    pub fn scripts(&self) -> &[OwnScript] {
        &self.scripts
    }

    /// The workload with values for its parameters. `driver` knows the transactions.
    ///
    /// # Errors
    /// When an SQL file cannot be taken apart with these values.
    pub fn build(&self, params: &Params, driver: Box<dyn Workload>) -> Result<Box<dyn Workload>, OwnError> {
        let values = params.iter().collect();
        Ok(Box::new(Own {
            meta: self.meta,
            params: params.clone(),
            data: self.data(&values)?,
            checks: self.checks(&values)?,
            driver,
        }))
    }

    fn data(&self, values: &BTreeMap<&str, &str>) -> Result<SqlData, OwnError> {
        let file = |(name, text): &(String, String)| {
            let statements = substitute(text, values).map_err(|source| OwnError::Sql { file: name.clone(), source })?;
            Ok(SqlFile { name: name.clone(), text: text.clone(), statements })
        };
        Ok(SqlData { files: self.texts.iter().map(file).collect::<Result<_, _>>()? })
    }

    fn checks(&self, values: &BTreeMap<&str, &str>) -> Result<Vec<Check>, OwnError> {
        let file = || format!("{}/{MANIFEST}", self.path);
        let check = |entry: &CheckEntry| {
            let in_check = || format!("{}, check {}", file(), entry.name);
            let statements =
                substitute(&entry.sql, values).map_err(|source| OwnError::Sql { file: in_check(), source })?;
            let [statement] = statements.as_slice() else {
                let what = format!("a check is one query, and {} are there", statements.len());
                return Err(OwnError::Wrong { file: in_check(), what });
            };
            let condition = if entry.condition.is_empty() { "its query returns no row" } else { &entry.condition };
            Ok(Check {
                name: leak(entry.name.clone()),
                condition: leak(condition.to_owned()),
                sql: statement.sql.clone(),
                parts: None,
                expect: Expect::NoRow,
                cost: CheckCost::Expensive,
            })
        };
        self.checks.iter().map(check).collect()
    }
}

/// Names of a workload are constants everywhere else; there are one or two of a directory in the life of the program.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn substitute(text: &str, values: &BTreeMap<&str, &str>) -> Result<Vec<SqlStatement>, SqlTextError> {
    sql::statements(text, &|name| values.get(name).copied().map(str::to_owned))
}

/// Whether a text uses a variable, wherever psql would put its value in.
fn uses(text: &str, variable: &str) -> bool {
    let used = std::cell::Cell::new(false);
    // A text that cannot be taken apart is refused later.
    let _ = sql::statements(text, &|name| {
        used.set(used.get() || name == variable);
        None
    });
    used.get()
}

fn meta(path: &str, manifest: &Manifest, texts: &[(String, String)]) -> Result<Meta, String> {
    let name = match &manifest.name {
        Some(name) => name.clone(),
        None => path.rsplit('/').next().unwrap_or(path).to_owned(),
    };
    let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    if !name.bytes().all(is_name) || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "'{name}' cannot be its name: give one of letters, digits, '-', '_' and '.' (name = \"…\")"
        ));
    }
    if registry::all().iter().any(|entry| entry.meta.id == name || entry.meta.dataset == name) {
        return Err(format!("'{name}' is the name of a built-in workload; give another one (name = \"…\")"));
    }
    let when = |variable: &str| {
        if texts.iter().any(|(_, text)| uses(text, variable)) { When::Load } else { When::Run }
    };
    let scale_help = if manifest.scale.is_empty() { "the value of :scale" } else { &manifest.scale };
    let mut params = vec![Param {
        name: SCALE,
        help: leak(scale_help.to_owned()),
        default: "1",
        kind: ParamKind::Integer(1, i64::MAX),
        when: when(SCALE),
    }];
    for entry in manifest.params()? {
        params.push(Param {
            when: when(&entry.name),
            name: leak(entry.name),
            help: leak(entry.help),
            default: leak(entry.default),
            kind: entry.kind,
        });
    }
    Ok(Meta {
        id: leak(path.to_owned()),
        summary: leak(manifest.summary.clone()),
        version: 1,
        dataset: leak(name),
        scale_name: SCALE,
        scale_query: None,
        params: leak(params),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 4] = [
        (
            MANIFEST,
            "summary = 'a'\nscale = 'b'\n[params]\nrows = 10\nhot = 5\n[[script]]\nfile = 'a.sql'\nweight = 3\n\
             [[script]]\nfile = 'b.sql'\n[[check]]\nname = 'all'\nsql = 'select 1 having count(*) <> :rows;'\n",
        ),
        (SCHEMA, "create table t (a int); -- :hot"),
        (LOAD, "insert into t select generate_series(1, :rows)"),
        ("a.sql", "select :hot;"),
    ];

    fn directory(changes: &[(&str, Option<&str>)]) -> Result<Directory, String> {
        let mut files: BTreeMap<_, _> = FILES.into();
        files.insert("b.sql", "select 2;");
        for (name, text) in changes {
            match text {
                Some(text) => files.insert(name, text),
                None => files.remove(name),
            };
        }
        Directory::read("some/where/", &mut |name| Ok(files.get(name).map(|text| text.as_bytes().to_vec())))
            .map_err(|error| error.to_string())
    }

    fn own(directory: &Directory, given: &[(&str, &str)]) -> Box<dyn Workload> {
        let meta = directory.meta();
        let params = Params::new(meta.id, meta.params, given.iter().copied()).unwrap();
        directory.build(&params, registry::build("noop", []).unwrap()).unwrap()
    }

    #[test]
    fn a_directory_is_a_workload() {
        let directory = directory(&[]).unwrap();
        let meta = directory.meta();
        assert_eq!((meta.id, meta.dataset, meta.scale_name), ("some/where", "where", "scale"));
        let when: Vec<_> = meta.params.iter().map(|p| (p.name, p.default, p.when)).collect();
        assert_eq!(when, [("scale", "1", When::Run), ("hot", "5", When::Run), ("rows", "10", When::Load)]);
        assert_eq!(directory.scripts().iter().map(|s| s.weight).collect::<Vec<_>>(), [3, 1]);
        let own = own(&directory, &[("rows", "7")]);
        let data = own.sql_data().unwrap();
        assert_eq!(data.files[1].statements[0].sql, "insert into t select generate_series(1, 7)");
        assert_eq!(data.files[1].name, "some/where/load.sql");
        assert_eq!(own.checks()[0].sql, "select 1 having count(*) <> 7");
    }

    #[test]
    fn a_directory_without_load_sql_has_only_its_schema() {
        let directory = directory(&[(LOAD, None)]).unwrap();
        assert_eq!(own(&directory, &[]).sql_data().unwrap().files.len(), 1);
        assert!(directory.meta().params.iter().all(|p| p.when == When::Run));
    }

    #[test]
    fn what_is_missing_or_wrong_is_told_with_the_file() {
        let script = "[[script]]\nfile = 'a.sql'\n";
        let with = |text: &str| format!("{text}\n{script}");
        let cases = [
            (MANIFEST, None, "some/where has no workload.toml; a workload of one's own is"),
            (SCHEMA, None, "some/where has no schema.sql;"),
            ("a.sql", None, "some/where has no a.sql;"),
            (MANIFEST, Some(String::new()), "some/where/workload.toml: it names no script"),
            (MANIFEST, Some("[[script]]\nfile = 'a.sql'\nweight = 0".into()), "all scripts have weight 0"),
            (MANIFEST, Some(with("name = 'a b'")), "some/where/workload.toml: 'a b' cannot be its name"),
            (MANIFEST, Some(with("name = 'pgbench'")), "'pgbench' is the name of a built-in workload"),
            (MANIFEST, Some(with("nmae = 'x'")), "some/where/workload.toml: TOML parse error at line 1"),
            (SCHEMA, Some("create table t (a int);\nselect 'a".into()), "schema.sql: line 2: a quote is never closed"),
            (
                MANIFEST,
                Some(format!("{script}[[check]]\nname = 'c'\nsql = 'select 1; select 2'")),
                "workload.toml, check c: a check is one query, and 2 are there",
            ),
        ];
        for (file, text, message) in cases {
            let error = directory(&[(file, text.as_deref())]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
