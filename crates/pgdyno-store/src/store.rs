//! The store itself: runs go in as wholes, and come out as they went in.

use std::io::{self, Read as _};
use std::mem;
use std::time::Duration;

use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, AdminError, ConnectOptions, CopyWriter};
use pgdyno_results::{RunRecord, StudyKind, goes_on, read_record, table};
use pgdyno_text::hex;
use pgdyno_untrusted::{Directory, RelativePath};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::alarm::Alarm;
use crate::error::{CentralError, io_error};
use crate::names::RunName;
use crate::rows::{Row, Rows};
use crate::run_files::{PART_BYTES, RunFile, RunFiles};
use crate::schema;

/// How long the server may be silent, and a connection take to be made.
const ANSWERING: Duration = Duration::from_secs(60);
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a store may take to be reached and to say what it is, before and after a measurement.
const OPENING: Duration = Duration::from_secs(10);
/// How long a push may take, and the rate at which its bytes prolong that.
const PUSHING: Duration = Duration::from_secs(60);
const BYTES_PER_S: u64 = 128 << 10;
/// How often a push looks again where another one was faster.
pub(crate) const PUSHES_MAX: usize = 5;
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
pub enum StoredKind {
    /// A run.
    Run,
    /// An experiment, a search or a frontier.
    Study(StudyKind),
}

impl StoredKind {
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
pub struct StoredItem {
    /// What it is.
    pub kind: StoredKind,
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

impl StoredItem {
    /// Reads what lists ask for: name, digest, beginning, status, workload, bytes, and when and by whom it was pushed.
    pub(crate) fn of_row(kind: StoredKind, row: impl Iterator<Item = Option<String>>) -> Self {
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

/// Returns a text as a literal: PostgreSQL has no NUL in texts.
pub(crate) fn text_literal(text: &str) -> String {
    literal(&without_nul_text(text))
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

    /// Opens a store in a few seconds at most, for a measurement, which must not wait for it.
    ///
    /// # Errors
    /// As [`Store::open`], and when it does not answer in time.
    pub fn open_soon(options: &ConnectOptions) -> Result<Self, CentralError> {
        let alarm = Alarm::set(OPENING).map_err(CentralError::Thread)?;
        let opened = Self::open(&options.interrupted_by(alarm.interrupter()));
        let mut store = opened.map_err(|error| in_time(error, &alarm))?;
        store.options = options.clone();
        // A connection that is lost already is noticed by the next statement.
        let _ = store.admin.set_interrupter(None);
        Ok(store)
    }

    /// Opens the same store again.
    pub(crate) fn reconnect(&mut self) -> Result<(), CentralError> {
        let again = Self::open(&self.options)?;
        if again.id != self.id {
            return Err(CentralError::AnotherStore { database: self.options.dbname().to_owned() });
        }
        *self = again;
        Ok(())
    }

    /// Begins to read one snapshot: what others delete or replace from now on is still read.
    pub(crate) fn begin_snapshot(&mut self) -> Result<(), CentralError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = pg_catalog";
        self.admin.execute(begin).map(drop).map_err(CentralError::Statement)
    }

    /// Ends the snapshot.
    pub(crate) fn end_snapshot(&mut self) -> Result<(), CentralError> {
        self.admin.execute("ROLLBACK").map(drop).map_err(CentralError::Statement)
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
    /// is there, and tries again for some seconds. A run that is there with the same files is left as it is, also if another
    /// process stores it at the same time.
    ///
    /// # Errors
    /// When the run goes on, has no readable record, is there with other files and `replace` is false, the store refuses
    /// it, or takes too long.
    pub fn push(&mut self, files: &RunFiles, replace: bool) -> Result<Pushed, CentralError> {
        let record = read_record(&files.record())?;
        if goes_on(files.directory().path()) {
            return Err(CentralError::GoesOn { run: record.id });
        }
        let run = RunName::parse(&record.id).ok_or_else(|| CentralError::NoName { name: record.id.clone() })?;
        self.in_time(files.bytes(), |store| store.attempt(files, &run, &record, replace))
    }

    /// Attempts something again, for some seconds, where the connection is lost; all of it in a time that depends on the bytes
    /// to send.
    pub(crate) fn in_time<T>(
        &mut self,
        bytes: u64,
        attempt: impl FnMut(&mut Self) -> Result<T, CentralError>,
    ) -> Result<T, CentralError> {
        let alarm = Alarm::set(PUSHING + Duration::from_secs(bytes / BYTES_PER_S)).map_err(CentralError::Thread)?;
        let options = self.options.clone();
        self.options = options.interrupted_by(alarm.interrupter());
        // A connection that is lost already is noticed by the first attempt.
        let _ = self.admin.set_interrupter(Some(alarm.interrupter()));
        let ended = self.persistently(&alarm, attempt);
        self.options = options;
        let _ = self.admin.set_interrupter(None);
        ended.map_err(|error| in_time(error, &alarm))
    }

    fn persistently<T>(
        &mut self,
        alarm: &Alarm,
        mut attempt: impl FnMut(&mut Self) -> Result<T, CentralError>,
    ) -> Result<T, CentralError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let error = match attempt(self) {
                Err(error) if error.is_passing() && !alarm.has_rung() => error,
                ended => return ended,
            };
            let mut again = Err(error);
            while let (Err(error), Some(pause)) = (&again, pauses.next()) {
                if !error.is_passing() || alarm.has_rung() {
                    break;
                }
                std::thread::sleep(pause);
                again = Self::open(&self.options);
            }
            *self = again?;
        }
    }

