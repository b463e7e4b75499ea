//! Finds out what a statement waits for, and reports it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::options::LongWaits;
use crate::statement::command;
use crate::{Admin, AdminError, ConnectOptions, quote};

/// Time limits of the second session: the answer to the statement may come meanwhile.
const CONNECTING: Duration = Duration::from_secs(2);
const ANSWERING: Duration = Duration::from_secs(2);
/// Several connections that wait for the same are reported once in this time.
const SAME: Duration = Duration::from_secs(20);
/// Number of blocking sessions that are named.
const BLOCKERS: usize = 3;
/// Length of a name or setting of the server in a report.
const NAME_CHARS: usize = 60;

/// Reports what a statement waits for that takes longer than three seconds: the wait event, and the sessions that block
/// it. A second session asks the server.
///
/// It looks after 3 s, after 30 s, then once a minute. Work that goes on without being blocked is first reported after
/// 30 s. Until [`Lookout::report_to`] it does nothing.
#[derive(Clone, Default)]
pub struct Lookout(Arc<Inner>);

type Report = Box<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
struct Inner {
    report: OnceLock<Report>,
    paused: AtomicBool,
    /// The last report without its duration, and its time. Locked during a look.
    last: Mutex<Option<(String, Instant)>>,
}

impl fmt::Debug for Lookout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookout").field("paused", &self.0.paused).finish_non_exhaustive()
    }
}

impl Lookout {
    /// Returns one without a receiver.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where to report, from any thread. Later calls have no effect.
    pub fn report_to(&self, report: impl Fn(&str) + Send + Sync + 'static) {
        // The first one stays.
        let _ = self.0.report.set(Box::new(report));
    }

    /// Does `work` without looks: a second session would distort a measurement.
    pub fn paused<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.paused.store(true, Ordering::Release);
        let done = work();
        self.0.paused.store(false, Ordering::Release);
        done
    }
}

impl LongWaits for Lookout {
    /// Looks at the statement that session `process_id` runs, and reports what it waits for.
    fn look(&self, options: &ConnectOptions, process_id: i32, statement: &str, after: Duration, first: bool) {
        let Some(report) = self.0.report.get().filter(|_| !self.0.paused.load(Ordering::Acquire)) else { return };
        // If another connection looks right now, it reports what all wait for.
        let Ok(mut last) = self.0.last.try_lock() else { return };
        let found = Found::ask(options, process_id, statement);
        if options.is_interrupted() {
            return;
        }
        let Some(cause) = found.cause(options.user()).filter(|_| !first || found.is_blocked()) else { return };
        let same = |(before, at): &(String, Instant)| *before == cause && at.elapsed() < SAME;
        if last.as_ref().is_some_and(same) {
            return;
        }
        report(&format!("{} has taken {} s so far: {cause}", command(statement), after.as_secs()));
        *last = Some((cause, Instant::now()));
    }
}

impl ConnectOptions {
    /// Lets `lookout` report the long waits of each [`Admin`] that is opened with these options.
    #[must_use]
    pub fn reported_by(&self, lookout: &Lookout) -> Self {
        let mut options = self.clone();
        options.lookout = Some(Arc::new(lookout.clone()));
        options
    }
}

/// What the server says of a waiting session.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// What it waits for.
    Session(Session),
    /// `pg_stat_activity` has no session of this process that runs the statement: a pooler is between, or it has
    /// just ended.
    Nothing,
    /// The server did not say, for this reason.
    Unknown(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Session {
    /// `wait_event_type` and `wait_event`; `None` while it works.
    event: Option<(String, String)>,
    /// `synchronous_standby_names`.
    standbys: String,
    /// The relation and mode of the lock that it waits for.
    lock: Option<(String, String)>,
    /// The sessions that block it; the reason if the role may not ask.
    blockers: Result<Vec<Blocker>, String>,
}

/// A session that blocks another one. What this role may not see is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Blocker {
    /// 0 for a prepared transaction.
    process_id: String,
    application: Option<String>,
    state: Option<String>,
    /// When its last statement began, with the age in seconds.
    query_start: Option<(String, String)>,
}

impl Found {
    fn ask(options: &ConnectOptions, process_id: i32, statement: &str) -> Self {
        let options = options.with_connect_timeout_at_most(CONNECTING).with_answer_timeout(ANSWERING);
        let mut admin = match Admin::connect(&options) {
            Ok(admin) => admin,
            Err(error) => return Self::Unknown(format!("a second session to find out why failed: {error}")),
        };
        match session(&mut admin, process_id, statement) {
            Ok(Some(session)) => Self::Session(session),
            Ok(None) => Self::Nothing,
            Err(error) => Self::Unknown(format!("the server does not say why: {}", error.reason())),
        }
    }

