//! The server: whether it counts statements and shows them, what it is, and its settings.

use pgdyno_net::quote;

use super::TakeError;
use super::session::{MARK, Session, is_true, number, text};
use crate::form::{CapturedServer, CapturedSetting, DatabaseActivity};

/// What decides how the counters are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) server: CapturedServer,
    /// The time of the server, in UTC.
    pub(super) now: String,
    /// The view `pg_stat_statements`, as in SQL.
    pub(super) view: String,
    /// Its columns.
    pub(super) columns: Vec<String>,
    /// Whether there is a view `pg_stat_statements_info`: from version 1.9 of the extension on.
    pub(super) has_info: bool,
    role: String,
    sees_all: bool,
    max: String,
}

/// The time of its start, in UTC.
pub(crate) const STARTED: &str =
    "to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";

impl Facts {
    pub(super) fn read(session: &mut Session) -> Result<Self, TakeError> {
        let sql = format!(
            "SELECT {MARK} current_setting('server_version'), current_setting('server_version_num'), current_database(), \
             {STARTED}, pg_is_in_recovery(), current_setting('pg_stat_statements.track', true), current_user, \
             pg_has_role('pg_read_all_stats', 'USAGE'), current_setting('pg_stat_statements.max', true), \
             to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), \
             (SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'), \
             (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
               WHERE extname = 'pg_stat_statements'), \
             current_setting('compute_query_id', true), \
             EXISTS (SELECT FROM pg_extension e JOIN pg_class c ON c.relnamespace = e.extnamespace \
               WHERE extname = 'pg_stat_statements' AND relname = 'pg_stat_statements_info')"
        );
        let rows = session.ask("find out what the server counts", &sql)?;
        let row = rows.first().map(Vec::as_slice).unwrap_or_default();
        let cell = |at: usize| row.get(at);
        let is_set = |at: usize| row.get(at).is_some_and(Option::is_some);
        let database = text(cell(2));
        admit_counting(is_set(5), &text(cell(5)), is_set(11), &database, &text(cell(12)))?;
        let system = format!("SELECT {MARK} system_identifier FROM pg_control_system()");
        let system = session.ask_or_none("read the system identifier", &system)?;
        let view = format!("{}.pg_stat_statements", text(cell(11)));
        let server = CapturedServer {
            version: text(cell(0)),
            version_num: number(cell(1)) as u32,
            database,
            system_identifier: system.and_then(|rows| rows.into_iter().next()?.into_iter().next()?),
            started_at: text(cell(3)),
            standby: is_true(cell(4)),
            extension_version: text(cell(10)),
            track: text(cell(5)),
        };
        let columns = format!(
            "SELECT {MARK} attname FROM pg_attribute WHERE attrelid = {}::regclass AND attnum > 0 AND NOT attisdropped",
            quote::literal(&view)
        );
        let columns = session.ask("read the columns of pg_stat_statements", &columns)?;
        Ok(Self {
            server,
            now: text(cell(9)),
            view,
            columns: columns.into_iter().filter_map(|row| row.into_iter().next()?).collect(),
            has_info: is_true(cell(13)),
            role: text(cell(6)),
            sees_all: is_true(cell(7)),
            max: text(cell(8)),
        })
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    /// Refuses a server that hides the texts of others, in the words of the grant that shows them.
    pub(super) fn admit_texts(&self, are_hidden: bool) -> Result<(), TakeError> {
        if self.sees_all || !are_hidden {
            return Ok(());
        }
        Err(TakeError::Uncounted {
            why: format!("{} may not read the statements of other roles", self.role),
            remedy: format!(
                "as a superuser, or as the administrator of a managed service: GRANT pg_read_all_stats TO {}",
                quote::identifier(&self.role)
            ),
        })
    }

    /// Returns what the server does not count, or counts twice.
    pub(super) fn warnings(&self) -> Vec<String> {
        let CapturedServer { track, extension_version: version, version_num, .. } = &self.server;
        let mut warnings = Vec::new();
        if track == "all" && self.has("toplevel") {
            warnings.push(
                "pg_stat_statements.track is all: statements within functions are left out, the calls of the functions have their time"
                    .to_owned(),
            );
        } else if track == "all" {
            let update = if *version_num < 140_000 { "" } else { ", or ALTER EXTENSION pg_stat_statements UPDATE" };
            warnings.push(format!(
                "pg_stat_statements.track is all, and version {version} of the extension does not mark statements within functions: they \
                 are captured as if clients executed them, and their time is in the calls of the functions, too; set it to top{update}"
            ));
        }
        if !self.has("total_exec_time") {
            warnings.push(format!(
                "version {version} of the extension is older than the server: it counts no WAL; ALTER EXTENSION pg_stat_statements UPDATE"
            ));
        }
        warnings
    }

    /// Returns the most statements that the server counts.
    pub(super) fn max(&self) -> &str {
        &self.max
    }
}

/// Where settings are that no role may change.
const MANAGED: &str = " (on a managed service among its parameters or flags)";

/// Refuses a server that counts no statements.
fn admit_counting(
    is_loaded: bool,
    track: &str,
    is_created: bool,
    database: &str,
    query_id: &str,
) -> Result<(), TakeError> {
    let (why, remedy) = if !is_loaded {
        let why = "the server does not count statements: pg_stat_statements is not loaded";
        let create = if is_created { "" } else { ", then execute CREATE EXTENSION pg_stat_statements" };
        (why, format!("set shared_preload_libraries = 'pg_stat_statements'{MANAGED} and restart the server{create}"))
    } else if !is_created {
        let why = "the database does not have the extension pg_stat_statements";
        (why, format!("execute CREATE EXTENSION pg_stat_statements in {}", quote::identifier(database)))
    } else if track == "none" {
        let why = "the server does not count statements: pg_stat_statements.track is none";
        (why, format!("ALTER SYSTEM SET pg_stat_statements.track = top; SELECT pg_reload_conf(){MANAGED}"))
    } else if query_id == "off" {
        let why = "the server does not count statements: compute_query_id is off";
        (why, format!("ALTER SYSTEM SET compute_query_id = auto; SELECT pg_reload_conf(){MANAGED}"))
    } else {
        return Ok(());
    };
    Err(TakeError::Uncounted { why: why.to_owned(), remedy })
}

