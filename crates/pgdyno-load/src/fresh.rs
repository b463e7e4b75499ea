//! A fresh copy of a database for one run, dropped after it.
//!
//! The name is the mark: it ends in a checksum of the rest, so that no other database is mistaken for a copy, and it
//! exists from the first moment, when a comment could not. While a copy is in use, a session holds an advisory lock
//! for it. A copy without that lock was left by a pgdyno that was killed.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, Halt, Stop, quote};
use pgdyno_wire::SqlState;
use sha2::{Digest as _, Sha256};

use crate::session::lift_limits;

const PREFIX: &str = "pgdyno_copy_";

/// Time for sessions to end after a request, if the server cannot terminate them by itself.
const ENDING: Duration = Duration::from_secs(10);
/// Time limit of dropping a copy, which nothing interrupts: the server writes a checkpoint first.
const DROPPING: Duration = Duration::from_secs(600);

/// The error when a copy could not be made or dropped.
#[derive(Debug, thiserror::Error)]
pub enum FreshError {
    /// A connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// There is no such database.
    #[error("there is no database {template} to copy")]
    Absent {
        /// The database to copy.
        template: String,
    },
    /// The copy failed.
    #[error("failed to copy database {template}: {source}{}", remedy(.source))]
    Copy {
        /// The database to copy.
        template: String,
        /// The server's message.
        source: AdminError,
    },
    /// The drop failed.
    #[error(
        "failed to drop {copy}, the copy that was made for this run: {source}; the next run with --from-template drops it"
    )]
    Drop {
        /// The copy.
        copy: String,
        /// The server's message.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An end was requested.
    #[error("interrupted while database {template} was copied; {}", left_of(.left))]
    Interrupted {
        /// The database to copy.
        template: String,
        /// Why the copy may still be there.
        left: Option<String>,
    },
}

fn remedy(error: &AdminError) -> &'static str {
    match error.code().as_ref().map(SqlState::as_str) {
        Some("55006") => {
            "; end the sessions that use it: a database can be copied only while nobody is connected to it"
        }
        Some("42501") => "; the role needs CREATEDB, and must own the database or be a superuser",
        _ => "",
    }
}

fn left_of(left: &Option<String>) -> String {
    match left {
        None => "nothing of the copy is left".to_owned(),
        Some(why) => format!("the next run removes what is left of the copy: {why}"),
    }
}

/// A database to copy, and a way to the server during the copy: not through this database.
#[derive(Debug)]
pub struct TemplateDatabase {
    name: String,
    beside: ConnectOptions,
    admits: bool,
    bytes: Option<u64>,
}

impl TemplateDatabase {
    /// Finds database `name` on the server of `options`. Copies are made from the database of `options` or, if that
    /// is the template or does not exist, from `postgres` or `template1`, as `createdb` does.
    ///
    /// # Errors
    /// When the server cannot be reached or has no such database.
    pub fn find(options: &ConnectOptions, name: &str) -> Result<Self, FreshError> {
        let (mut admin, beside) = connect_beside(options, name)?;
        // Only those who may connect to a database may ask for its size.
        let sql = format!(
            "select datallowconn::text || ' ' || coalesce((case when has_database_privilege(oid, 'connect') then \
             pg_database_size(oid) end)::text, '') from pg_catalog.pg_database where datname = {}",
            quote::literal(name)
        );
        let copying = |source| FreshError::Copy { template: name.to_owned(), source };
        let answer = admin.promptly("which databases it has", |admin| admin.query_opt(&sql));
        match answer.map_err(copying)? {
            Some(answer) => {
                let (admits, bytes) = answer.split_once(' ').unwrap_or((&answer, ""));
                Ok(Self { name: name.to_owned(), beside, admits: admits == "true", bytes: bytes.parse().ok() })
            }
            None => Err(FreshError::Absent { template: name.to_owned() }),
        }
    }

    /// Replaces the way to the server.
    #[must_use]
    pub fn reached(self, way: impl FnOnce(&ConnectOptions) -> ConnectOptions) -> Self {
        Self { beside: way(&self.beside), ..self }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its size, which a copy has, too, unless the file system can share its blocks; `None` if the role may not
    /// know it.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Returns how to connect to it; `None` if it allows no connections (`ALLOW_CONNECTIONS false`).
    #[must_use]
    pub fn options(&self) -> Option<ConnectOptions> {
        self.admits.then(|| self.beside.with_database(&self.name))
    }

    /// Returns how to connect to the server beside it.
    #[must_use]
    pub fn beside(&self) -> &ConnectOptions {
        &self.beside
    }
}

fn connect_beside(options: &ConnectOptions, template: &str) -> Result<(Admin, ConnectOptions), FreshError> {
    let own = options.dbname().to_owned();
    let mut ways: Vec<_> =
        [own.as_str(), "postgres", "template1"].into_iter().filter(|name| *name != template).collect();
    ways.dedup();
    let mut first = None;
    for way in ways {
        let beside = options.with_database(way);
        match Admin::connect(&beside) {
            Ok(admin) => return Ok((admin, beside)),
            Err(error) if error.code() == Some(SqlState::INVALID_CATALOG_NAME) => drop(first.get_or_insert(error)),
            Err(error) => return Err(error.into()),
        }
    }
    // At least two ways were tried, so that there is an error if all failed.
    Err(first.map_or_else(|| FreshError::Absent { template: template.to_owned() }, FreshError::Connect))
}

/// How the server copies the files of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// It reads and writes them.
    Files,
    /// The file system copies them, and shares their blocks if it can: PostgreSQL 18's `file_copy_method = clone`.
    Clone,
}

