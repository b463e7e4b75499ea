//! Runs a workload's isolation tests.

mod actor;
mod outcome;
mod values;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Halt, Stop, TextRows};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Act, IsolationLevel, Scenario, ScenarioStep};

use actor::{Actor, Statement};
pub use outcome::{ScenarioError, ScenarioOptions, ScenarioResult};
pub(crate) use values::Values;

/// Interval between two looks at a session.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Consecutive looks that must show a session waiting for an idle one before it counts as waiting forever.
const SURE: u32 = 5;
/// Attempts at a transaction, or a scenario, before a serialization failure counts.
const TRIES: u32 = 3;

/// Returns the isolation level of this connection's transactions.
///
/// # Errors
/// When the query fails.
pub fn default_level(admin: &mut Admin) -> Result<IsolationLevel, AdminError> {
    let name = admin.query_one("show default_transaction_isolation")?;
    // The server has no other names.
    Ok(IsolationLevel::from_name(&name).unwrap_or(IsolationLevel::ReadCommitted))
}

/// Runs a scenario. In every case all of its sessions have rolled back and ended when it returns. If a serialization
/// failure ended a transaction of several statements, the scenario runs again, as a client would retry its
/// transaction.
///
/// # Errors
/// When it cannot be run, or `stop` is set; statements in progress are cancelled then.
pub fn play(
    options: &ConnectOptions,
    scenario: &Scenario,
    rules: &ScenarioOptions,
    stop: &Stop,
) -> Result<ScenarioResult, ScenarioError> {
    let began = Instant::now();
    let halt = Halt::new(stop);
    let watched = halt.options(options);
    let mut tries = 1;
    loop {
        let opened = halt.watched(|| Play::open(&watched, rules, stop));
        let mut play = match opened {
            Err(_) if halt.is_interrupted() => return Err(ScenarioError::Interrupted),
            opened => opened?,
        };
        // Its queries may wait for a lock, too.
        halt.watch_always(play.watcher.cancel_handle());
        let come = halt.watched(|| scenario.steps.iter().try_for_each(|step| play.step(step)));
        let tried_again = play.tried_again.clone();
        let interrupted = come.is_err() && halt.is_interrupted();
        let restored = play.end(&scenario.restore, options);
        let found = match (come, restored) {
            (Err(_), Ok(())) if interrupted => return Err(ScenarioError::Interrupted),
            (Err(_), Err(error)) if interrupted => return Err(ScenarioError::NotRestored(Box::new(error))),
            (Err(End::Error(error)), Ok(())) => return Err(error),
            (Err(End::Error(cause)), Err(source)) => {
                return Err(ScenarioError::Changed { cause: Box::new(cause), source: Box::new(source) });
            }
            (Err(End::Serialization(_)), Ok(())) if tries < TRIES => {
                tries += 1;
                continue;
            }
            (Err(End::Serialization(words) | End::Broken(words)), _) => Some(words),
            (Ok(()), Err(error)) => return Err(error),
            (Ok(()), Ok(())) => None,
        };
        let seconds = began.elapsed().as_secs_f64();
        return Ok(ScenarioResult { holds: found.is_none(), found, tried_again, seconds });
    }
}

/// Why a scenario ended early.
enum End {
    /// A result was not the expected one.
    Broken(String),
    /// A serialization failure undid a transaction of several statements.
    Serialization(String),
    Error(ScenarioError),
}

impl<E: Into<ScenarioError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A scenario in progress.
struct Play<'a> {
    options: &'a ConnectOptions,
    rules: &'a ScenarioOptions,
    stop: &'a Stop,
    watcher: Admin,
    actors: BTreeMap<&'static str, Actor>,
    values: Values,
    tried_again: Vec<&'static str>,
}

impl<'a> Play<'a> {
    fn open(options: &'a ConnectOptions, rules: &'a ScenarioOptions, stop: &'a Stop) -> Result<Self, ScenarioError> {
        let watcher = watcher(options, rules)?;
        let values = Values::default();
        Ok(Self { options, rules, stop, watcher, actors: BTreeMap::new(), values, tried_again: Vec::new() })
    }

