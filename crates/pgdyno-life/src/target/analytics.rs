//! The server of queries, where it is another one than that of the transactions: a standby of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Stop};
use pgdyno_plan::Plan;
use pgdyno_results::AnalyticsServerRecord;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::record::figures;
use crate::target::room::{self, Watchers};

/// How long a standby may take to replay what the primary has when the clients are about to begin.
pub(super) const REPLAYING: Duration = Duration::from_secs(120);
/// The row of a marker that no client writes.
const PROOF: i32 = -1;
/// Time between two looks at it.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Settings of the standby that decide between old answers and cancelled queries.
const OF_STANDBY: [&str; 3] = ["max_standby_streaming_delay", "hot_standby_feedback", "recovery_min_apply_delay"];
/// Settings of the primary that decide what a commit waits for.
const OF_PRIMARY: [&str; 2] = ["synchronous_commit", "synchronous_standby_names"];

/// The kinds of conflicts between queries and replay.
const CONFLICTS: [&str; 5] = ["snapshot", "lock", "bufferpin", "deadlock", "tablespace"];

/// The other server of a run's queries.
pub(crate) struct AnalyticsServer {
    /// Its name in messages.
    name: String,
    /// How streams connect to it, without their settings.
    pub(crate) options: ConnectOptions,
    /// Whether transactions write markers: then it must be a standby of the primary.
    markers: bool,
    conflicts_before: BTreeMap<String, u64>,
}

impl AnalyticsServer {
    /// Connects, and refuses a server that cannot have the same data. `primary` is the server of the transactions.
    ///
    /// # Errors
    /// When it cannot be reached, has no room for the streams, or is no standby of the primary. Without `markers` it may be
    /// any server with the data.
    pub(crate) fn admit(
        name: String,
        options: ConnectOptions,
        primary: &mut Admin,
        streams: u32,
        markers: bool,
    ) -> Result<Self> {
        let mut standby = Admin::connect(&options).or_fail(Code::Start)?;
        let prefixed = |failure: CommandError| {
            CommandError::new(failure.code(), format!("{name}, the server of the queries: {}", failure.text()))
        };
        room::admit(&mut standby, streams, Watchers { counters: false, samples: false }).map_err(prefixed)?;
        if markers {
            let [theirs, ours] = [&mut standby, primary].map(identity).map(|found| found.or_fail(Code::Start));
            if let Some(error) = unlike(&name, &theirs?, &ours?) {
                return Err(CommandError::new(Code::Start, error).hint(
                    "name a hot standby of --target in --analytics-target; -D markers=false also takes another server with \
                     the same tables, and measures no ages",
                ));
            }
        }
        Ok(Self { name, options, markers, conflicts_before: BTreeMap::new() })
    }

    /// Uses the database of the run, which has another name if it is a copy.
    pub(crate) fn use_database(&mut self, plan: &Plan, target: &ConnectOptions) {
        if plan.from_template.is_some() {
            self.options = self.options.with_database(target.dbname());
        }
    }

    /// Connects as soon as the database is there: a copy of one arrives by replay.
    fn connect(&self, stop: &Stop) -> Result<Admin> {
        let until = Instant::now() + REPLAYING;
        loop {
            match Admin::connect(&self.options) {
                Err(_) if !stop.is_requested() && Instant::now() < until => std::thread::sleep(PAUSE),
                connected => return connected.or_fail(Code::Start),
            }
        }
    }

