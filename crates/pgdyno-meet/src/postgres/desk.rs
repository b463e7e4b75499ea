//! A coordinator's side of a meeting, and the list of who is there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgdyno_net::quote::literal;
use pgdyno_net::{Admin, ConnectOptions};

use super::{LOOK, Link, MeetError, PROTOCOL, bytea, number, transaction, unhex};
use crate::{AgentId, Coordinator, News, Order, Report, RunId, State, Step, Tick};

/// An agent as the meeting has it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    /// Its number.
    pub agent: u64,
    /// Its machine.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// The version of its program.
    pub program: String,
    /// The version of what it says.
    pub protocol: u32,
    /// CPUs that it may use.
    pub cpus: usize,
    /// The run that it serves.
    pub run: Option<u64>,
    /// What it does, in a word.
    pub state: String,
    /// How far its idea of the meeting server's clock may be off, in microseconds.
    pub clock_error_us: Option<u64>,
    /// Seconds since it was heard.
    pub silent_s: f64,
}

/// Returns the name of this machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

const AGENT: &str = "agent, host, pid, program, protocol, cpus, run, state, clock_error_us,
    extract(epoch FROM clock_timestamp() - seen_at)";

fn agent_row(row: &[Option<String>]) -> Option<AgentRow> {
    Some(AgentRow {
        agent: number(row, 0)?,
        host: row.get(1)?.clone()?,
        pid: number(row, 2)?,
        program: row.get(3)?.clone()?,
        protocol: number(row, 4)?,
        cpus: number(row, 5)?,
        run: number(row, 6),
        state: row.get(7)?.clone()?,
        clock_error_us: number(row, 8),
        silent_s: number(row, 9)?,
    })
}

/// Returns the agents at a meeting that were heard in the last minute.
///
/// # Errors
/// When the meeting database cannot be reached or used.
pub fn agents(options: &ConnectOptions) -> Result<Vec<AgentRow>, MeetError> {
    let mut link = Link::open(options)?;
    let Some(admin) = link.admin() else { return Ok(Vec::new()) };
    let rows = admin.query(&format!(
        "SELECT {AGENT} FROM pgdyno_meet.agents WHERE seen_at > clock_timestamp() - interval '1 minute' ORDER BY agent"
    ))?;
    Ok(rows.rows.iter().filter_map(|row| agent_row(row)).collect())
}