    /// Ends all sessions, then runs the final statements. A cancel request for the observer does not end a connection
    /// by `options`.
    fn end(mut self, restore: &[String], options: &ConnectOptions) -> Result<(), ScenarioError> {
        for actor in std::mem::take(&mut self.actors).into_values() {
            actor.end();
        }
        let statements: Vec<_> = restore.iter().filter_map(|sql| self.values.fill(sql).ok()).collect();
        if self.stop.is_requested() && !statements.is_empty() {
            self.watcher = watcher(options, self.rules)?;
        }
        for sql in statements {
            match self.watcher.execute(&sql) {
                Err(error) if error.is_lost() => {
                    self.watcher = watcher(options, self.rules)?;
                    self.watcher.execute(&sql)?;
                }
                done => drop(done?),
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &ScenarioStep) -> Result<(), End> {
        if self.stop.is_requested() {
            return Err(ScenarioError::Interrupted.into());
        }
        match step {
            ScenarioStep::Look { sql, keep } => {
                let rows = self.ask(sql)?;
                self.values.keep(keep, rows);
            }
            ScenarioStep::Begin(session) => {
                self.run(session, "begin")?;
                self.actor(session)?.in_transaction = true;
            }
            ScenarioStep::Run(act) => {
                self.send(act)?;
                self.await_end(act.session)?;
            }
            ScenarioStep::Waits { act, blocker } => {
                self.send(act)?;
                self.await_lock(act.session, blocker)?;
            }
            ScenarioStep::Ends(session) => self.await_end(session)?,
            ScenarioStep::Commit(session) => self.end_transaction(session, "commit")?,
            ScenarioStep::Rollback(session) => self.end_transaction(session, "rollback")?,
            ScenarioStep::Holds { what, sql } => self.holds(what, sql)?,
        }
        Ok(())
    }

    /// Returns the session, opened if it is new.
    fn actor(&mut self, name: &'static str) -> Result<&mut Actor, ScenarioError> {
        use std::collections::btree_map::Entry;
        match self.actors.entry(name) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Actor::open(self.options, name, self.rules.level)?)),
        }
    }

    fn fill(&self, sql: &str) -> Result<String, End> {
        self.values.fill(sql).map_err(|name| End::Broken(format!("no row returned {name}, which is needed for: {sql}")))
    }

    fn ask(&mut self, sql: &str) -> Result<TextRows, End> {
        let sql = self.fill(sql)?;
        self.watcher.query(&sql).map_err(|error| match error.is_lost() {
            true => error.into(),
            false => End::Broken(error.to_string()),
        })
    }

    fn holds(&mut self, what: &str, sql: &str) -> Result<(), End> {
        let rows = self.ask(sql)?;
        let Some(row) = rows.rows.first() else { return Err(End::Broken(format!("not so: {what}: no row"))) };
        if row.first().is_some_and(|value| value.as_deref() == Some("t")) {
            return Ok(());
        }
        let fields = rows.columns.iter().zip(row).skip(1);
        let seen: Vec<_> =
            fields.map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL"))).collect();
        Err(End::Broken(format!("not so: {what}: {}", seen.join(" "))))
    }

    fn send(&mut self, act: &Act) -> Result<(), End> {
        let sql = self.fill(&act.sql)?;
        self.actor(act.session)?.send(Statement { sql, keep: act.keep, tries: 1 });
        Ok(())
    }

    /// Runs a statement without a result.
    fn run(&mut self, session: &'static str, sql: &str) -> Result<(), End> {
        self.send(&Act { session, sql: sql.to_owned(), keep: None })?;
        self.await_end(session)
    }

    fn end_transaction(&mut self, session: &'static str, sql: &str) -> Result<(), End> {
        self.run(session, sql)?;
        self.actor(session)?.in_transaction = false;
        Ok(())
    }

    /// Waits until the statement of a session has ended. Cancels it if nothing but this program could end its wait.
    fn await_end(&mut self, session: &'static str) -> Result<(), End> {
        let began = Instant::now();
        let mut hopeless = 0;
        while !self.has_ended(session)? {
            let blockers = self.blockers(session)?;
            let idle = blockers.iter().find(|name| self.actors.get(**name).is_some_and(|a| a.statement.is_none()));
            hopeless = if idle.is_some() { hopeless + 1 } else { 0 };
            match idle {
                Some(blocker) if hopeless >= SURE => {
                    let blocker = *blocker;
                    return Err(self.give_up(session, &format!("waits for {blocker}, but must not")));
                }
                _ if began.elapsed() > self.rules.limit => return Err(self.hangs(session, "has not ended")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits until the server shows that a session waits for a lock of another one.
    fn await_lock(&mut self, session: &'static str, blocker: &'static str) -> Result<(), End> {
        let began = Instant::now();
        loop {
            let sent = self.actor(session)?.statement.as_ref().map(|s| s.sql.clone()).unwrap_or_default();
            if self.has_ended(session)? {
                return Err(End::Broken(format!("{session} did not wait for {blocker}: {}", one_line(&sent))));
            }
            if self.blockers(session)?.contains(&blocker) {
                return Ok(());
            }
            if began.elapsed() > self.rules.limit {
                return Err(self.hangs(session, &format!("does not wait for {blocker}, and has not ended")));
            }
        }
    }

    /// Returns true if the statement of a session has ended. Keeps its result; sends it again after a serialization
    /// failure if it is a transaction by itself.
    fn has_ended(&mut self, session: &'static str) -> Result<bool, End> {
        if self.stop.is_requested() {
            return Err(ScenarioError::Interrupted.into());
        }
        let actor = self.actor(session)?;
        let Some((statement, answer)) = actor.answer(POLL_INTERVAL) else { return Ok(false) };
        let Statement { sql, keep, tries } = statement;
        match answer {
            Ok(rows) => {
                if let Some(name) = keep {
                    self.values.keep(name, rows);
                    self.values.set(name, "tries", Some(tries.to_string()));
                }
                Ok(true)
            }
            Err(error) if error.code() == Some(SqlState::from_bytes(b"40001")) => {
                if actor.in_transaction || tries >= TRIES {
                    return Err(End::Serialization(format!("{session}: {error}")));
                }
                actor.send(Statement { sql, keep, tries: tries + 1 });
                self.tried_again.push(session);
                Ok(false)
            }
            Err(error) if error.is_lost() => Err(error.into()),
            Err(error) => Err(End::Broken(format!("{session}: {error}"))),
        }
    }

    /// Returns the sessions of the scenario whose locks this one waits for, according to the server.
    fn blockers(&mut self, session: &'static str) -> Result<Vec<&'static str>, End> {
        let pid = self.actor(session)?.pid;
        let waits = self.watcher.query(&format!(
            "select unnest(pg_blocking_pids(pid)) from pg_stat_activity where pid = {pid} and wait_event_type = 'Lock'"
        ))?;
        let pids = waits.rows.iter().filter_map(|row| row.first()?.as_deref()?.parse::<i32>().ok());
        Ok(pids.filter_map(|pid| self.actors.values().find(|actor| actor.pid == pid)).map(|actor| actor.name).collect())
    }

    /// Past the limit.
    fn hangs(&mut self, session: &'static str, what: &str) -> End {
        let after = format!("{what} after {} s", self.rules.limit.as_secs_f64());
        match self.blockers(session) {
            Ok(names) if !names.is_empty() => {
                self.give_up(session, &format!("{after}, and waits for {}", names.join(" and ")))
            }
            _ => self.give_up(session, &after),
        }
    }

    /// Cancels the statement of a session, and returns what was wrong with it.
    fn give_up(&mut self, session: &'static str, what: &str) -> End {
        let Some(actor) = self.actors.get_mut(session) else { return End::Broken(format!("{session} {what}")) };
        let sql = actor.statement.as_ref().map(|s| one_line(&s.sql)).unwrap_or_default();
        actor.stop();
        End::Broken(format!("{session} {what}: {sql}"))
    }
}

/// A session that observes the others. It must see the latest commits, and must not hang.
fn watcher(options: &ConnectOptions, rules: &ScenarioOptions) -> Result<Admin, ScenarioError> {
    let mut watcher = Admin::connect(options)?;
    watcher.execute("set default_transaction_isolation = 'read committed'")?;
    watcher.execute(&format!("set statement_timeout = {}", rules.limit.as_millis()))?;
    // The server has the limit now.
    watcher.wait_without_limit();
    Ok(watcher)
}

fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