    fn attempt(
        &mut self,
        files: &RunFiles,
        run: &RunName,
        record: &RunRecord,
        replace: bool,
    ) -> Result<Pushed, CentralError> {
        let digest = files.digest();
        for _ in 0..PUSHES_MAX {
            let is_there = match self.stored(&format!("WHERE run = {}", literal(run.as_str())))?.pop() {
                Some(stored) if stored.digest == digest => return Ok(Pushed::WasThere),
                Some(StoredItem { kind, name, pushed_at, pushed_by, .. }) if !replace => {
                    return Err(CentralError::Differs { kind: kind.name(), name, pushed_at, pushed_by });
                }
                stored => stored.is_some(),
            };
            let written = self.write(files, run, record, &digest, is_there);
            if !matches!(written, Ok(true)) {
                // A lost connection has rolled back by itself.
                drop(self.admin.execute("ROLLBACK"));
            }
            match written {
                Ok(true) if is_there => return Ok(Pushed::Replaced),
                Ok(true) => return Ok(Pushed::Stored),
                // Another process has stored it meanwhile.
                Ok(false) => {}
                Err(CentralError::Statement(error)) => {
                    return Err(schema::not_allowed(error, &self.options, "write to"));
                }
                Err(error) => return Err(error),
            }
        }
        Err(CentralError::Contended { name: run.to_string() })
    }

    /// Writes a run in one transaction, instead of what is there if `replace` is true. Returns false if another process has
    /// stored it meanwhile: it waits for one that is about to.
    fn write(
        &mut self,
        files: &RunFiles,
        run: &RunName,
        record: &RunRecord,
        digest: &str,
        replace: bool,
    ) -> Result<bool, CentralError> {
        let name = literal(run.as_str());
        let listed = |file: &RunFile| {
            format!("({name}, {}, {}, {})", literal(file.path.as_str()), file.bytes, literal(&file.sha256))
        };
        self.admin.execute("BEGIN; SET LOCAL search_path = pg_catalog")?;
        if replace {
            self.admin.execute(&format!("DELETE FROM pgdyno_results.records WHERE run = {name}"))?;
        }
        let stored = self.admin.execute(&format!(
            "INSERT INTO pgdyno_results.records (run, digest, started_at, clients_began_at, record, line, bytes)
             VALUES ({name}, {}, {started}, {started}, {}, {}, {}) ON CONFLICT (run) DO NOTHING",
            literal(digest),
            json_literal(serde_json::to_value(record).unwrap_or_default()),
            json_literal(table::json_row(record)),
            files.bytes(),
            started = text_literal(&record.started_at),
        ))?;
        if stored == 0 {
            return Ok(false);
        }
        self.admin.execute(&format!(
            "INSERT INTO pgdyno_results.files (run, path, bytes, sha256) VALUES {}",
            files.files.iter().map(listed).collect::<Vec<_>>().join(", "),
        ))?;
        let mut copy =
            self.admin.copy_in("COPY pgdyno_results.parts (run, path, part, content) FROM STDIN (FORMAT binary)")?;
        copy.write(BINARY_HEADER)?;
        for file in &files.files {
            write_parts(&mut copy, run, file, files.directory())?;
        }
        copy.write(&(-1i16).to_be_bytes())?;
        copy.finish()?;
        self.admin.execute(&format!("SELECT pgdyno_results.fill({name}); COMMIT"))?;
        Ok(true)
    }

    /// Returns the runs of the store, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs(&mut self) -> Result<Vec<StoredItem>, CentralError> {
        self.stored("")
    }

    /// Asks something that the role may not be allowed to read.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Vec<Row>, CentralError> {
        let asked = self.admin.query(sql).map_err(|error| schema::not_allowed(error, &self.options, "read"))?;
        Ok(asked.rows)
    }

    fn stored(&mut self, condition: &str) -> Result<Vec<StoredItem>, CentralError> {
        let sql = format!(
            "SELECT run, digest, {}, coalesce(line ->> 'status', ''), coalesce(line ->> 'workload', ''), bytes, {}, pushed_by
             FROM pgdyno_results.records {condition} ORDER BY records.started_at, run",
            utc("records.started_at"),
            utc("pushed_at"),
        );
        Ok(self.ask(&sql)?.into_iter().map(|row| StoredItem::of_row(StoredKind::Run, row.into_iter())).collect())
    }

