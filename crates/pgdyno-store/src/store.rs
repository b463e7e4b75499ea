//! The store itself: runs go in as wholes, and come out as they went in.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, ConnectOptions, CopyWriter};
use pgdyno_results::{RunRecord, StudyKind, goes_on, read_record, table};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::{CentralError, io_error};
use crate::run_files::{RunFile, RunFiles, hex};
use crate::schema;

/// Size of a part of a file.
const PART_BYTES: usize = 1 << 20;
/// How long the server may take to answer, and a connection to be made.
const ANSWERING: Duration = Duration::from_secs(300);
const CONNECTING: Duration = Duration::from_secs(10);
/// Pauses before further attempts where the connection was lost.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// What became of a run that was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The store has it now.
    Stored,
    /// The store has it now, instead of other files of the same name.
    Replaced,
    /// The store had it already, with the same files.
    WasThere,
}

/// What something in the store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A run.
    Run,
    /// An experiment, a search or a frontier.
    Study(StudyKind),
}

impl Kind {
    /// Returns the word in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Study(kind) => kind.name(),
        }
    }
}

/// A run or a study as the store lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The digest of its files.
    pub digest: String,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// Of a run `complete`, `interrupted`, `invalid` or `failed`; of a study what it shows, or how it ended.
    pub status: String,
    /// Its workload.
    pub workload: String,
    /// Length of its files, in bytes.
    pub bytes: u64,
    /// When it was pushed, UTC, RFC 3339.
    pub pushed_at: String,
    /// The role that pushed it.
    pub pushed_by: String,
}

impl Stored {
    /// Reads what lists ask for: name, digest, beginning, status, workload, bytes, and when and by whom it was pushed.
    pub(crate) fn of_row(kind: Kind, row: impl Iterator<Item = Option<String>>) -> Self {
        let mut cells = row.map(Option::unwrap_or_default);
        let mut text = || cells.next().unwrap_or_default();
        Self {
            kind,
            name: text(),
            digest: text(),
            started_at: text(),
            status: text(),
            workload: text(),
            bytes: text().parse().unwrap_or_default(),
            pushed_at: text(),
            pushed_by: text(),
        }
    }
}

