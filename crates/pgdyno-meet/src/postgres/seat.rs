//! An agent's side of a meeting.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, ConnectOptions};

use super::rows::{self, Row, Task};
use super::{LOOK, Link, MeetError, PROTOCOL, bytea, schema, transaction};
use crate::{Action, Agent, AgentId, AgentState, BEAT_NS, LocalTime, Report, RunId, TASK_BYTES_MAX};

/// The most orders that are read: an agent serves one run, and a few more may want it.
const ORDERS_MAX: usize = 100;

/// What an agent's user should know of its meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentNotice {
    /// The meeting server does not answer, with the reason. It is asked again and again.
    Unreachable(String),
    /// It answers again.
    Reached,
    /// The agent's row was deleted, and it has joined again with another number.
    JoinedAgain(u64),
}

/// An agent at a meeting.
pub struct Seat {
    link: Link,
    id: AgentId,
    agent: Agent,
    program: String,
    cpus: usize,
    /// Whether its row is gone.
    is_forgotten: bool,
    notices: VecDeque<AgentNotice>,
    /// Whether the user knows that the meeting server does not answer.
    is_reported: bool,
    /// Number of the last batch that was written.
    written: u64,
    /// The last task whose payload was read.
    task: Option<Task>,
    looked: Instant,
    said: Option<(Option<RunId>, AgentState)>,
    said_at: LocalTime,
    is_news: bool,
}

impl Seat {
    /// Joins a meeting.
    ///
    /// # Errors
    /// When the meeting database cannot be reached or used.
    pub fn join(options: &ConnectOptions, program: &str, cpus: usize) -> Result<Self, MeetError> {
        let mut link = Link::open(options)?;
        let admin = link.admin.as_mut().ok_or_else(|| MeetError::from(silent(options)))?;
        // Agents and runs that sent nothing for a day are of machines that are gone.
        let of_a_day =
            "seen_at NOT BETWEEN clock_timestamp() - interval '1 day' AND clock_timestamp() + interval '1 day'";
        admin.execute(&format!(
            "DELETE FROM pgdyno_meet.agents WHERE {of_a_day}; DELETE FROM pgdyno_meet.runs WHERE {of_a_day}"
        ))?;
        let id = register(admin, program, cpus)?;
        link.listen(channel(id));
        Ok(Self {
            link,
            id,
            agent: Agent::new(id),
            program: program.to_owned(),
            cpus,
            is_forgotten: false,
            notices: VecDeque::new(),
            is_reported: false,
            written: 0,
            task: None,
            looked: Instant::now() - LOOK,
            said: None,
            said_at: LocalTime(0),
            is_news: true,
        })
    }