impl CopyMethod {
    /// Returns its name: the values of `file_copy_method`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "copy",
            Self::Clone => "clone",
        }
    }
}

/// Creates the copy from its files, not block by block through the WAL, which is PostgreSQL's own choice since version 15.
fn create(admin: &mut Admin, order: &str) -> Result<CopyMethod, AdminError> {
    let version = admin.parameters().server_version_num().unwrap_or_default();
    let order = if version >= 150_000 { format!("{order} strategy file_copy") } else { order.to_owned() };
    // Builds for systems that cannot clone files do not know this value.
    if version >= 180_000 && admin.execute("set file_copy_method = clone").is_ok() {
        match admin.execute(&order) {
            Ok(_) => return Ok(CopyMethod::Clone),
            // Class 58 is the operating system's refusal: this file system cannot clone.
            Err(error) if error.code().is_some_and(|code| code.as_str().starts_with("58")) => {}
            Err(error) => return Err(error),
        }
        admin.execute("set file_copy_method = copy")?;
    }
    admin.execute(&order).map(|_| CopyMethod::Files)
}

/// A copy. It is dropped with this value, or by [`Fresh::remove`].
pub struct Fresh {
    name: String,
    beside: ConnectOptions,
    /// Holds the lock.
    admin: Option<Admin>,
    /// Time of the copy, including the checkpoint after it.
    pub seconds: f64,
    /// Size of the copy, if known.
    pub bytes: Option<u64>,
    /// How the server copied it.
    pub method: CopyMethod,
    /// Copies that others left behind, in sentences: dropped, or why not.
    pub notes: Vec<String>,
}

impl Fresh {
    /// Drops copies that others left behind, and copies `template` for the run with this name; characters other than
    /// letters and digits become `_`. When `stop` is set the copy is cancelled.
    ///
    /// # Errors
    /// When the server fails to copy, or `stop` is set; no copy is left then.
    pub fn make(template: &TemplateDatabase, run: &str, stop: &Stop) -> Result<Self, FreshError> {
        let (name, beside) = (copy_name(run), template.beside.clone());
        let method = CopyMethod::Files;
        let mut fresh = Self { name, beside, admin: None, seconds: 0.0, bytes: None, method, notes: Vec::new() };
        let halt = Halt::new(stop);
        // Every wait here, for a lock or for a disk, ends with the `Stop`.
        let copied = halt.watched(|| fresh.copy(template, &halt));
        if !halt.is_set() {
            // The server has removed the rest of a failed copy; dropping this value removes what it did not.
            return copied.map(|()| fresh);
        }
        if let Some(admin) = &mut fresh.admin {
            // A late cancel request hits this statement, and no other.
            drop(admin.execute("select 1"));
        }
        // The copy may have ended before the request came.
        let left = fresh.remove().err().map(|error| error.to_string());
        Err(FreshError::Interrupted { template: template.name.clone(), left })
    }

