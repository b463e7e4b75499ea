//! Abilities and configuration of a running server. Only reads; skips what a managed service forbids.

use std::collections::BTreeMap;

use pgdyno_net::{Admin, AdminError, ConnectOptions, TextRows};
use pgdyno_workload::{Capabilities, Pooling};
use serde::{Deserialize, Serialize};

use crate::facts::ask::{ask, ask_all, first};
use crate::facts::cluster::{self, cluster};
use crate::facts::pooler::pooling;
use crate::facts::read_only::{self, read_only};

/// Facts of a server for the record of a run. Unknown ones are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// Result of `version()`.
    pub version: String,
    /// `server_version_num`: 150018.
    pub server_version_num: u32,
    /// Its build, if known: only superusers may ask.
    pub build: Option<Build>,
    /// Settings that matter for speed, and all that differ from their default. Settings that could hold a secret are
    /// not included.
    pub settings: BTreeMap<String, EffectiveSetting>,
    /// Whether it is a standby.
    pub in_recovery: Option<bool>,
    /// Whether it is reached by a socket or a loopback address: client and server share a machine.
    pub is_local: bool,
    /// Encryption of this connection; `None` without it, or if unknown.
    pub tls: Option<Tls>,
    /// Extensions of the database, with their versions.
    pub extensions: BTreeMap<String, String>,
    /// Number of standbys that a commit waits for.
    pub synchronous_standbys: Option<u32>,
    /// The database.
    pub database: Option<String>,
    /// Its size, in bytes.
    pub database_bytes: Option<u64>,
    /// Its encoding.
    pub encoding: Option<String>,
    /// Its collation, which determines the cost of an index on text.
    pub collation: Option<String>,
}

/// A build of PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The directory of its programs.
    pub bindir: String,
    /// The options of `configure`, as `pg_config --configure` prints them.
    pub configure: String,
}

/// A setting in effect for this connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectiveSetting {
    /// Its value, with its unit.
    pub value: String,
    /// Its source: `default`, `configuration file`, `database`, `client` …
    pub source: String,
    /// Whether it has another value than the one that PostgreSQL is built with.
    pub differs: bool,
}

/// An encrypted connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// `TLSv1.3`.
    pub version: String,
    /// The cipher suite.
    pub cipher: String,
}

/// Settings that are recorded even at their defaults.
const NOTABLE: &str = "'autovacuum', 'autovacuum_max_workers', 'autovacuum_naptime', 'autovacuum_vacuum_cost_delay', \
     'autovacuum_vacuum_cost_limit', 'autovacuum_vacuum_max_threshold', 'autovacuum_vacuum_scale_factor', \
     'autovacuum_vacuum_threshold', 'bgwriter_delay', 'bgwriter_lru_maxpages', 'checkpoint_completion_target', \
     'checkpoint_timeout', 'data_checksums', 'default_transaction_isolation', 'effective_cache_size', 'fsync', \
     'full_page_writes', 'hash_mem_multiplier', 'huge_pages', 'huge_pages_status', 'idle_in_transaction_session_timeout', 'io_method', 'jit', \
     'jit_above_cost', 'maintenance_work_mem', 'max_connections', 'max_locks_per_transaction', 'max_parallel_maintenance_workers', 'max_parallel_workers', \
     'max_parallel_workers_per_gather', 'max_wal_size', 'max_worker_processes', 'multixact_member_buffers', \
     'multixact_offset_buffers', 'random_page_cost', 'reserved_connections', 'shared_buffers', \
     'shared_preload_libraries', 'ssl', 'subtransaction_buffers', 'superuser_reserved_connections', \
     'synchronous_commit', 'synchronous_standby_names', 'vacuum_cost_limit', 'wal_buffers', 'wal_compression', \
     'wal_level', 'wal_sync_method', 'work_mem'";

/// Parts of the names of settings that may hold a secret: connection strings, commands, keys.
const SECRET_NAMES: [&str; 9] =
    ["conninfo", "command", "passphrase", "passwd", "password", "secret", "token", "credential", "key"];

const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";

/// Returns the abilities of the server that `admin` is connected to by `options`, and of the connection.
///
/// # Errors
/// When the connection is lost, or the server does not return its version.
pub fn capabilities(admin: &mut Admin, options: &ConnectOptions) -> Result<Capabilities, AdminError> {
    let found = capabilities_through(admin, None)?;
    Ok(Capabilities { pooling: pooling(admin, options)?, ..found })
}

/// Returns the same where the pooling mode of the connection is known, which takes further connections to find out.
///
/// # Errors
/// See [`capabilities`].
pub fn capabilities_through(admin: &mut Admin, pooling: Option<Pooling>) -> Result<Capabilities, AdminError> {
    let server_version_num = server_version_num(admin)?;
    let [extension, standby, shown] = admin.promptly("whether it takes writes", |admin| {
        ask_all(admin, [cluster::EXTENSION, IS_STANDBY, read_only::SHOWN])
    })?;
    let cluster = cluster(admin, first(extension))?;
    let standby = first(standby).is_some_and(|value| value == "t");
    let read_only = admin.promptly("whether it takes writes", |admin| read_only(admin, first(shown)))?;
    Ok(Capabilities { server_version_num, distributed_tables: cluster.is_some(), cluster, standby, read_only, pooling })
}

/// Returns true if the server is a standby; `None` if unknown.
///
/// # Errors
/// Only when the connection is lost.
pub fn is_standby(admin: &mut Admin) -> Result<Option<bool>, AdminError> {
    let answer = admin.promptly("whether it is a standby", |admin| ask(admin, IS_STANDBY))?;
    Ok(first(answer).map(|value| value == "t"))
}