    /// Returns the agent's number at the meeting.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id.0
    }

    /// Returns the run that it serves.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        self.agent.run()
    }

    /// Returns the moment of a start.
    #[must_use]
    pub fn instant(&self, tick: LocalTime) -> Instant {
        self.link.instant(tick)
    }

    /// Returns how far the meeting server's clock may be from what this agent takes it for, in nanoseconds.
    #[must_use]
    pub fn clock_error_ns(&self) -> Option<u64> {
        self.agent.clock().error_ns(self.link.now())
    }

    /// Returns what the meeting server's clock says at a moment, in nanoseconds since 1970.
    #[must_use]
    pub fn server_ns(&self, at: Instant) -> Option<u64> {
        let tick = at.saturating_duration_since(self.link.begun).as_nanos() as u64;
        self.agent.clock().server_ns(LocalTime(tick))
    }

    /// Notes that the program is ready for the common start of this task.
    pub fn ready(&mut self, nth: u32) {
        self.agent.ready(nth);
        self.is_news = true;
    }

    /// Takes a batch for the coordinator.
    pub fn batch(&mut self, nth: u32, batch: Vec<u8>) {
        self.agent.batch(nth, batch.into());
        self.is_news = true;
    }

    /// Notes that the program has ended the task.
    pub fn did(&mut self, nth: u32, result: Result<Vec<u8>, String>) {
        self.agent.did(nth, result);
        self.is_news = true;
    }

    /// Returns what its user should know.
    pub fn notice(&mut self) -> Option<AgentNotice> {
        self.notices.pop_front()
    }

    /// Waits for news for some time, reads and writes, and returns what to do next.
    ///
    /// # Errors
    /// When the meeting is over: its schema is gone, or the role has lost its rights.
    pub fn step(&mut self, patience: Duration) -> Result<Option<Action>, MeetError> {
        if let Some(action) = self.agent.action() {
            return Ok(Some(action));
        }
        let is_due = self.is_news || self.looked.elapsed() >= LOOK;
        if is_due || self.link.wait(patience) {
            self.look()?;
            self.report_silence();
        }
        self.agent.tick(self.link.now());
        Ok(self.agent.action())
    }

    /// Reports once that the meeting server does not answer, and once that it does again.
    fn report_silence(&mut self) {
        match (&self.link.outage, self.is_reported) {
            (Some(why), false) => self.notices.push_back(AgentNotice::Unreachable(why.clone())),
            (None, true) => self.notices.push_back(AgentNotice::Reached),
            _ => {}
        }
        self.is_reported = self.link.outage.is_some();
    }

    fn look(&mut self) -> Result<(), MeetError> {
        self.looked = Instant::now();
        self.is_news = false;
        if self.is_forgotten && self.agent.run().is_none() {
            self.join_again()?;
        }
        let now = self.link.now();
        let report = self.agent.report();
        let said = (report.run, report.state.clone());
        let batches: Vec<_> = self.agent.batches().filter(|(number, _)| *number > self.written).collect();
        let changed = self.said.as_ref() != Some(&said);
        let is_said = changed || now.since(self.said_at) >= BEAT_NS || report.batches > self.written;
        let mut statements = if is_said { self.saying(&report) } else { String::new() };
        if let Some(run) = report.run {
            for (number, batch) in &batches {
                // Another program may have written a row of this number.
                statements += &format!(
                    "INSERT INTO pgdyno_meet.batches SELECT {run}, {}, {number}, {}
                     WHERE EXISTS (SELECT FROM pgdyno_meet.runs WHERE run = {run})
                     ON CONFLICT (run, agent, number) DO UPDATE SET batch = excluded.batch;",
                    self.id.0,
                    bytea(batch),
                    run = run.0,
                );
            }
            if changed || !batches.is_empty() {
                statements += &format!("NOTIFY pgdyno_meet_run_{};", run.0);
            }
        }
        let sql = transaction(&format!("{statements} {}", self.asking()));
        let Some(answers) = self.link.ask(|admin: &mut Admin| admin.query_all(&sql)) else {
            // What was written last may be lost with the server.
            self.written = 0;
            self.said = None;
            self.agent.connected(self.link.now(), false);
            return self.link.failure.take().map_or(Ok(()), Err);
        };
        self.agent.connected(self.link.now(), true);
        if is_said {
            self.said = Some(said);
            self.said_at = now;
        }
        self.written = match report.run {
            None => 0,
            Some(_) => batches.last().map_or(self.written, |(number, _)| *number),
        };
        if let Some((asked, server_ns, answered)) = self.link.sample() {
            self.agent.sample(asked, server_ns, answered);
        }
        let mut answers = answers.into_iter().map(|answer| answer.rows);
        let there = answers.next().unwrap_or_default();
        if there.first().and_then(|row| row.first()?.as_deref()) == Some("f") {
            self.is_forgotten = true;
            self.agent.forgotten();
        }
        for row in answers.next().unwrap_or_default() {
            self.take(&row);
        }
        // What follows from the orders is said at once.
        self.is_news = self.is_forgotten || (self.agent.run(), self.agent.state()) != (report.run, &report.state);
        Ok(())
    }

    /// Takes an order.
    fn take(&mut self, row: &Row) {
        if let Some(order) = rows::order(row, &mut self.task) {
            self.agent.order(self.link.now(), &order);
        }
    }

    /// Joins with another number: the row of the one before is gone, and with it all orders.
    fn join_again(&mut self) -> Result<(), MeetError> {
        let (program, cpus) = (self.program.clone(), self.cpus);
        let options = self.link.options.clone();
        let joined =
            self.link.ask(|admin| Ok(schema::admit(admin, &options).and_then(|()| register(admin, &program, cpus))));
        let Some(joined) = joined else { return self.link.failure.take().map_or(Ok(()), Err) };
        self.id = joined?;
        self.link.listen(channel(self.id));
        let agent = std::mem::replace(&mut self.agent, Agent::new(self.id));
        self.agent = agent.with_id(self.id);
        (self.is_forgotten, self.said, self.written) = (false, None, 0);
        self.notices.push_back(AgentNotice::JoinedAgain(self.id.0));
        Ok(())
    }

    /// Returns the questions whether the agent's row is there, and for its orders: those of the run that it serves, and
    /// of runs of its own program that may want it.
    fn asking(&self) -> String {
        let serving = self.agent.run().map_or_else(|| "NULL".to_owned(), |run| run.0.to_string());
        let known = self.task.as_ref().map_or((0, 0), |(run, nth, _)| (*run, *nth));
        format!(
            "SELECT EXISTS (SELECT FROM pgdyno_meet.agents WHERE agent = {id});
             SELECT o.run, r.beat, o.step, o.task, o.at_ns, o.acked,
                    CASE WHEN o.step = 'do' AND o.run = {serving} AND (o.run, o.task) IS DISTINCT FROM ({}, {})
                              AND octet_length(o.payload) <= {TASK_BYTES_MAX} THEN encode(o.payload, 'hex') END
             FROM pgdyno_meet.orders o JOIN pgdyno_meet.runs r USING (run)
             WHERE o.agent = {id} AND r.program = {}
             ORDER BY o.run IS NOT DISTINCT FROM {serving} DESC, o.run LIMIT {ORDERS_MAX};",
            known.0,
            known.1,
            literal(&self.program),
            id = self.id.0,
        )
    }

    /// Returns the statement that says what the agent does. It says all of it: another program may have changed the row.
    fn saying(&self, report: &Report) -> String {
        let null = || "NULL".to_owned();
        let (result, failure) = match &report.state {
            AgentState::Did { result: Ok(result), .. } => (bytea(result), null()),
            AgentState::Did { result: Err(why), .. } => (null(), literal(&cut(why).replace('\0', " "))),
            _ => (null(), null()),
        };
        format!(
            "UPDATE pgdyno_meet.agents SET number = {}, run = {}, state = {}, task = {}, result = {result},
                    failure = {failure}, batches = {}, clock_error_us = {}, seen_at = clock_timestamp()
             WHERE agent = {};",
            report.number,
            report.run.map_or_else(null, |run| run.0.to_string()),
            literal(report.state.name()),
            report.state.nth().map_or_else(null, |nth| nth.to_string()),
            report.batches,
            self.clock_error_ns().map_or_else(null, |ns| (ns / 1000).to_string()),
            self.id.0
        )
    }

    /// Leaves the meeting. An agent that serves no run is no longer listed; of another one the coordinator may not
    /// know yet how it ended.
    pub fn leave(mut self) {
        if self.agent.run().is_some() {
            return;
        }
        let id = self.id.0;
        // If the server cannot be reached, the row is out of date soon.
        let _ = self.link.ask(|admin| admin.execute(&format!("DELETE FROM pgdyno_meet.agents WHERE agent = {id}")));
    }
}

/// The error of a connection that was lost as soon as it was made.
fn silent(options: &ConnectOptions) -> pgdyno_net::AdminError {
    pgdyno_net::AdminError::Interrupted { peer: options.to_string(), command: "SELECT".to_owned() }
}

/// Joins a meeting: writes a row of this process. Returns its number.
fn register(admin: &mut Admin, program: &str, cpus: usize) -> Result<AgentId, MeetError> {
    let id = admin.query_one(&format!(
        "INSERT INTO pgdyno_meet.agents (host, pid, program, protocol, cpus)
         VALUES ({}, {}, {}, {PROTOCOL}, {cpus}) RETURNING agent",
        literal(&super::desk::host()),
        std::process::id(),
        literal(program),
    ))?;
    Ok(AgentId(id.parse().unwrap_or_default()))
}

/// Returns the channel on which an agent is woken.
fn channel(id: AgentId) -> String {
    format!("pgdyno_meet_agent_{}", id.0)
}

/// Returns the beginning of a reason that coordinators read.
fn cut(why: &str) -> &str {
    why.char_indices().nth(rows::REASON_CHARS_MAX).map_or(why, |(end, _)| &why[..end])
}
