//! Locks on a target: two suites at once would disturb each other's runs, and one refuses to begin. A run marks the
//! server with a shared one, so that another that measures there at the same time is informed.
//!
//! A lock is an advisory lock of PostgreSQL, so it ends with its connection, however that ends. An advisory lock
//! belongs to one database, but runs use the whole server, so holders in other databases are checked, too.

use std::time::{Duration, Instant};

use pgdyno_load::steps::{MARK, OTHER_RUNS};
use pgdyno_net::{Admin, AdminError, ConnectOptions};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;

/// What all keys begin with: "pgdy" in ASCII.
const CLASS: u32 = 0x7067_6479;
/// The key of suites: "suit".
const SUITE: u32 = 0x7375_6974;
/// The key of runs: "runs".
const RUNS: u32 = 0x7275_6e73;

/// How long the sessions of a run that has just ended may take to go.
const GOING: Duration = Duration::from_secs(2);

/// An advisory lock on the target's database, held by a separate connection whose application_name names the holder.
pub struct TargetLock {
    admin: Admin,
    who: String,
}

impl TargetLock {
    /// Takes the lock. Other programs see `who` as its holder. On a server without such locks, or that does not show them,
    /// `warn` takes what that means.
    ///
    /// # Errors
    /// When another program holds it: the error names the holder, since when, and the remedy.
    pub fn take(options: &ConnectOptions, who: &str, interrupt: &Interrupt, warn: &dyn Fn(&str)) -> Result<Self> {
        let options = &interrupt.options(options);
        let mut admin = Admin::connect(&options.with_application_name(who)).or_fail(Code::Start)?;
        // Behind a pooler a session lock would pass to the next client of the connection, so an open transaction holds
        // it. At this isolation level the transaction keeps no snapshot between statements, and so does not hold back
        // VACUUM.
        let pooled = pgdyno_server::pooling(&mut admin, options).or_fail(Code::Start)?;
        let kind = if pooled.is_some_and(|pooling| !pooling.keeps_sessions()) {
            let begin = "begin isolation level read committed; set local idle_in_transaction_session_timeout = 0";
            admin.execute(begin).or_fail(Code::Start)?;
            "xact_lock"
        } else {
            admin.lift_idle_limits().or_fail(Code::Start)?;
            "lock"
        };
        let mut left_out = Vec::new();
        let taken = admin.query_one(&format!("select pg_try_advisory_{kind}({CLASS}, {SUITE})"));
        let taken = MARK.decide(taken).or_fail(Code::Start)?.or_warn(|warning| left_out.push(warning));
        // A holder in another database took it earlier.
        let holder = OTHER_RUNS.decide(find(&mut admin, SUITE)).or_fail(Code::Start)?;
        match holder.or_warn(|warning| left_out.push(warning)).flatten() {
            Some(holder) => Err(refused(options, &holder)),
            None if taken.is_some_and(|taken| taken != "t") => Err(refused(options, "a suite that has just ended")),
            None => {
                left_out.iter().for_each(|warning| warn(warning));
                // The connection lasts until the last run has ended, whatever the user asks for in the meantime.
                admin.set_interrupter(None).or_fail(Code::Start)?;
                Ok(Self { admin, who: who.to_owned() })
            }
        }
    }

    /// Takes the lock again if it is lost, as after a restart of the server.
    ///
    /// # Errors
    /// When the server does not answer, or another program holds the lock now.
    pub fn retake(&mut self, options: &ConnectOptions, interrupt: &Interrupt, warn: &dyn Fn(&str)) -> Result<()> {
        self.admin.set_interrupter(Some(interrupt.waits())).or_fail(Code::Interrupted)?;
        let answer = self.admin.promptly("whether it is there", |admin| admin.query("select 1"));
        self.admin.set_interrupter(None).or_fail(Code::Start)?;
        if answer.is_err() {
            *self = Self::take(options, &self.who, interrupt, warn)?;
        }
        Ok(())
    }

    /// Returns the holder, if there is one that can be seen, and since when.
    pub(crate) fn holder(admin: &mut Admin) -> Result<Option<String>> {
        // The run's own mark needs the same views, and says if it does not see them.
        Ok(OTHER_RUNS.decide(find(admin, SUITE)).or_fail(Code::Start)?.or_warn(drop).flatten())
    }
}

/// Returns the warning of a run beside which another user measures.
pub(crate) fn disturbs(other: &str) -> String {
    format!("{other} measures this server at the same time: the runs disturb each other")
}

/// Marks the server as one that a run measures, for as long as the session lasts. Returns another run that does, and
/// since when. `warn` takes what is left out.
pub(crate) fn mark_run(admin: &mut Admin, warn: &mut dyn FnMut(String)) -> Result<Option<String>> {
    let marked = admin.execute(&format!("select pg_advisory_lock_shared({CLASS}, {RUNS})"));
    MARK.decide(marked).or_fail(Code::Start)?.or_warn(&mut *warn);
    let patience = Instant::now() + GOING;
    loop {
        match other_run(admin, warn)? {
            Some(_) if Instant::now() < patience => std::thread::sleep(Duration::from_millis(100)),
            other => return Ok(other),
        }
    }
}

