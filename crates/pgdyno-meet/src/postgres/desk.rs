//! A coordinator's side of a meeting, and the list of who is there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, ConnectOptions};

use super::rows::{self, AgentRow};
use super::{LOOK, Link, MeetError, PROTOCOL, bytea, transaction};
use crate::{AgentId, AgentStep, BATCH_BYTES_MAX, Coordinator, Instruction, LocalTime, MeetingEvent, RunId};

/// Returns the name of this machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The most rows that are read of a meeting. A run has at most 1,000 agents.
const AGENTS_MAX: usize = 2_000;
/// The most bytes of batches that are read at once.
const BATCHES_BYTES_MAX: usize = 2 * BATCH_BYTES_MAX;
/// Time between two looks at whether the orders are as they were written.
const REVIEW: Duration = Duration::from_secs(5);

/// Returns a condition: the agent sent a message in so many seconds. The meeting server's clock may have been set since, so that
/// this is a time to come; a time of anyone's choice does not count.
fn is_present(seconds: u32) -> String {
    format!(
        "seen_at BETWEEN clock_timestamp() - interval '{seconds} seconds' AND clock_timestamp() + interval '{seconds} seconds'"
    )
}

/// Returns the agents at a meeting that sent a message in the last minute.
///
/// # Errors
/// When the meeting database cannot be reached or used.
pub fn agents(options: &ConnectOptions) -> Result<Vec<AgentRow>, MeetError> {
    let mut link = Link::open(options)?;
    let Some(admin) = link.admin() else { return Ok(Vec::new()) };
    let rows = admin.query(&format!(
        "SELECT {} FROM pgdyno_meet.agents WHERE {} ORDER BY agent LIMIT {AGENTS_MAX}",
        rows::agent_columns(),
        is_present(60)
    ))?;
    Ok(rows.rows.iter().filter_map(|row| rows::agent(row)).collect())
}

/// An order as it is written: its step, and the batches that have arrived.
type Written = (AgentStep, u64);

/// The coordinator of a run at a meeting.
pub struct Desk {
    link: Link,
    run: RunId,
    coordinator: Coordinator,
    program: String,
    /// The orders as they are written.
    written: BTreeMap<AgentId, Written>,
    agents: BTreeMap<AgentId, AgentRow>,
    looked: Instant,
    reviewed: Instant,
    is_news: bool,
}

impl Desk {
    /// Announces a run, which waits for so many agents for some time. `what` describes it in lists.
    ///
    /// # Errors
    /// When the meeting database cannot be reached or used.
    pub fn announce(
        options: &ConnectOptions,
        program: &str,
        what: &str,
        wanted: usize,
        wait: Duration,
    ) -> Result<Self, MeetError> {
        let mut link = Link::open(options)?;
        let sql = format!(
            "INSERT INTO pgdyno_meet.runs (what, host, pid, program) VALUES ({}, {}, {}, {}) RETURNING run",
            literal(what),
            literal(&host()),
            std::process::id(),
            literal(program),
        );
        let admin = link.admin.as_mut();
        let run = admin.map(|admin| admin.query_one(&sql)).transpose()?.unwrap_or_default();
        let run = RunId(run.parse().unwrap_or_default());
        link.listen(format!("pgdyno_meet_run_{}", run.0));
        let until = link.now().after(wait.as_nanos() as u64);
        Ok(Self {
            coordinator: Coordinator::new(run, wanted, until),
            link,
            run,
            program: program.to_owned(),
            written: BTreeMap::new(),
            agents: BTreeMap::new(),
            looked: Instant::now() - LOOK,
            reviewed: Instant::now(),
            is_news: true,
        })
    }

    /// Returns why the meeting is over, if it is. The agents count as lost then.
    pub fn failure(&mut self) -> Option<MeetError> {
        self.link.failure.take()
    }

    /// Returns an agent as the meeting has it.
    #[must_use]
    pub fn agent(&self, agent: AgentId) -> Option<&AgentRow> {
        self.agents.get(&agent)
    }

    /// Returns all agents that were seen.
    pub fn agents(&self) -> impl Iterator<Item = &AgentRow> {
        self.agents.values()
    }

    /// Begins the next job, as [`Coordinator::begin`] does.
    pub fn begin(&mut self, tasks: &[Arc<[u8]>], has_start: bool, survives_loss: bool) {
        self.coordinator.begin(self.link.now(), tasks, has_start, survives_loss);
        self.is_news = true;
    }

    /// Orders the common start after some time. Returns its moment here; `None` if the meeting server's clock is not
    /// known.
    pub fn go_in(&mut self, lead: Duration) -> Option<Instant> {
        let at_ns = self.coordinator.clock().server_ns(self.link.now())? + lead.as_nanos() as u64;
        self.coordinator.go(at_ns);
        self.is_news = true;
        Some(self.link.instant(self.coordinator.clock().local(at_ns)?))
    }