    /// Returns true if something else than the statement itself keeps it from going on.
    fn is_blocked(&self) -> bool {
        let Self::Session(session) = self else { return true };
        let events = session.event.as_ref().map(|(kind, event)| (kind.as_str(), event.as_str()));
        let waits = match events {
            Some(("Lock" | "BufferPin" | "Extension" | "Client", _)) => true,
            Some(("Timeout", event)) => event != "VacuumDelay",
            // Parallel workers wait for each other in many ways, and get on.
            Some(("IPC", event)) => {
                matches!(event, "SyncRep" | "SafeSnapshot") || event.starts_with("RecoveryConflict")
            }
            _ => false,
        };
        waits || session.blockers.as_ref().is_ok_and(|blockers| !blockers.is_empty())
    }

    /// Returns the cause of the wait in words.
    fn cause(&self, role: &str) -> Option<String> {
        let session = match self {
            Self::Session(session) => session,
            Self::Nothing => {
                return Some(
                    "pg_stat_activity does not show its session, as behind a pooler; press Ctrl-C to end it".into(),
                );
            }
            Self::Unknown(why) => return Some(why.clone()),
        };
        let Some((kind, event)) = &session.event else {
            return Some("the server works on it".to_owned());
        };
        if event == "SyncRep" {
            return Some(format!(
                "it waits for a synchronous standby ({kind}/{event}), and synchronous_standby_names is '{}'; start that \
                 standby, or change the setting",
                shown(&session.standbys)
            ));
        }
        if !self.is_blocked() {
            return Some(format!("the server works on it ({kind}/{event})"));
        }
        let lock = match &session.lock {
            Some((relation, mode)) => format!("it waits for {} on {} ({kind}/{event})", shown(mode), shown(relation)),
            None => format!("it waits for {kind}/{event}"),
        };
        let blockers = match &session.blockers {
            Ok(blockers) if blockers.is_empty() => return Some(format!("{lock}; press Ctrl-C to end it")),
            Ok(blockers) => blockers,
            Err(why) => return Some(format!("{lock}; the server does not say which session blocks it: {why}")),
        };
        let named: Vec<_> = blockers.iter().take(BLOCKERS).map(|blocker| blocker.describe(role)).collect();
        let more = blockers.len().saturating_sub(BLOCKERS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("{lock}, blocked by {}{more}; end that, or press Ctrl-C", named.join(", and by ")))
    }
}

impl Blocker {
    fn describe(&self, role: &str) -> String {
        if self.process_id == "0" {
            return "a prepared transaction (see pg_prepared_xacts)".to_owned();
        }
        let mut text = format!("session {}", shown(&self.process_id));
        if let Some(application) = self.application.as_ref().filter(|name| !name.is_empty()) {
            text += &format!(" ({})", shown(application));
        }
        match &self.state {
            Some(state) => text += &format!(", {}", shown(state)),
            None => text += &format!(", whose state role {role} may not see (GRANT pg_read_all_stats)"),
        }
        if let Some((start, age_s)) = &self.query_start {
            text += &format!(", with its last statement from {} ({} s ago)", shown(start), shown(age_s));
        }
        text
    }
}