/// Marks the server again for a run whose session was lost. If that fails, the run goes on without the mark.
pub(crate) fn mark_again(admin: &mut Admin) {
    let _ = admin
        .promptly("to mark it", |admin| admin.execute(&format!("select pg_try_advisory_lock_shared({CLASS}, {RUNS})")));
}

/// Returns another run that measures on the server, and since when. `warn` takes the reason why that is not known.
pub(crate) fn other_run(admin: &mut Admin, warn: &mut dyn FnMut(String)) -> Result<Option<String>> {
    Ok(OTHER_RUNS.decide(find(admin, RUNS)).or_fail(Code::Start)?.or_warn(warn).flatten())
}

/// Returns another run than the one with these backends, if it can be seen: the server may not have noticed the loss of a
/// connection.
pub(crate) fn other_run_than(admin: &mut Admin, ours: &[i32]) -> Result<Option<String>> {
    let ours = ours.iter().map(|pid| format!(" and l.pid <> {pid}")).collect::<String>();
    Ok(OTHER_RUNS.decide(find_where(admin, RUNS, &ours)).or_fail(Code::Start)?.or_warn(drop).flatten())
}

/// Returns another run that measures in the database of this session, and since when. `warn` takes the reason why that is not
/// known.
pub(crate) fn other_run_here(admin: &mut Admin, warn: &mut dyn FnMut(String)) -> Result<Option<String>> {
    let here = "and l.database = (select oid from pg_catalog.pg_database where datname = current_database())";
    Ok(OTHER_RUNS.decide(find_where(admin, RUNS, here)).or_fail(Code::Start)?.or_warn(warn).flatten())
}

fn refused(options: &ConnectOptions, holder: &str) -> CommandError {
    CommandError::new(
        Code::Start,
        format!("{options} is being measured by {holder}: two runs at once would disturb each other"),
    )
    .hint("wait until it ends, stop it (`pgdyno suite stop`), or use another server")
}

/// Selects the holder other than this session, in any database. What the role may not see of its session is missing.
fn find(admin: &mut Admin, key: u32) -> std::result::Result<Option<String>, AdminError> {
    find_where(admin, key, "")
}

/// The same, of those locks for which a further condition holds.
fn find_where(admin: &mut Admin, key: u32, condition: &str) -> std::result::Result<Option<String>, AdminError> {
    let sql = format!(
        "select coalesce(nullif(application_name, ''), 'a session') || coalesce(' (process ' || l.pid || ')', '') \
         || coalesce(' since ' || date_trunc('second', backend_start)::text, '') \
         from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid \
         where locktype = 'advisory' and classid = {CLASS} and objid = {key} and objsubid = 2 and granted \
         and l.pid <> pg_backend_pid() {condition} order by backend_start limit 1"
    );
    let rows = admin.promptly("who else measures there", |admin| admin.query(&sql))?;
    Ok(rows.rows.into_iter().next().and_then(|row| row.into_iter().next()?))
}

#[cfg(test)]
mod tests {
    use pgdyno_testing::server::{TestServer, available};

    use super::*;

    #[test]
    fn a_run_in_another_database_is_another_run_and_is_not_here() {
        if !available("runs that measure beside each other") {
            return;
        }
        let server = TestServer::start("", "local all all trust\n");
        server.admin().execute("create database other").unwrap();
        let connect = |database: &str, name: &str| {
            let options = ConnectOptions::for_socket(server.dir(), server.port, "postgres", database);
            Admin::connect(&options.with_application_name(name)).unwrap()
        };
        let warn = &mut |warning: String| panic!("{warning}");
        let (mut here, mut there) = (connect("postgres", "here"), connect("other", "there"));
        assert_eq!(mark_run(&mut there, warn).unwrap(), None);
        assert_eq!(other_run_here(&mut here, warn).unwrap(), None, "it is in another database");
        assert!(other_run(&mut here, warn).unwrap().is_some_and(|other| other.starts_with("there (process ")));
        let seen = mark_run(&mut here, warn).unwrap();
        assert!(
            seen.is_some_and(|other| other.starts_with("there ")),
            "after the time in which one that ended would be gone"
        );
        assert_eq!(other_run_here(&mut here, warn).unwrap(), None, "its own mark is none");
        let mut second = connect("postgres", "second");
        assert!(other_run_here(&mut second, warn).unwrap().is_some_and(|other| other.starts_with("here ")));
        drop(here);
        let gone = Instant::now() + Duration::from_secs(30);
        while other_run_here(&mut second, warn).unwrap().is_some() {
            assert!(Instant::now() < gone, "the mark outlives its session");
        }
    }
}
