//! Properties of a server that determine the queries of its statistics.

use pgdyno_net::AdminError;

use super::keyed_tables::{self, KeyedTable};
use super::session::Session;

/// Properties of the server and of the sampling role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerTraits {
    /// `server_version_num`.
    pub(super) version: u32,
    pub(super) role: String,
    /// Whether the role sees other sessions.
    pub(super) sees_all: bool,
    /// Settings for the timing of I/O that are off.
    pub(super) untimed: Vec<&'static str>,
    /// Whether Citus counts there.
    pub(super) has_citus_counters: bool,
    /// Number of users' tables in the database.
    pub(super) tables: u64,
    /// Statements that pg_stat_statements counts, if it is loaded: `top`, `all` or `none`.
    pub(super) statements_tracked: Option<String>,
    /// The schema of its views in the database, as in SQL.
    pub(super) statements_schema: Option<String>,
    /// The version of its extension there.
    pub(super) statements_version: Option<String>,
    /// Time of its start, in the form of [`crate::ServerIdentity`].
    pub(super) started: String,
    /// The `application_name` of the clients' sessions.
    pub(super) clients: Option<String>,
    /// The workload's tables whose rows can be named.
    pub(super) keyed: Vec<KeyedTable>,
}

const SQL: &str = "SELECT current_setting('server_version_num'), current_user, \
     pg_has_role('pg_read_all_stats', 'USAGE'), current_setting('track_io_timing'), \
     current_setting('track_wal_io_timing', true), to_regclass('citus_stat_counters') IS NOT NULL, \
     (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind IN ('r', 'm', 't') \
       AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_toast'), \
     current_setting('pg_stat_statements.track', true), \
     (SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
       WHERE extname = 'pg_stat_statements'), \
     (SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'), \
     to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')";

impl ServerTraits {
    /// Looks at the server, and at the keys of the workload's `tables`.
    pub(super) fn look(session: &mut Session, tables: &[String]) -> Result<Option<Self>, AdminError> {
        let Some(row) = session.ask(SQL)?.and_then(|rows| rows.into_iter().next()) else { return Ok(None) };
        let keyed = keyed_tables::keyed(session, tables)?;
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        let text = Option::unwrap_or_default;
        let is_true = |cell: Option<String>| cell.is_some_and(|cell| cell == "t");
        let number = |cell: Option<String>| cell.and_then(|cell| cell.parse().ok()).unwrap_or_default();
        let version = next().and_then(|version| version.parse().ok()).unwrap_or_default();
        let (role, sees_all) = (text(next()), is_true(next()));
        // PostgreSQL 13 lacks the second one.
        let timed = [("track_io_timing", next()), ("track_wal_io_timing", next())];
        let off = |(name, value): (&'static str, Option<String>)| value.filter(|value| value == "off").map(|_| name);
        Ok(Some(Self {
            version,
            role,
            sees_all,
            untimed: timed.into_iter().filter_map(off).collect(),
            has_citus_counters: is_true(next()),
            tables: number(next()),
            statements_tracked: next(),
            statements_schema: next(),
            statements_version: next(),
            started: text(next()),
            clients: session.clients().map(str::to_owned),
            keyed,
        }))
    }

    /// Returns true if it is this major version or a newer one.
    pub(super) fn is_at_least(&self, major: u32) -> bool {
        self.version >= major * 10_000
    }
}