/// Returns an expression for a time, UTC, RFC 3339.
pub(crate) fn utc(column: &str) -> String {
    format!("to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
}

/// Returns a value as a literal that jsonb takes.
pub(crate) fn json_literal(mut value: Value) -> String {
    without_nul(&mut value);
    literal(&value.to_string())
}

/// A store of runs in a PostgreSQL database.
#[derive(Debug)]
pub struct Store {
    options: ConnectOptions,
    admin: Admin,
    id: String,
    has_studies: bool,
}

impl Store {
    /// Creates the store where it is not there, and makes its views anew. Returns true if it was not there.
    ///
    /// # Errors
    /// When the database cannot be reached, the role may not create it, or it is of another version.
    pub fn create(options: &ConnectOptions) -> Result<bool, CentralError> {
        schema::provide(&mut connect(options)?, options)
    }

    /// Opens a store.
    ///
    /// # Errors
    /// When it cannot be reached or read, is not there, or is of another version.
    pub fn open(options: &ConnectOptions) -> Result<Self, CentralError> {
        let mut admin = connect(options)?;
        let (id, has_studies) = schema::identity(&mut admin, options)?;
        Ok(Self { options: options.clone(), admin, id, has_studies })
    }

    /// Returns the identity of the store, whatever its address.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns true if it has a table for studies: those that older versions have made do not.
    #[must_use]
    pub fn has_studies(&self) -> bool {
        self.has_studies
    }

    pub(crate) fn options(&self) -> &ConnectOptions {
        &self.options
    }

    pub(crate) fn admin(&mut self) -> &mut Admin {
        &mut self.admin
    }

    /// Stores a run in one transaction: all of it, or nothing. Where the connection is lost, it looks whether the run
    /// is there, and tries again for some seconds. A run that is there with the same files is left as it is.
    ///
    /// # Errors
    /// When the run goes on, has no readable record, is there with other files and `replace` is false, or the store
    /// refuses it.
    pub fn push(&mut self, files: &RunFiles, replace: bool) -> Result<Pushed, CentralError> {
        let record = read_record(&files.record())?;
        if goes_on(&files.directory) {
            return Err(CentralError::GoesOn { run: record.id });
        }
        self.persistently(|store| store.attempt(files, &record, replace))
    }

    /// Attempts something again, for some seconds, where the connection is lost.
    pub(crate) fn persistently<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<T, CentralError>,
    ) -> Result<T, CentralError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let error = match attempt(self) {
                Err(error) if error.is_passing() => error,
                ended => return ended,
            };
            let mut again = Err(error);
            while let (Err(error), Some(pause)) = (&again, pauses.next()) {
                if !error.is_passing() {
                    break;
                }
                std::thread::sleep(pause);
                again = Self::open(&self.options);
            }
            *self = again?;
        }
    }

    fn attempt(&mut self, files: &RunFiles, record: &RunRecord, replace: bool) -> Result<Pushed, CentralError> {
        let digest = files.digest();
        let is_there = match self.stored(&format!("WHERE run = {}", literal(&record.id)))?.pop() {
            Some(stored) if stored.digest == digest => return Ok(Pushed::WasThere),
            Some(Stored { kind, name, pushed_at, pushed_by, .. }) if !replace => {
                return Err(CentralError::Differs { kind: kind.name(), name, pushed_at, pushed_by });
            }
            stored => stored.is_some(),
        };
        match self.write(files, record, &digest) {
            Ok(()) => Ok(if is_there { Pushed::Replaced } else { Pushed::Stored }),
            Err(error) => {
                // A lost connection has rolled back by itself.
                drop(self.admin.execute("ROLLBACK"));
                Err(match error {
                    CentralError::Statement(error) => schema::not_allowed(error, &self.options, "write to"),
                    error => error,
                })
            }
        }
    }

    /// Writes a run in one transaction, instead of what is there.
    fn write(&mut self, files: &RunFiles, record: &RunRecord, digest: &str) -> Result<(), CentralError> {
        let run = literal(&record.id);
        let listed =
            |file: &RunFile| format!("({run}, {}, {}, {})", literal(&file.path), file.bytes, literal(&file.sha256));
        self.admin.execute(&format!(
            "BEGIN; DELETE FROM pgdyno_results.records WHERE run = {run};
             INSERT INTO pgdyno_results.records (run, digest, started_at, clients_began_at, record, line, bytes)
             VALUES ({run}, {}, {started}, {started}, {}, {}, {});
             INSERT INTO pgdyno_results.files (run, path, bytes, sha256) VALUES {}",
            literal(digest),
            json_literal(serde_json::to_value(record).unwrap_or_default()),
            json_literal(table::json_row(record)),
            files.bytes(),
            files.files.iter().map(listed).collect::<Vec<_>>().join(", "),
            started = literal(&record.started_at),
        ))?;
        let mut copy =
            self.admin.copy_in("COPY pgdyno_results.parts (run, path, part, content) FROM STDIN (FORMAT binary)")?;
        copy.write(BINARY_HEADER)?;
        for file in &files.files {
            write_parts(&mut copy, &record.id, file, &files.directory.join(&file.path))?;
        }
        copy.write(&(-1i16).to_be_bytes())?;
        copy.finish()?;
        self.admin.execute(&format!("SELECT pgdyno_results.fill({run}); COMMIT"))?;
        Ok(())
    }

    /// Returns the runs of the store, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs(&mut self) -> Result<Vec<Stored>, CentralError> {
        self.stored("")
    }

    fn stored(&mut self, condition: &str) -> Result<Vec<Stored>, CentralError> {
        let sql = format!(
            "SELECT run, digest, {}, coalesce(line ->> 'status', ''), coalesce(line ->> 'workload', ''), bytes, {}, pushed_by
             FROM pgdyno_results.records {condition} ORDER BY records.started_at, run",
            utc("records.started_at"),
            utc("pushed_at"),
        );
        let rows = self.admin.query(&sql).map_err(|error| schema::not_allowed(error, &self.options, "read"))?.rows;
        Ok(rows.into_iter().map(|row| Stored::of_row(Kind::Run, row.into_iter())).collect())
    }

    /// Returns the files of a run.
    pub(crate) fn files(&mut self, run: &str) -> Result<Vec<RunFile>, CentralError> {
        let sql = format!("SELECT path, bytes, sha256 FROM pgdyno_results.files WHERE run = {}", literal(run));
        let rows = self.admin.query(&sql)?.rows;
        let file = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut text = || cells.next().unwrap_or_default();
            RunFile { path: text(), bytes: text().parse().unwrap_or_default(), sha256: text() }
        };
        Ok(rows.into_iter().map(file).collect())
    }

    /// Writes a file of the store to `to`, which must not be there, and checks that it is what was pushed.
    pub(crate) fn fetch(&mut self, run: &str, file: &RunFile, to: &Path) -> Result<(), CentralError> {
        let damaged = |why: String| CentralError::Damaged {
            kind: Kind::Run.name(),
            name: run.to_owned(),
            path: file.path.clone(),
            why,
        };
        let mut out = File::create_new(to).map_err(io_error("create", to))?;
        let (mut sha, mut bytes, mut part) = (Sha256::new(), 0, 0);
        while bytes < file.bytes {
            let found = self.admin.query_opt(&format!(
                "SELECT translate(encode(content, 'base64'), E'\\n', '') FROM pgdyno_results.parts
                 WHERE run = {} AND path = {} AND part = {part}",
                literal(run),
                literal(&file.path)
            ))?;
            let found = found.ok_or_else(|| damaged(format!("its part {part} is missing")))?;
            let content = STANDARD.decode(found).map_err(|error| damaged(error.to_string()))?;
            if content.is_empty() {
                return Err(damaged(format!("its part {part} is empty")));
            }
            sha.update(&content);
            out.write_all(&content).map_err(io_error("write", to))?;
            bytes += content.len() as u64;
            part += 1;
        }
        let found = hex(&sha.finalize());
        if found != file.sha256 {
            return Err(damaged(format!("its SHA-256 is {found}, and {} was pushed", file.sha256)));
        }
        Ok(())
    }

    /// Deletes the runs and studies that began longer than `seconds` ago, or only returns them where `only_list` is true.
    ///
    /// # Errors
    /// When the store refuses it.
    pub fn prune(&mut self, seconds: f64, only_list: bool) -> Result<Vec<Stored>, CentralError> {
        let old = format!("WHERE started_at < clock_timestamp() - make_interval(secs => {seconds})");
        let mut pruned = self.stored(&old)?;
        if !only_list && !pruned.is_empty() {
            let names: Vec<_> = pruned.iter().map(|run| literal(&run.name)).collect();
            let sql = format!("DELETE FROM pgdyno_results.records WHERE run IN ({})", names.join(", "));
            self.admin.execute(&sql).map_err(|error| schema::not_allowed(error, &self.options, "write to"))?;
        }
        pruned.extend(self.prune_studies(&old, only_list)?);
        Ok(pruned)
    }
}