/// Returns text of the server so that a terminal only shows it.
fn shown(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(NAME_CHARS).flat_map(char::escape_debug).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

/// Asks what session `process_id` waits for; `None` if it does not run the statement.
fn session(admin: &mut Admin, process_id: i32, statement: &str) -> Result<Option<Session>, AdminError> {
    let statement = quote::literal(statement);
    let activity = format!(
        "select wait_event_type, wait_event, current_setting('synchronous_standby_names') \
         from pg_catalog.pg_stat_activity where pid = {process_id} and left(query, char_length({statement})) = {statement}"
    );
    let Some(row) = admin.query(&activity)?.rows.into_iter().next() else { return Ok(None) };
    let [kind, event, standbys] = <[Option<String>; 3]>::try_from(row).unwrap_or_default();
    let lock = format!(
        "select coalesce(c.relname::text, l.locktype), l.mode from pg_catalog.pg_locks l \
         left join pg_catalog.pg_class c on c.oid = l.relation and l.database in \
         (0, (select oid from pg_catalog.pg_database where datname = current_database())) \
         where l.pid = {process_id} and not l.granted limit 1"
    );
    // A detail: without it the wait event remains.
    let lock = admin.query(&lock).ok().and_then(|rows| rows.rows.into_iter().next());
    let lock = lock.and_then(|row| {
        let [relation, mode] = <[Option<String>; 2]>::try_from(row).ok()?;
        relation.zip(mode)
    });
    let blockers = format!(
        "select b.pid, a.application_name, a.state, to_char(a.query_start, 'HH24:MI:SS'), \
         extract(epoch from clock_timestamp() - a.query_start)::bigint \
         from (select distinct unnest(pg_catalog.pg_blocking_pids({process_id})) as pid) b \
         left join pg_catalog.pg_stat_activity a on a.pid = b.pid order by a.query_start limit 100"
    );
    let blockers = match admin.query(&blockers) {
        Ok(rows) => Ok(rows.rows.into_iter().map(blocker).collect()),
        Err(error) if error.is_lost() => return Err(error),
        Err(error) => Err(error.reason()),
    };
    Ok(Some(Session { event: kind.zip(event), standbys: standbys.unwrap_or_default(), lock, blockers }))
}

fn blocker(row: Vec<Option<String>>) -> Blocker {
    let [process_id, application, state, start, age_s] = <[Option<String>; 5]>::try_from(row).unwrap_or_default();
    Blocker { process_id: process_id.unwrap_or_default(), application, state, query_start: start.zip(age_s) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(kind: &str, event: &str, blockers: Result<Vec<Blocker>, String>) -> Found {
        let lock = (kind == "Lock").then(|| ("t".to_owned(), "AccessExclusiveLock".to_owned()));
        let event = Some((kind.to_owned(), event.to_owned()));
        Found::Session(Session { event, standbys: "nosuch".to_owned(), lock, blockers })
    }

    fn blocker(process_id: &str, application: Option<&str>, state: Option<&str>) -> Blocker {
        let (application, state) = (application.map(str::to_owned), state.map(str::to_owned));
        let query_start = state.is_some().then(|| ("17:00:01".to_owned(), "12".to_owned()));
        Blocker { process_id: process_id.to_owned(), application, state, query_start }
    }

    #[test]
    fn the_cause_is_named_and_work_that_goes_on_is_no_block() {
        let none = || Ok(Vec::new());
        for (kind, event, is_blocked, words) in [
            ("Lock", "relation", true, "it waits for AccessExclusiveLock on t (Lock/relation); press Ctrl-C to end it"),
            ("IPC", "SyncRep", true, "a synchronous standby (IPC/SyncRep), and synchronous_standby_names is 'nosuch'"),
            ("Timeout", "PgSleep", true, "it waits for Timeout/PgSleep"),
            ("Timeout", "VacuumDelay", false, "the server works on it (Timeout/VacuumDelay)"),
            ("IPC", "ParallelFinish", false, "the server works on it (IPC/ParallelFinish)"),
            ("IO", "DataFileRead", false, "the server works on it (IO/DataFileRead)"),
        ] {
            let found = waiting(kind, event, none());
            let cause = found.cause("app").unwrap();
            assert!(cause.contains(words), "{cause}");
            assert_eq!(found.is_blocked(), is_blocked, "{cause}");
        }
        assert!(Found::Nothing.is_blocked() && Found::Unknown(String::new()).is_blocked());
    }

    #[test]
    fn blocking_sessions_are_named_as_far_as_the_role_may_see_them() {
        let of = |blockers| waiting("Lock", "relation", blockers).cause("app").unwrap();
        let one = of(Ok(vec![blocker("7", Some("psql"), Some("idle in transaction"))]));
        let words = "blocked by session 7 (psql), idle in transaction, with its last statement from 17:00:01 (12 s ago); end that";
        assert!(one.contains(words), "{one}");
        let hidden = of(Ok(vec![blocker("7", Some(""), None), blocker("0", None, None)]));
        assert!(hidden.contains("session 7, whose state role app may not see (GRANT pg_read_all_stats)"), "{hidden}");
        assert!(hidden.contains(", and by a prepared transaction (see pg_prepared_xacts)"), "{hidden}");
        let many = of(Ok((1..=5).map(|pid| blocker(&pid.to_string(), Some("x"), Some("active"))).collect()));
        assert!(many.contains("session 3 (x)") && many.contains(" and 2 more; end that"), "{many}");
        let refused = of(Err("permission denied for function pg_blocking_pids".to_owned()));
        assert!(
            refused.ends_with("which session blocks it: permission denied for function pg_blocking_pids"),
            "{refused}"
        );
    }

    #[test]
    fn names_of_the_server_do_not_move_a_terminal() {
        assert_eq!(shown("\u{1b}[2Jx"), "\\u{1b}[2Jx");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), NAME_CHARS + 1);
    }
}