    /// Deletes the runs and studies that began longer than `seconds` ago, or only returns them where `only_list` is true.
    ///
    /// # Errors
    /// When the store refuses it.
    pub fn prune(&mut self, seconds: f64, only_list: bool) -> Result<Vec<StoredItem>, CentralError> {
        let old = format!("WHERE started_at < clock_timestamp() - make_interval(secs => {seconds})");
        let mut pruned = self.stored(&old)?;
        if !only_list && !pruned.is_empty() {
            let names: Vec<_> = pruned.iter().map(|run| literal(&run.name)).collect();
            let sql = format!("DELETE FROM pgdyno_results.records WHERE run IN ({}) RETURNING run", names.join(", "));
            let deleted =
                self.admin.query(&sql).map_err(|error| schema::not_allowed(error, &self.options, "write to"))?;
            retain_deleted(&mut pruned, &deleted.rows);
        }
        pruned.extend(self.prune_studies(&old, only_list)?);
        Ok(pruned)
    }
}

/// What a COPY in binary format begins with: its signature, no flags, no extension.
const BINARY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

impl Rows for Store {
    fn runs(&mut self) -> Result<Vec<Row>, CentralError> {
        let record = literal(pgdyno_results::RECORD);
        self.ask(&format!(
            "SELECT run, files.bytes, files.sha256 FROM pgdyno_results.records
             LEFT JOIN pgdyno_results.files USING (run) WHERE path IS NULL OR path = {record}"
        ))
    }

    fn files(&mut self, run: &RunName) -> Result<Vec<Row>, CentralError> {
        self.ask(&format!(
            "SELECT path, files.bytes, sha256, digest FROM pgdyno_results.files
             JOIN pgdyno_results.records USING (run) WHERE run = {}",
            literal(run.as_str())
        ))
    }

    fn part(&mut self, run: &RunName, path: &RelativePath, part: u32) -> Result<Option<String>, CentralError> {
        let rows = self.ask(&format!(
            "SELECT translate(encode(content, 'base64'), E'\\n', '') FROM pgdyno_results.parts
             WHERE run = {} AND path = {} AND part = {part}",
            literal(run.as_str()),
            literal(path.as_str())
        ))?;
        Ok(rows.into_iter().flatten().flatten().next())
    }

    fn studies(&mut self) -> Result<Vec<Row>, CentralError> {
        match self.has_studies {
            true => self.ask("SELECT kind, study, digest FROM pgdyno_results.studies"),
            false => Ok(Vec::new()),
        }
    }

    fn study(&mut self, name: &str) -> Result<Option<String>, CentralError> {
        let rows = self.ask(&format!(
            "SELECT translate(encode(content, 'base64'), E'\\n', '') FROM pgdyno_results.studies WHERE study = {}",
            text_literal(name)
        ))?;
        Ok(rows.into_iter().flatten().flatten().next())
    }
}

/// Keeps what was deleted: another process may have deleted some of it at the same time.
pub(crate) fn retain_deleted(pruned: &mut Vec<StoredItem>, deleted: &[Row]) {
    pruned.retain(|stored| deleted.iter().flatten().flatten().any(|name| *name == stored.name));
}

/// Returns the error after the alarm has rung: the store was too slow.
fn in_time(error: CentralError, alarm: &Alarm) -> CentralError {
    match error {
        CentralError::Connect(_)
        | CentralError::Statement(AdminError::Interrupted { .. } | AdminError::Lost { .. })
            if alarm.has_rung() =>
        {
            CentralError::Slow { seconds: alarm.limit().as_secs() }
        }
        error => error,
    }
}

/// Sends a file as rows of `parts`.
fn write_parts(
    copy: &mut CopyWriter<'_>,
    run: &RunName,
    file: &RunFile,
    directory: &Directory,
) -> Result<(), CentralError> {
    let path = &directory.path().join(file.path.as_path());
    let mut content = directory.open_file(&file.path).map_err(io_error("read", path))?;
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
        for field in [run.as_str().as_bytes(), file.path.as_str().as_bytes(), &part.to_be_bytes(), &bytes] {
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
        Value::String(text) if text.contains('\0') => *text = without_nul_text(text),
        Value::Array(values) => values.iter_mut().for_each(without_nul),
        Value::Object(members) => {
            members.values_mut().for_each(without_nul);
            if members.keys().any(|name| name.contains('\0')) {
                *members =
                    mem::take(members).into_iter().map(|(name, value)| (without_nul_text(&name), value)).collect();
            }
        }
        _ => {}
    }
}

fn without_nul_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jsonb_cannot_hold_is_replaced() {
        let mut value = serde_json::json!({ "a": ["x\0y", 1], "b": { "c\0": "\0" } });
        without_nul(&mut value);
        assert_eq!(value, serde_json::json!({ "a": ["x\u{fffd}y", 1], "b": { "c\u{fffd}": "\u{fffd}" } }));
    }
}