/// The coordinator of a run at a meeting.
pub struct Desk {
    link: Link,
    run: RunId,
    coordinator: Coordinator,
    program: String,
    /// The orders as they are written.
    written: BTreeMap<AgentId, (Step, u64)>,
    agents: BTreeMap<AgentId, AgentRow>,
    looked: Instant,
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
            is_news: true,
        })
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
        self.coordinator.clock().server_ns(Tick(tick))
    }

    /// Ends the job, as [`Coordinator::stop`] does.
    pub fn stop(&mut self, at_once: bool) {
        self.coordinator.stop(self.link.now(), at_once);
        self.is_news = true;
    }

    /// Waits for news for some time, reads and writes, and returns the next news.
    pub fn step(&mut self, patience: Duration) -> Option<News> {
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
        let run = self.run.0;
        let mut statements =
            format!("UPDATE pgdyno_meet.runs SET beat = beat + 1, seen_at = clock_timestamp() WHERE run = {run};");
        let mut writing = Vec::new();
        for (agent, order) in &orders {
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
                _ => statements += &self.writing(*agent, order),
            }
            if before.is_none_or(|(_, acked)| *acked < order.acked) {
                statements += &format!(
                    "DELETE FROM pgdyno_meet.batches WHERE run = {run} AND agent = {} AND number <= {};",
                    agent.0, order.acked
                );
            }
            writing.push((*agent, state));
        }
        let asked = format!(
            "SELECT {AGENT}, number, task, encode(result, 'hex'), failure, batches FROM pgdyno_meet.agents
             WHERE seen_at > clock_timestamp() - interval '20 seconds' ORDER BY agent;
             SELECT agent, number, encode(batch, 'hex') FROM pgdyno_meet.batches WHERE run = {run} ORDER BY agent, number;"
        );
        let sql = transaction(&format!("{statements} {asked}"));
        let Some(answers) = self.link.ask(|admin: &mut Admin| admin.query_all(&sql)) else {
            // What was written last may be lost with the server.
            self.written.clear();
            return self.coordinator.connected(self.link.now(), false);
        };
        self.coordinator.connected(self.link.now(), true);
        self.written.extend(writing);
        if let Some((asked, server_ns, answered)) = self.link.sample() {
            self.coordinator.sample(asked, server_ns, answered);
        }
        let now = self.link.now();
        let mut answers = answers.into_iter();
        let (agents, batches) = (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        // Batches first: a report may say that they are the last ones.
        for row in &batches.rows {
            if let (Some(agent), Some(number), Some(batch)) = (number(row, 0), number(row, 1), row[2].as_deref()) {
                self.coordinator.batch(now, AgentId(agent), number, unhex(batch).into());
            }
        }
        for row in &agents.rows {
            if let Some((row, report)) = report(row) {
                let is_suitable = row.program == self.program && row.protocol == PROTOCOL;
                self.agents.insert(report.agent, row);
                self.coordinator.report(now, report, is_suitable);
            }
        }
        // What follows from the reports is said at once.
        let written = |agent| self.written.get(&agent).map(|(step, _)| step);
        self.is_news = self.coordinator.steps().any(|(agent, step)| written(agent) != Some(step));
    }

    /// Returns the statements that write an order and wake its agent.
    fn writing(&self, agent: AgentId, order: &Order) -> String {
        let null = || "NULL".to_owned();
        let (step, nth, payload, at_ns) = match &order.step {
            Step::Claim => ("claim", None, None, None),
            Step::Do { nth, task } => ("do", Some(*nth), Some(task), None),
            Step::Go { nth, at_ns } => ("go", Some(*nth), None, Some(*at_ns)),
            Step::Stop { nth, at_once: false } => ("stop", Some(*nth), None, None),
            Step::Stop { nth, at_once: true } => ("stop at once", Some(*nth), None, None),
            Step::Release => ("release", None, None, None),
        };
        format!(
            "INSERT INTO pgdyno_meet.orders (run, agent, step, task, payload, at_ns, acked)
             SELECT {}, {agent}, '{step}', {}, {}, {}, {}
             WHERE EXISTS (SELECT FROM pgdyno_meet.agents WHERE agent = {agent})
             ON CONFLICT (agent, run) DO UPDATE SET step = excluded.step, task = excluded.task,
                 payload = excluded.payload, at_ns = excluded.at_ns, acked = excluded.acked;
             NOTIFY pgdyno_meet_agent_{agent};",
            self.run.0,
            nth.map_or_else(null, |nth| nth.to_string()),
            payload.map_or_else(null, |payload| bytea(payload)),
            at_ns.map_or_else(null, |at| at.to_string()),
            order.acked,
            agent = agent.0,
        )
    }
}

/// Reads an agent and its report.
fn report(row: &[Option<String>]) -> Option<(AgentRow, Report)> {
    let agent = agent_row(row)?;
    let nth = || number(row, 11);
    let state = match agent.state.as_str() {
        "preparing" => State::Doing { nth: nth()? },
        "ready" => State::Ready { nth: nth()? },
        "running" => State::Started { nth: nth()? },
        "done" => State::Did { nth: nth()?, result: Ok(unhex(row.get(12)?.as_deref().unwrap_or_default())) },
        "failed" => State::Did { nth: nth()?, result: Err(row.get(13)?.clone().unwrap_or_default()) },
        _ => State::Idle,
    };
    let report = Report {
        agent: AgentId(agent.agent),
        number: number(row, 10)?,
        run: agent.run.map(RunId),
        state,
        batches: number(row, 14)?,
    };
    Some((agent, report))
}