    /// Waits until it has replayed what the primary has now, which proves that it is a standby of it.
    ///
    /// # Errors
    /// When that takes too long, or the connection is lost.
    pub(crate) fn await_replay(&mut self, primary: &mut Admin, stop: &Stop) -> Result<()> {
        let mut standby = self.connect(stop)?;
        self.conflicts_before = conflicts(&mut standby).or_fail(Code::Start)?;
        if !self.markers {
            return Ok(());
        }
        // A value that only this primary has proves more than its position: servers copied from one have one identifier.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).or_fail(Code::Start)?;
        let proof = now.as_nanos() as i64;
        let write = format!(
            "insert into ch_markers (client, number) values ({PROOF}, {proof}) on conflict (client) do update set number = \
             excluded.number"
        );
        primary.execute(&write).or_fail(Code::Start)?;
        let read = format!("select count(*) from ch_markers where client = {PROOF} and number = {proof}");
        let until = Instant::now() + REPLAYING;
        while standby.query_opt(&read).ok().flatten().as_deref() != Some("1") {
            if stop.is_requested() {
                return Err(CommandError::new(Code::Interrupted, "interrupted while the standby replayed"));
            }
            if Instant::now() > until {
                let error = format!(
                    "{} does not have what the target committed {} s ago: it is the standby of another primary, or far behind",
                    self.name,
                    REPLAYING.as_secs()
                );
                return Err(CommandError::new(Code::Start, error)
                    .hint("look at pg_stat_wal_receiver there, and at recovery_min_apply_delay"));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Returns what reports say about it, after the run.
    pub(crate) fn record(&self, primary: &mut Admin) -> std::result::Result<AnalyticsServerRecord, String> {
        let mut standby = Admin::connect(&self.options).map_err(|error| error.to_string())?;
        let read = |standby: &mut Admin, primary: &mut Admin| -> std::result::Result<_, AdminError> {
            let mut settings = BTreeMap::new();
            for (admin, names) in [(&mut *standby, &OF_STANDBY[..]), (primary, &OF_PRIMARY)] {
                for name in names {
                    let value = admin.query_opt(&format!("select current_setting('{name}', true)"))?;
                    settings.extend(value.filter(|value| !value.is_empty()).map(|value| ((*name).to_owned(), value)));
                }
            }
            let version = standby.query_opt("select version()")?.unwrap_or_default();
            Ok((settings, version, is_standby(standby)?, conflicts(standby)?))
        };
        let (settings, version, is_standby, after) = read(&mut standby, primary).map_err(|error| error.to_string())?;
        let before = |kind: &str| self.conflicts_before.get(kind).copied().unwrap_or_default();
        let conflicts = after.into_iter().map(|(kind, n)| (kind.clone(), n.saturating_sub(before(&kind))));
        let mut place = figures::place(&standby, &self.options);
        place.standby = is_standby;
        let conflicts = conflicts.filter(|(_, n)| *n > 0).collect();
        Ok(AnalyticsServerRecord { place, version, settings, replay_lag_s_max: None, conflicts })
    }
}

/// Returns how streams connect with these settings.
pub(crate) fn with_settings(options: &ConnectOptions, settings: &BTreeMap<String, String>) -> ConnectOptions {
    options.with_settings(settings.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Refuses settings that the server does not take.
///
/// # Errors
/// When a session with them cannot begin.
pub(crate) fn admit_settings(options: &ConnectOptions, settings: &BTreeMap<String, String>) -> Result<()> {
    if settings.is_empty() {
        return Ok(());
    }
    let refused = |failure: CommandError| failure.hint("these are the settings of --analytics-set");
    Admin::connect(&with_settings(options, settings)).or_fail(Code::Start).map(drop).map_err(refused)
}

/// What identifies a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Given by initdb; a standby has that of its primary.
    pub(super) system: String,
    pub(super) is_standby: bool,
    pub(super) started: String,
}

pub(super) fn identity(admin: &mut Admin) -> std::result::Result<Identity, AdminError> {
    let mut text = |sql: &str| admin.query_opt(sql).map(Option::unwrap_or_default);
    Ok(Identity {
        system: text("select system_identifier from pg_control_system()")?,
        is_standby: text("select pg_is_in_recovery()")? == "t",
        started: text("select pg_postmaster_start_time()")?,
    })
}

/// Returns why a server is no standby of the other one.
fn unlike(name: &str, theirs: &Identity, ours: &Identity) -> Option<String> {
    if theirs.system != ours.system {
        let what = if theirs.is_standby { "a standby of another primary" } else { "another primary" };
        return Some(format!(
            "{name} is {what}: its system identifier is {}, and that of the target {}",
            theirs.system, ours.system
        ));
    }
    if theirs.is_standby {
        return None;
    }
    Some(match theirs.started == ours.started {
        true => format!("{name} is the server of --target itself, where every query sees all that is committed"),
        false => format!("{name} is no standby any more: it was promoted, or is a copy of the target"),
    })
}

fn is_standby(admin: &mut Admin) -> std::result::Result<bool, AdminError> {
    Ok(admin.query_opt("select pg_is_in_recovery()")?.is_some_and(|answer| answer == "t"))
}

/// Returns the queries that replay has cancelled in this database, by kind.
pub(super) fn conflicts(admin: &mut Admin) -> std::result::Result<BTreeMap<String, u64>, AdminError> {
    let mut found = BTreeMap::new();
    for kind in CONFLICTS {
        let sql = format!("select confl_{kind} from pg_stat_database_conflicts where datname = current_database()");
        found.extend(admin.query_opt(&sql)?.and_then(|n| n.parse().ok()).map(|n| (kind.to_owned(), n)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_standby_with_the_same_system_identifier_has_the_same_commits() {
        let server = |system: &str, is_standby, started: &str| Identity {
            system: system.to_owned(),
            is_standby,
            started: started.to_owned(),
        };
        let ours = server("1", false, "noon");
        let why = |theirs: Identity| unlike("db2", &theirs, &ours).unwrap_or_default();
        assert_eq!(why(server("1", true, "later")), "");
        assert!(why(server("2", true, "later")).contains("a standby of another primary: its system identifier is 2"));
        assert!(why(server("2", false, "later")).contains("another primary"));
        assert!(why(server("1", false, "noon")).contains("the server of --target itself"));
        assert!(why(server("1", false, "later")).contains("promoted"));
    }
}