    /// Returns how far the meeting server's clock may be from what this coordinator takes it for, in nanoseconds.
    #[must_use]
    pub fn clock_error_ns(&self) -> Option<u64> {
        self.coordinator.clock().error_ns(self.link.now())
    }

    /// Returns what the meeting server's clock says at a moment, in nanoseconds since 1970.
    #[must_use]
    pub fn server_ns(&self, at: Instant) -> Option<u64> {
        let tick = at.saturating_duration_since(self.link.begun).as_nanos() as u64;
        self.coordinator.clock().server_ns(LocalTime(tick))
    }

    /// Ends the job, as [`Coordinator::stop`] does.
    pub fn stop(&mut self, at_once: bool) {
        self.coordinator.stop(self.link.now(), at_once);
        self.is_news = true;
    }

    /// Waits for news for some time, reads and writes, and returns the next news.
    pub fn step(&mut self, patience: Duration) -> Option<MeetingEvent> {
        if let Some(news) = self.coordinator.news() {
            return Some(news);
        }
        let is_due = self.is_news || self.looked.elapsed() >= LOOK;
        if is_due || self.link.wait(patience) {
            self.look();
        }
        self.coordinator.tick(self.link.now());
        self.coordinator.news()
    }

    /// Releases all agents, and waits until they know it, but no longer than `patience`.
    pub fn close(mut self, patience: Duration) {
        self.coordinator.release();
        let until = Instant::now() + patience;
        loop {
            self.look();
            if self.coordinator.is_released(self.link.now()) || Instant::now() >= until {
                break;
            }
            self.link.wait(LOOK / 5);
        }
        // The rows of the run are of no more use; agents that have not read theirs leave by themselves.
        let run = self.run.0;
        let _ = self.link.ask(|admin| admin.execute(&format!("DELETE FROM pgdyno_meet.runs WHERE run = {run}")));
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        self.is_news = false;
        let orders = self.coordinator.orders();
        let (mut statements, writing) = self.writing(&orders);
        let run = self.run.0;
        let is_review = self.reviewed.elapsed() >= REVIEW;
        statements += &format!("SELECT EXISTS (SELECT FROM pgdyno_meet.runs WHERE run = {run});");
        statements += &self.asking_agents();
        statements += &self.asking_batches();
        if is_review {
            statements += &format!("SELECT agent, step, task, at_ns, acked FROM pgdyno_meet.orders WHERE run = {run};");
        }
        let sql = transaction(&statements);
        let Some(answers) = self.link.ask(|admin: &mut Admin| admin.query_all(&sql)) else {
            // What was written last may be lost with the server.
            self.written.clear();
            self.coordinator.connected(self.link.now(), false);
            if let Some(failure) = &self.link.failure {
                self.coordinator.give_up(self.link.now(), &failure.to_string());
            }
            return;
        };
        self.coordinator.connected(self.link.now(), true);
        self.written.extend(writing);
        if let Some((asked, server_ns, answered)) = self.link.sample() {
            self.coordinator.sample(asked, server_ns, answered);
        }
        let mut answers = answers.into_iter().map(|answer| answer.rows);
        let mut next = || answers.next().unwrap_or_default();
        let (there, agents, batches) = (next(), next(), next());
        if there.first().and_then(|row| row.first()?.as_deref()) == Some("f") {
            let failure = MeetError::RunDeleted { database: self.link.options.dbname().to_owned() };
            self.coordinator.give_up(self.link.now(), &failure.to_string());
            self.link.failure = Some(failure);
            return;
        }
        self.take(&agents, &batches);
        if is_review {
            self.reviewed = Instant::now();
            self.review(&next());
        }
        // What follows from the reports is said at once.
        let written = |agent| self.written.get(&agent).map(|(step, _)| step);
        self.is_news = self.coordinator.steps().any(|(agent, step)| written(agent) != Some(step));
    }

    /// Takes reports and batches.
    fn take(&mut self, agents: &[Vec<Option<String>>], batches: &[Vec<Option<String>>]) {
        let now = self.link.now();
        // Batches first: a report may say that they are the last ones.
        for (agent, number, batch) in batches.iter().filter_map(|row| rows::batch(row)) {
            self.coordinator.batch(now, agent, number, batch);
        }
        if self.agents.len() > AGENTS_MAX {
            self.agents.clear();
        }
        for (row, report) in agents.iter().filter_map(|row| rows::report(row)) {
            let is_suitable = row.program == self.program && row.protocol == PROTOCOL;
            self.agents.insert(report.agent, row);
            self.coordinator.report(now, report, is_suitable);
        }
    }