fn server_version_num(admin: &mut Admin) -> Result<u32, AdminError> {
    match admin.parameters().server_version_num() {
        Some(number) => Ok(number),
        None => {
            let sql = "SELECT current_setting('server_version_num')";
            Ok(admin.promptly("its version", |admin| admin.query_one(sql))?.parse().unwrap_or_default())
        }
    }
}

/// Asks for the size of the database, for at most 10 s: that of many files on a slow disk is left out.
pub const DATABASE_BYTES: &str = "SET LOCAL statement_timeout = '10s'; SELECT pg_database_size(current_database())";

/// Reads the facts of the server that `admin` is connected to by `options`.
///
/// # Errors
/// Only when the connection is lost.
pub fn facts(admin: &mut Admin, options: &ConnectOptions) -> Result<ServerFacts, AdminError> {
    let mut facts = admin.promptly("its version and settings", read)?;
    facts.is_local = options.is_local();
    facts.database_bytes = first(ask(admin, DATABASE_BYTES)?).and_then(|n| n.parse().ok());
    Ok(facts)
}

/// Reads the quick facts.
fn read(admin: &mut Admin) -> Result<ServerFacts, AdminError> {
    let mut facts = ServerFacts { server_version_num: server_version_num(admin)?, ..ServerFacts::default() };
    facts.build = build(admin)?;
    let [version, settings, in_recovery, tls, extensions, standbys, about] = ask_all(
        admin,
        [
            "SELECT version()",
            &format!(
                "SELECT name, current_setting(name, true), source, vartype, setting IS DISTINCT FROM boot_val FROM pg_settings \
                 WHERE source <> 'default' OR name IN ({NOTABLE})"
            ),
            IS_STANDBY,
            "SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl",
            "SELECT extname, extversion FROM pg_extension",
            "SELECT CASE WHEN count(*) = count(sync_state) \
             THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END FROM pg_stat_replication",
            "SELECT datname, pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = current_database()",
        ],
    )?;
    facts.version = first(version).unwrap_or_default();
    facts.settings = settings.map(settings_of).unwrap_or_default();
    facts.in_recovery = first(in_recovery).map(|value| value == "t");
    facts.tls = tls.and_then(|rows| {
        let mut row = rows.rows.into_iter().next()?.into_iter();
        Some(Tls { version: row.next()??, cipher: row.next()?? })
    });
    facts.extensions = extensions.map(|rows| rows.rows.into_iter().filter_map(pair).collect()).unwrap_or_default();
    // A role without the right sees NULL as the state of replication: then the number is unknown.
    facts.synchronous_standbys = first(standbys).and_then(|n| n.parse().ok());
    if let Some(row) = about.and_then(|rows| rows.rows.into_iter().next()) {
        let mut row = row.into_iter();
        facts.database = row.next().flatten();
        facts.encoding = row.next().flatten();
        facts.collation = row.next().flatten();
    }
    Ok(facts)
}

/// Queries the server itself: the program `pg_config` may be missing, or belong to another installation.
fn build(admin: &mut Admin) -> Result<Option<Build>, AdminError> {
    let sql = "SELECT name, setting FROM pg_config WHERE name IN ('BINDIR', 'CONFIGURE')";
    let Some(rows) = ask(admin, sql)? else { return Ok(None) };
    let mut reported: BTreeMap<_, _> = rows.rows.into_iter().filter_map(pair).collect();
    let bindir = reported.remove("BINDIR");
    Ok(bindir.map(|bindir| Build { bindir, configure: reported.remove("CONFIGURE").unwrap_or_default() }))
}

fn settings_of(rows: TextRows) -> BTreeMap<String, EffectiveSetting> {
    rows.rows
        .into_iter()
        .filter_map(|row| {
            let [name, value, source, kind, differs] = <[Option<String>; 5]>::try_from(row).ok()?;
            let (name, value, kind) = (name?, value?, kind?);
            let (source, differs) = (source?, differs.as_deref() == Some("t"));
            (!may_hold_secret(&name, &value, &kind)).then_some((name, EffectiveSetting { value, source, differs }))
        })
        .collect()
}

/// Returns true if a setting may hold a secret. `kind` is its `vartype` in `pg_settings`.
fn may_hold_secret(name: &str, value: &str, kind: &str) -> bool {
    if kind != "string" {
        return false;
    }
    let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
    // Applications store anything in settings with a dot in their name.
    name.contains('.')
        || SECRET_NAMES.iter().any(|part| name.contains(part))
        || value.contains("password")
        || (value.contains("://") && value.contains('@'))
}

fn pair(row: Vec<Option<String>>) -> Option<(String, String)> {
    let mut row = row.into_iter();
    Some((row.next()??, row.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_and_the_rest_is_not() {
        for (name, value) in [
            ("primary_conninfo", "host=x"),
            ("ssl_passphrase_command", "cat /p"),
            ("archive_command", "aws --secret …"),
            ("app.jwt", "abc"),
            ("vendor_url", "https://me:pw@host/"),
            ("vendor_options", "user=x Password=y"),
        ] {
            assert!(may_hold_secret(name, value, "string"), "{name}");
        }
        for (name, value, kind) in [
            ("shared_buffers", "1GB", "integer"),
            ("password_encryption", "scram-sha-256", "enum"),
            ("pg_stat_statements.track", "top", "enum"),
            ("synchronous_standby_names", "s1", "string"),
            ("tcp_keepalives_idle", "10", "integer"),
            ("shared_preload_libraries", "pg_stat_statements", "string"),
        ] {
            assert!(!may_hold_secret(name, value, kind), "{name}");
        }
    }
}
