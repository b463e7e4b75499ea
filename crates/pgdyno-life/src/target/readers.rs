//! Readers: servers beside the target that run what only reads.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectError, ConnectOptions, Stop};
use pgdyno_plan::Plan;
use pgdyno_results::PlaceRecord;
use pgdyno_workload::{Capabilities, Workload};

use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::record::figures;
use crate::target::analytics::{Identity, PAUSE, REPLAYING, conflicts, identity};
use crate::target::room::{self, Watchers};

/// How long a database of the target may take to arrive at a reader.
const CREATING: Duration = Duration::from_secs(10);

/// How long a reader may take to say what it is after the run.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// A server that runs what only reads.
pub(crate) struct Reader {
    /// Its name in plans and messages.
    pub(crate) name: String,
    /// How clients connect to it.
    pub(crate) options: ConnectOptions,
    pub(crate) place: PlaceRecord,
    pub(crate) version: String,
    /// Why its distance from the target is not measured; `None` for a standby of it.
    pub(crate) is_apart: Option<String>,
    /// Queries that replay had cancelled before the clients began, by kind, or why their number is unknown.
    conflicts_before: std::result::Result<BTreeMap<String, u64>, String>,
}

impl Reader {
    /// Connects to a reader of so many clients, and warns if it is no standby of the target.
    ///
    /// # Errors
    /// When it cannot be reached, or has no room for the clients.
    pub(crate) fn admit(
        name: String,
        options: ConnectOptions,
        target: &mut Admin,
        clients: u32,
        events: &dyn EventSink,
    ) -> Result<Self> {
        let prefixed =
            |failure: CommandError| CommandError::new(failure.code(), format!("reader {name}: {}", failure.text()));
        let hint = "name a standby of the target, or another server with its tables, in --reader";
        let connected = connect_when_created(&options);
        let mut admin = connected.or_fail(Code::Start).map_err(|failure| prefixed(failure).hint(hint))?;
        room::admit(&mut admin, clients, Watchers { counters: false, samples: false }).map_err(prefixed)?;
        let version = admin.query_opt("select version()").or_fail(Code::Start)?.unwrap_or_default();
        let [theirs, ours] = [&mut admin, target].map(|admin| identity(admin).ok());
        let is_apart = match (&theirs, &ours) {
            (Some(theirs), Some(ours)) => apart(theirs, ours),
            _ => Some("the servers do not say which ones they are (pg_control_system)".to_owned()),
        };
        if let Some(why) = &is_apart {
            events.warn(&format!("reader {name}: {why}"));
        }
        let mut place = figures::place(&admin, &options);
        place.standby = theirs.is_some_and(|theirs| theirs.is_standby);
        Ok(Self { name, options, place, version, is_apart, conflicts_before: Ok(BTreeMap::new()) })
    }

    /// Uses the database of the run, which has another name if it is a copy.
    pub(crate) fn use_database(&mut self, plan: &Plan, target: &ConnectOptions) {
        if plan.from_template.is_some() {
            self.options = self.options.with_database(target.dbname());
        }
    }

    /// Waits until it has replayed what the target has now, and notes what it has counted until then.
    ///
    /// # Errors
    /// When that takes too long, or a connection is lost.
    pub(crate) fn await_replay(&mut self, target: &mut Admin, stop: &Stop) -> Result<()> {
        let session = match self.replayed(target, stop)? {
            Some(session) => Ok(session),
            None => Admin::connect(&self.options).map_err(|error| error.to_string()),
        };
        self.conflicts_before = session.and_then(|mut admin| conflicts(&mut admin).map_err(|error| error.to_string()));
        Ok(())
    }