/// Refuses counters of two servers, or of a server that was started again in between.
pub(super) fn admit_same(session: &mut Session, facts: &Facts) -> Result<(), TakeError> {
    let rows = session.ask("find out whether it is the same server", &format!("SELECT {MARK} {STARTED}"))?;
    let started = text(rows.first().and_then(|row| row.first()));
    if started == facts.server.started_at {
        return Ok(());
    }
    Err(TakeError::Broken {
        why: format!(
            "the counters at both ends are of two servers, or of one that was started again: started at {} and at {started}",
            facts.server.started_at
        ),
        remedy: "name one server, not a balancer, and take the capture again".to_owned(),
    })
}

/// Returns the counters of the database since they were reset.
pub(super) fn database(session: &mut Session) -> Result<DatabaseActivity, TakeError> {
    let sql = format!(
        "SELECT {MARK} xact_commit, xact_rollback, temp_bytes, deadlocks FROM pg_stat_database \
         WHERE datname = current_database()"
    );
    let rows = session.ask("read the counters of the database", &sql)?;
    let row = rows.first().map(Vec::as_slice).unwrap_or_default();
    Ok(DatabaseActivity {
        committed: number(row.first()),
        rolled_back: number(row.get(1)),
        temp_bytes: number(row.get(2)),
        deadlocks: number(row.get(3)),
        bytes: None,
    })
}

/// Returns the size of the database in bytes; `None` if the role may not read it.
pub(super) fn size(session: &mut Session) -> Result<Option<f64>, TakeError> {
    let sql = format!("SELECT {MARK} pg_database_size(current_database())");
    let rows = session.ask_or_none("measure the database", &sql)?;
    Ok(rows.and_then(|rows| rows.first()?.first()?.as_ref()?.parse().ok()))
}

impl DatabaseActivity {
    /// Returns what was counted since. Counters that were reset in between are left at what they count now.
    pub(super) fn since(&self, before: &Self) -> Self {
        let grown = |now: f64, then: f64| if now >= then { now - then } else { now };
        Self {
            committed: grown(self.committed, before.committed),
            rolled_back: grown(self.rolled_back, before.rolled_back),
            temp_bytes: grown(self.temp_bytes, before.temp_bytes),
            deadlocks: grown(self.deadlocks, before.deadlocks),
            bytes: self.bytes,
        }
    }
}

/// Returns the settings that are not the defaults. Texts may be secrets or names of the user's: only `search_path` is kept of them.
pub(super) fn settings(session: &mut Session) -> Result<Vec<CapturedSetting>, TakeError> {
    let sql = format!(
        "SELECT {MARK} name, current_setting(name) FROM pg_settings \
         WHERE name = 'search_path' OR vartype <> 'string' AND source NOT IN ('default', 'override', 'client', 'session') \
         ORDER BY name"
    );
    let rows = session.ask("read the settings", &sql)?;
    let setting = |row: Vec<Option<String>>| CapturedSetting { name: text(row.first()), value: text(row.get(1)) };
    Ok(rows.into_iter().map(setting).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_old_extension_does_not_count_is_a_warning() {
        let of = |track: &str, version_num, columns: &[&str]| {
            let server = CapturedServer {
                track: track.to_owned(),
                extension_version: "1.x".to_owned(),
                version_num,
                ..CapturedServer::default()
            };
            let columns = columns.iter().map(|name| (*name).to_owned()).collect();
            Facts { server, columns, ..Facts::default() }.warnings().join("\n")
        };
        let columns = ["toplevel", "total_exec_time", "total_time"];
        assert_eq!(of("top", 180_000, &columns[..2]), "");
        assert!(of("all", 180_000, &columns[..2]).contains("statements within functions are left out"));
        // PostgreSQL 13, and a later server whose extension was not updated.
        let counted_twice = [130_000, 180_000].map(|version_num| of("all", version_num, &columns[1..2]));
        assert!(counted_twice.iter().all(|why| why.contains("in the calls of the functions, too; set it to top")));
        assert_eq!(counted_twice.map(|why| why.contains("ALTER EXTENSION")), [false, true]);
        assert!(of("top", 180_000, &columns[2..]).contains("counts no WAL; ALTER EXTENSION"));
    }

    #[test]
    fn a_server_that_counts_no_statements_is_refused_with_the_remedy() {
        let of = |loaded, track, created, query_id| {
            let error = admit_counting(loaded, track, created, "shop", query_id).unwrap_err();
            (error.to_string(), error.remedy().unwrap())
        };
        let (why, remedy) = of(false, "", false, "auto");
        assert!(
            why.contains("is not loaded") && remedy.contains("shared_preload_libraries") && remedy.contains("CREATE")
        );
        assert!(!of(false, "", true, "auto").1.contains("CREATE"));
        assert!(of(true, "top", false, "auto").1.contains("in \"shop\""));
        assert!(of(true, "none", true, "auto").1.contains("track = top"));
        assert!(of(true, "top", true, "off").1.contains("compute_query_id"));
        assert!(admit_counting(true, "all", true, "shop", "").is_ok());
    }
}
