//! An agent's side of a meeting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, ConnectOptions};

use super::{LOOK, Link, MeetError, PROTOCOL, bytea, number, transaction, unhex};
use crate::{Action, Agent, AgentId, BEAT_NS, Order, RunId, State, Step, Tick};

/// An agent at a meeting.
pub struct Seat {
    link: Link,
    id: AgentId,
    agent: Agent,
    /// Number of the last batch that was written.
    written: u64,
    /// The last task whose payload was read.
    task: Option<(u64, u32, Arc<[u8]>)>,
    looked: Instant,
    said: Option<(Option<RunId>, State)>,
    said_at: Tick,
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
        // What nobody has looked at for a day is of machines that are gone.
        admin.execute(
            "DELETE FROM pgdyno_meet.agents WHERE seen_at < clock_timestamp() - interval '1 day';
             DELETE FROM pgdyno_meet.runs WHERE seen_at < clock_timestamp() - interval '1 day'",
        )?;
        let id = admin.query_one(&format!(
            "INSERT INTO pgdyno_meet.agents (host, pid, program, protocol, cpus)
             VALUES ({}, {}, {}, {PROTOCOL}, {cpus}) RETURNING agent",
            literal(&super::desk::host()),
            std::process::id(),
            literal(program),
        ))?;
        let id = AgentId(id.parse().unwrap_or_default());
        link.listen(format!("pgdyno_meet_agent_{}", id.0));
        let looked = Instant::now() - LOOK;
        let agent = Agent::new(id);
        let said_at = Tick(0);
        Ok(Self { link, id, agent, written: 0, task: None, looked, said: None, said_at, is_news: true })
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
    pub fn instant(&self, tick: Tick) -> Instant {
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
        self.agent.clock().server_ns(Tick(tick))
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

    /// Waits for news for some time, reads and writes, and returns what to do next.
    pub fn step(&mut self, patience: Duration) -> Option<Action> {
        if let Some(action) = self.agent.action() {
            return Some(action);
        }
        let is_due = self.is_news || self.looked.elapsed() >= LOOK;
        if is_due || self.link.wait(patience) {
            self.look();
        }
        self.agent.tick(self.link.now());
        self.agent.action()
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        self.is_news = false;
        let now = self.link.now();
        let report = self.agent.report();
        let said = (report.run, report.state.clone());
        let changed = self.said.as_ref() != Some(&said);
        let mut statements = String::new();
        if changed || now.since(self.said_at) >= BEAT_NS || report.batches > self.written {
            statements += &self.saying(&report, changed);
        }
        let batches: Vec<_> = self.agent.batches().filter(|(number, _)| *number > self.written).collect();
        if let Some(run) = report.run {
            for (number, batch) in &batches {
                statements += &format!(
                    "INSERT INTO pgdyno_meet.batches VALUES ({}, {}, {number}, {}) ON CONFLICT DO NOTHING;",
                    run.0,
                    self.id.0,
                    bytea(batch)
                );
            }
            if changed || !batches.is_empty() {
                statements += &format!("NOTIFY pgdyno_meet_run_{};", run.0);
            }
        }
        let known = self.task.as_ref().map_or((0, 0), |(run, nth, _)| (*run, *nth));
        let asked = format!(
            "SELECT o.run, r.beat, o.step, o.task, o.at_ns, o.acked,
                    CASE WHEN o.step = 'do' AND (o.run, o.task) IS DISTINCT FROM ({}, {}) THEN encode(o.payload, 'hex') END
             FROM pgdyno_meet.orders o JOIN pgdyno_meet.runs r USING (run)
             WHERE o.agent = {} ORDER BY o.run;",
            known.0, known.1, self.id.0
        );
        let sql = transaction(&format!("{statements} {asked}"));
        let Some(rows) = self.link.ask(|admin: &mut Admin| admin.query_all(&sql)) else {
            // What was written last may be lost with the server.
            self.written = 0;
            self.said = None;
            return self.agent.connected(self.link.now(), false);
        };
        self.agent.connected(self.link.now(), true);
        if !statements.is_empty() {
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
        for row in rows.into_iter().flat_map(|rows| rows.rows) {
            if let Some(order) = self.order(&row) {
                self.agent.order(self.link.now(), &order);
            }
        }
        // What follows from the orders is said at once.
        self.is_news = (self.agent.run(), self.agent.state()) != (report.run, &report.state);
    }

    /// Returns the statement that says what the agent does.
    fn saying(&self, report: &crate::Report, changed: bool) -> String {
        let null = || "NULL".to_owned();
        let (result, failure) = match &report.state {
            State::Did { result: Ok(result), .. } => (bytea(result), null()),
            State::Did { result: Err(why), .. } => (null(), literal(why)),
            _ => (null(), null()),
        };
        let state = if changed {
            format!(
                "run = {}, state = {}, task = {}, result = {result}, failure = {failure},",
                report.run.map_or_else(null, |run| run.0.to_string()),
                literal(report.state.name()),
                report.state.nth().map_or_else(null, |nth| nth.to_string()),
            )
        } else {
            String::new()
        };
        let error = self.clock_error_ns().map_or_else(null, |ns| (ns / 1000).to_string());
        format!(
            "UPDATE pgdyno_meet.agents SET number = {}, {state} batches = {}, clock_error_us = {error},
                    seen_at = clock_timestamp() WHERE agent = {};",
            report.number, report.batches, self.id.0
        )
    }

    /// Reads an order. Its number is the run's beat, which rises with each.
    fn order(&mut self, row: &[Option<String>]) -> Option<Order> {
        let run: u64 = number(row, 0)?;
        let nth: Option<u32> = number(row, 3);
        let step = match row.get(2)?.as_deref()? {
            "claim" => Step::Claim,
            "release" => Step::Release,
            "do" => {
                if let Some(payload) = row.get(6)?.as_deref() {
                    self.task = Some((run, nth?, unhex(payload).into()));
                }
                let (_, _, task) = self.task.as_ref().filter(|(of, task, _)| (*of, Some(*task)) == (run, nth))?;
                Step::Do { nth: nth?, task: Arc::clone(task) }
            }
            "go" => Step::Go { nth: nth?, at_ns: number(row, 4)? },
            "stop" => Step::Stop { nth: nth?, at_once: false },
            "stop at once" => Step::Stop { nth: nth?, at_once: true },
            _ => return None,
        };
        Some(Order { run: RunId(run), number: number(row, 1)?, step, acked: number(row, 5)? })
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