    /// Forgets having written orders that are not at the meeting as they were written, so that they are written again.
    fn review(&mut self, orders: &[Vec<Option<String>>]) {
        let found: BTreeMap<_, _> =
            orders.iter().filter_map(|row| Some((AgentId(rows::number(row, 0)?), row))).collect();
        self.written
            .retain(|agent, (step, acked)| found.get(agent).is_some_and(|row| rows::is_as_written(row, step, *acked)));
    }

    /// Returns the statements that write what is new in the orders, and what is written then.
    fn writing(&self, orders: &[(AgentId, Instruction)]) -> (String, Vec<(AgentId, Written)>) {
        let run = self.run.0;
        let mut statements = format!(
            "UPDATE pgdyno_meet.runs SET beat = {}, seen_at = clock_timestamp() WHERE run = {run};",
            self.coordinator.number()
        );
        let mut writing = Vec::new();
        for (agent, order) in orders {
            let before = self.written.get(agent);
            let state = (order.step.clone(), order.acked);
            if before == Some(&state) {
                continue;
            }
            match before {
                Some((step, _)) if *step == order.step => {
                    statements += &format!(
                        "UPDATE pgdyno_meet.orders SET acked = {} WHERE run = {run} AND agent = {};",
                        order.acked, agent.0
                    );
                }
                _ => statements += &self.order(*agent, order),
            }
            if before.is_none_or(|(_, acked)| *acked < order.acked) {
                statements += &format!(
                    "DELETE FROM pgdyno_meet.batches WHERE run = {run} AND agent = {} AND number <= {};",
                    agent.0, order.acked
                );
            }
            writing.push((*agent, state));
        }
        (statements, writing)
    }

    /// Returns the question for the agents that are there. Those of this run and of this program come first: there may be
    /// more than are read.
    fn asking_agents(&self) -> String {
        format!(
            "SELECT {}, number, task,
                    CASE WHEN run = {run} AND octet_length(result) <= {BATCH_BYTES_MAX} THEN encode(result, 'hex') END,
                    left(failure, {}), batches
             FROM pgdyno_meet.agents WHERE {}
             ORDER BY run IS NOT DISTINCT FROM {run} DESC, program = {} DESC, agent LIMIT {AGENTS_MAX};",
            rows::agent_columns(),
            rows::REASON_CHARS_MAX,
            is_present(20),
            literal(&self.program),
            run = self.run.0
        )
    }

    /// Returns the question for the batches that agents of the run have reported and that have not arrived.
    fn asking_batches(&self) -> String {
        let run = self.run.0;
        let received: Vec<_> = self.coordinator.received().map(|(agent, n)| format!("({}, {n})", agent.0)).collect();
        if received.is_empty() {
            return "SELECT WHERE false;".to_owned();
        }
        format!(
            "SELECT agent, number, encode(batch, 'hex') FROM (
                 SELECT agent, b.number, b.batch,
                        sum(octet_length(b.batch)) OVER (ORDER BY b.number, agent) AS bytes
                 FROM pgdyno_meet.batches b JOIN pgdyno_meet.agents a USING (run, agent)
                      JOIN (VALUES {}) AS m (agent, received) USING (agent)
                 WHERE run = {run} AND b.number > m.received AND b.number <= a.batches
                       AND octet_length(b.batch) <= {BATCH_BYTES_MAX}
             ) unread WHERE bytes <= {BATCHES_BYTES_MAX} ORDER BY number, agent;",
            received.join(", ")
        )
    }

    /// Returns the statements that write an order and wake its agent.
    fn order(&self, agent: AgentId, order: &Instruction) -> String {
        fn or_null<T: ToString>(value: Option<T>) -> String {
            value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
        }
        let (step, nth, at_ns) = rows::order_columns(&order.step);
        let payload = match &order.step {
            AgentStep::Do { task, .. } => Some(bytea(task)),
            _ => None,
        };
        format!(
            "INSERT INTO pgdyno_meet.orders (run, agent, step, task, payload, at_ns, acked)
             SELECT {run}, {agent}, '{step}', {}, {}, {}, {}
             WHERE EXISTS (SELECT FROM pgdyno_meet.agents WHERE agent = {agent})
                   AND EXISTS (SELECT FROM pgdyno_meet.runs WHERE run = {run})
             ON CONFLICT (agent, run) DO UPDATE SET step = excluded.step, task = excluded.task,
                 payload = excluded.payload, at_ns = excluded.at_ns, acked = excluded.acked;
             NOTIFY pgdyno_meet_agent_{agent};",
            or_null(nth),
            or_null(payload),
            or_null(at_ns),
            order.acked,
            run = self.run.0,
            agent = agent.0,
        )
    }
}