    /// Waits until it has replayed what the target has now. Returns a session on it, if it needed one.
    fn replayed(&self, target: &mut Admin, stop: &Stop) -> Result<Option<Admin>> {
        if self.is_apart.is_some() {
            return Ok(None);
        }
        let position = target.query_opt("select pg_current_wal_insert_lsn()").ok().flatten();
        // A target that is a standby itself has none.
        let Some(position) = position else { return Ok(None) };
        // So that it is flushed, and sent.
        target.execute("select pg_logical_emit_message(true, 'pgdyno', '')").ok();
        // One of several servers may be the primary.
        let reached = format!("select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= '{position}'");
        let until = Instant::now() + REPLAYING;
        let mut admin = None;
        loop {
            // A copied database arrives by replay, too.
            if admin.is_none() {
                admin = Admin::connect(&self.options).ok();
            }
            let answer = admin.as_mut().and_then(|admin| admin.query_opt(&reached).ok().flatten());
            if answer.as_deref() == Some("t") {
                break;
            }
            if stop.is_requested() {
                return Err(CommandError::new(Code::Interrupted, "interrupted while a reader replayed"));
            }
            if Instant::now() > until {
                let error = format!(
                    "reader {} has not replayed what the target wrote {} s ago",
                    self.name,
                    REPLAYING.as_secs()
                );
                return Err(CommandError::new(Code::Start, error)
                    .hint("look at pg_stat_wal_receiver there, and at recovery_min_apply_delay"));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(admin)
    }

    /// Refuses a reader without the tables of the workload.
    ///
    /// # Errors
    /// When one is missing, or the connection is lost.
    pub(crate) fn admit_tables(&self, workload: &Workload, caps: &Capabilities) -> Result<()> {
        let mut admin = Admin::connect(&self.options).or_fail(Code::Start)?;
        for table in workload.data.iter().flat_map(|data| data.tables(caps)) {
            let known = format!("select to_regclass('{}') is not null", table.name.replace('\'', "''"));
            if admin.query_opt(&known).or_fail(Code::Start)?.as_deref() != Some("t") {
                let error = format!(
                    "reader {} has no table {}: it lacks the data of {}",
                    self.name, table.name, workload.meta.id
                );
                return Err(CommandError::new(Code::Start, error)
                    .hint("name a standby of the target in --reader, or load the same data there"));
            }
        }
        Ok(())
    }

    /// Returns the queries that replay has cancelled there since the clients began, by kind.
    ///
    /// # Errors
    /// When it does not answer, or did not before.
    pub(crate) fn conflicts(&self) -> std::result::Result<BTreeMap<String, u64>, String> {
        let before = self.conflicts_before.as_ref().map_err(Clone::clone)?;
        let options = self.options.with_connect_timeout_at_most(AFTERWARDS).with_answer_timeout(AFTERWARDS);
        let mut admin = Admin::connect(&options).map_err(|error| error.to_string())?;
        let after = conflicts(&mut admin).map_err(|error| error.to_string())?;
        let before = |kind: &str| before.get(kind).copied().unwrap_or_default();
        let since = after.into_iter().map(|(kind, n)| (kind.clone(), n.saturating_sub(before(&kind))));
        Ok(since.filter(|(_, n)| *n > 0).collect())
    }
}

/// Connects to a reader. A database that the target has just got arrives there by replay, which takes a while on a slow disk.
fn connect_when_created(options: &ConnectOptions) -> std::result::Result<Admin, ConnectError> {
    let until = Instant::now() + CREATING;
    loop {
        match Admin::connect(options) {
            Err(ConnectError::NoDatabase { .. }) if Instant::now() < until => std::thread::sleep(PAUSE),
            connected => return connected,
        }
    }
}

/// Returns why a reader is no standby of the target; `None` if it is one.
fn apart(theirs: &Identity, ours: &Identity) -> Option<String> {
    if theirs.system != ours.system {
        return Some(format!(
            "it is another server than the target or its standbys (system identifier {}, the target has {}): its data may be \
             other data",
            theirs.system, ours.system
        ));
    }
    if theirs.is_standby {
        return None;
    }
    Some(match theirs.started == ours.started {
        true => "it is the target itself, which runs all transactions then".to_owned(),
        false => "it is no standby any more: it was promoted, or is a copy of the target".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_standby_of_the_target_is_close_to_it() {
        let server = |system: &str, is_standby, started: &str| Identity {
            system: system.to_owned(),
            is_standby,
            started: started.to_owned(),
        };
        let ours = server("1", false, "noon");
        let why = |theirs: Identity| apart(&theirs, &ours).unwrap_or_default();
        assert_eq!(why(server("1", true, "later")), "");
        assert!(why(server("2", true, "later")).contains("another server than the target"));
        assert!(why(server("1", false, "noon")).contains("the target itself"));
        assert!(why(server("1", false, "later")).contains("promoted"));
    }
}