    /// Does everything from the first connection to the checkpoint after the copy.
    fn copy(&mut self, template: &TemplateDatabase, halt: &Halt<'_>) -> Result<(), FreshError> {
        let failed = |source| FreshError::Copy { template: template.name.clone(), source };
        let mut admin = Admin::connect(&halt.options(&self.beside))?;
        halt.watch_over(admin.cancel_handle()).store(true, Ordering::Relaxed);
        lift_limits(&mut admin, false).map_err(failed)?;
        self.notes = sweep(&mut admin).map_err(failed)?;
        admin.query(&format!("select pg_advisory_lock({})", lock_key(&self.name))).map_err(failed)?;
        let began = Instant::now();
        let admin = self.admin.insert(admin);
        // A copy takes as long as the disk needs; `halt` ends it.
        admin.wait_without_limit();
        if halt.is_set() {
            return Ok(());
        }
        let (copy, template) = (quote::identifier(&self.name), quote::identifier(&template.name));
        let order = format!("create database {copy} template {template}");
        self.method = create(admin, &order).map_err(failed)?;
        // So that the run does not begin by writing out the copy. Without the right to it there is no checkpoint.
        drop(admin.execute("checkpoint"));
        let size = format!("select pg_database_size({})", quote::literal(&self.name));
        self.bytes = admin.query_opt(&size).ok().flatten().and_then(|n| n.parse().ok());
        self.seconds = began.elapsed().as_secs_f64();
        // The lock is held until the copy is dropped, whatever happens to the run.
        admin.wait_at_most(DROPPING);
        admin.set_interrupter(None).map_err(|_| FreshError::Interrupted { template, left: None })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how to connect to it.
    #[must_use]
    pub fn options(&self) -> ConnectOptions {
        self.beside.with_database(&self.name)
    }

    /// Drops it, with any connections to it.
    ///
    /// # Errors
    /// When the server is unreachable, or fails to drop it.
    pub fn remove(mut self) -> Result<(), FreshError> {
        self.drop_now()
    }

    fn drop_now(&mut self) -> Result<(), FreshError> {
        let Some(admin) = self.admin.take() else { return Ok(()) };
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| FreshError::Drop { copy: self.name.clone(), source };
        match drop_database(admin, &self.name) {
            // The server may have been restarted meanwhile.
            Err(error) if error.is_lost() => {
                let mut admin = Admin::connect(&self.beside).map_err(|e| failed(e.into()))?;
                admin.wait_at_most(DROPPING);
                drop_database(admin, &self.name).map_err(|e| failed(e.into()))
            }
            dropped => dropped.map_err(|e| failed(e.into())),
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // [`Fresh::remove`] reports errors.
        drop(self.drop_now());
    }
}

fn drop_database(mut admin: Admin, name: &str) -> Result<(), AdminError> {
    let version = admin.parameters().server_version_num().unwrap_or_default();
    let order = format!("drop database if exists {}", quote::identifier(name));
    if version >= 130_000 {
        return admin.execute(&format!("{order} with (force)")).map(drop);
    }
    let patience = Instant::now() + ENDING;
    loop {
        let sessions = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()";
        admin.execute(&format!("{sessions} and datname = {}", quote::literal(name)))?;
        match admin.execute(&order) {
            Err(error) if !error.is_lost() && Instant::now() < patience => {
                std::thread::sleep(Duration::from_millis(100))
            }
            dropped => return dropped.map(drop),
        }
    }
}

/// Drops copies without a lock. Returns what happened to them, in sentences.
fn sweep(admin: &mut Admin) -> Result<Vec<String>, AdminError> {
    let rows = admin.query(&format!(
        "select datname from pg_catalog.pg_database d where datname like '{}%' order by 1",
        PREFIX.replace('_', "\\_")
    ))?;
    let names = rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    let mut notes = Vec::new();
    for name in names.filter(|name| is_copy_name(name)) {
        // Of two processes that find it at the same time one drops it. Its own run holds the lock before the copy
        // exists.
        let free = admin.query_one(&format!(
            "select not exists (select from pg_catalog.pg_locks where locktype = 'advisory' and objsubid = 2 \
             and (classid, objid) = (select (a::bigint & 4294967295)::oid, (b::bigint & 4294967295)::oid \
             from (select {}) as key (a, b)))",
            lock_key(&name)
        ))?;
        if free != "t" {
            continue;
        }
        // A copy with connections is kept.
        match admin.execute(&format!("drop database if exists {}", quote::identifier(&name))) {
            Ok(_) => notes.push(format!("dropped {name}, a copy that a run left behind")),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => notes.push(format!("{name}, a copy that a run left behind, is still there: {error}")),
        }
    }
    Ok(notes)
}

/// Returns the two numbers of the advisory lock, as SQL.
fn lock_key(name: &str) -> String {
    format!("hashtext('pgdyno copy'), hashtext({})", quote::literal(name))
}

fn copy_name(run: &str) -> String {
    let word: String =
        run.to_ascii_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // Names in PostgreSQL have at most 63 bytes.
    let word = word.get(..40).unwrap_or(&word);
    format!("{PREFIX}{word}_{}", checksum(word))
}

/// Returns true if a database has the name of a copy that pgdyno makes.
#[must_use]
pub fn is_copy_name(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('_'));
    parts.is_some_and(|(word, sum)| checksum(word) == sum)
}

fn checksum(word: &str) -> String {
    pgdyno_text::hex(&Sha256::digest(format!("a copy that pgdyno made: {word}"))[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_the_right_checksum_are_copies() {
        let name = copy_name("20261122T010203Z-sensor-1-ab12cd");
        assert!(name.starts_with("pgdyno_copy_20261122t010203z_sensor_1_ab12cd_"), "{name}");
        assert!(is_copy_name(&name) && name.len() <= 63);
        assert!(copy_name(&"x".repeat(200)).len() <= 63 && is_copy_name(&copy_name(&"x".repeat(200))));
        for other in
            ["pgdyno_copy_mine", "pgdyno_copy_", "pgdyno", &name[1..], &format!("{name}0"), &name.replace('1', "2")]
        {
            assert!(!is_copy_name(other), "{other}");
        }
    }
}