/// What a COPY in binary format begins with: its signature, no flags, no extension.
const BINARY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Sends a file as rows of `parts`.
fn write_parts(copy: &mut CopyWriter<'_>, run: &str, file: &RunFile, path: &Path) -> Result<(), CentralError> {
    let mut content = File::open(path).map_err(io_error("read", path))?;
    let (mut sha, mut part) = (Sha256::new(), 0_i32);
    loop {
        let mut bytes = Vec::new();
        let limit = PART_BYTES as u64;
        io::Read::by_ref(&mut content).take(limit).read_to_end(&mut bytes).map_err(io_error("read", path))?;
        if bytes.is_empty() {
            break;
        }
        sha.update(&bytes);
        let mut row = Vec::with_capacity(bytes.len() + 400);
        row.extend_from_slice(&4i16.to_be_bytes());
        for field in [run.as_bytes(), file.path.as_bytes(), &part.to_be_bytes(), &bytes] {
            row.extend_from_slice(&(field.len() as i32).to_be_bytes());
            row.extend_from_slice(field);
        }
        copy.write(&row)?;
        part += 1;
    }
    if hex(&sha.finalize()) == file.sha256 { Ok(()) } else { Err(CentralError::Changed { path: path.to_owned() }) }
}

fn connect(options: &ConnectOptions) -> Result<Admin, CentralError> {
    let mut admin =
        Admin::connect(&options.with_application_name("pgdyno store").with_default_connect_timeout(CONNECTING))?;
    admin.wait_at_most(ANSWERING);
    Ok(admin)
}

/// Replaces what jsonb cannot hold. The file keeps it.
fn without_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(values) => values.iter_mut().for_each(without_nul),
        Value::Object(members) => members.values_mut().for_each(without_nul),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jsonb_cannot_hold_is_replaced() {
        let mut value = serde_json::json!({ "a": ["x\0y", 1], "b": { "c": "\0" } });
        without_nul(&mut value);
        assert_eq!(value, serde_json::json!({ "a": ["x\u{fffd}y", 1], "b": { "c": "\u{fffd}" } }));
    }
}
