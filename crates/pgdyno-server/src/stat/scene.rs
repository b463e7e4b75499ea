//! What decides how a server's statistics are asked for.

use pgdyno_net::AdminError;

use super::session::Session;

/// What is known of the server and of the role that looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scene {
    /// `server_version_num`.
    pub(super) version: u32,
    pub(super) role: String,
    /// Whether the role sees the sessions of others.
    pub(super) sees_all: bool,
    pub(super) in_recovery: bool,
    /// Whether it measures how long reading and writing takes.
    pub(super) times_io: bool,
    /// Whether Citus counts there.
    pub(super) has_citus_counters: bool,
    /// Tables of users in the database.
    pub(super) tables: u64,
    /// When it was started, as it writes it.
    pub(super) started: String,
}

const SQL: &str = "SELECT current_setting('server_version_num'), current_user, \
     pg_has_role('pg_read_all_stats', 'USAGE'), pg_is_in_recovery(), current_setting('track_io_timing'), \
     to_regclass('citus_stat_counters') IS NOT NULL, \
     (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'm') AND relnamespace >= 16384 \
       OR relkind = 'r' AND relnamespace = 'public'::regnamespace), pg_postmaster_start_time()::text";

impl Scene {
    pub(super) fn look(session: &mut Session) -> Result<Option<Self>, AdminError> {
        let Some(row) = session.ask(SQL)?.and_then(|rows| rows.into_iter().next()) else { return Ok(None) };
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || cells.next().unwrap_or_default();
        Ok(Some(Self {
            version: next().parse().unwrap_or_default(),
            role: next(),
            sees_all: next() == "t",
            in_recovery: next() == "t",
            times_io: next() == "on",
            has_citus_counters: next() == "t",
            tables: next().parse().unwrap_or_default(),
            started: next(),
        }))
    }

    /// Whether it is this major version or a newer one.
    pub(super) fn is_at_least(&self, major: u32) -> bool {
        self.version >= major * 10_000
    }
}
