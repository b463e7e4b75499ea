//! One agent: a state machine without IO.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::{
    AgentId, AgentState, AgentStep, BATCH_BYTES_MAX, ClockOffset, Instruction, LEASE_NS, LocalTime, OUTAGE_NS, Report,
    RunId, START_NS_MAX,
};

/// Runs that an agent remembers.
const PAST_RUNS_MAX: usize = 1_000;

/// What the agent's program does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Do a task; in the end call [`Agent::did`].
    Do {
        /// Number of the task.
        nth: u32,
        /// What to do.
        task: Arc<[u8]>,
    },
    /// Begin the task at this moment.
    Begin {
        /// Number of the task.
        nth: u32,
        /// The moment.
        at: LocalTime,
    },
    /// End the task.
    Stop {
        /// Number of the task.
        nth: u32,
        /// Whether work in progress is given up.
        at_once: bool,
    },
    /// A run has released the agent.
    Released,
}

/// An agent at a meeting.
#[derive(Debug)]
pub struct Agent {
    id: AgentId,
    number: u64,
    clock: ClockOffset,
    serving: Option<Serving>,
    /// Number of the last order of each run that it has left. The orders of a coordinator that is gone stay at the meeting
    /// and would claim it again.
    past: BTreeMap<RunId, u64>,
    actions: VecDeque<Action>,
    /// When the meeting server was lost.
    cut_off: Option<LocalTime>,
}

/// The run that an agent serves.
#[derive(Debug)]
struct Serving {
    run: RunId,
    state: AgentState,
    /// Number of the last order.
    order: u64,
    last_message: LocalTime,
    /// The last task that was begun. The program works on it until it has called [`Agent::did`].
    last: u32,
    is_working: bool,
    /// How the program was asked to stop it: at once, or not.
    stopping: Option<bool>,
    /// Why the task counts as failed, whatever its program says.
    failed: Option<String>,
    /// Steps of the server's clock that were known when the task was ready.
    steps_when_ready: u64,
    /// The moment of the start, until a round trip after it has shown that the clock was not set meanwhile.
    unproven: Option<LocalTime>,
    /// Whether the agent is to be free as soon as its program has ended the task.
    leaving: bool,
    /// Batches that are not acknowledged, the first with this number.
    batches: VecDeque<Arc<[u8]>>,
    first: u64,
}

impl Agent {
    /// Returns an agent that is free.
    #[must_use]
    pub fn new(id: AgentId) -> Self {
        Self {
            id,
            number: 0,
            clock: ClockOffset::default(),
            serving: None,
            past: BTreeMap::new(),
            actions: VecDeque::new(),
            cut_off: None,
        }
    }

    /// Returns the same agent with another id, which the meeting gave it: the row of the one before is gone. It must be
    /// free.
    #[must_use]
    pub fn with_id(self, id: AgentId) -> Self {
        Self { id, number: 0, ..self }
    }

    /// Returns the meeting server's clock.
    #[must_use]
    pub fn clock(&self) -> &ClockOffset {
        &self.clock
    }

    /// Returns the run that it serves.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        self.serving.as_ref().map(|serving| serving.run)
    }

    /// Returns what it does.
    #[must_use]
    pub fn state(&self) -> &AgentState {
        self.serving.as_ref().map_or(&AgentState::Idle, |serving| &serving.state)
    }

    /// Returns its state, to be said to all.
    pub fn report(&mut self) -> Report {
        self.number += 1;
        let serving = self.serving.as_ref();
        Report {
            agent: self.id,
            number: self.number,
            run: serving.map(|serving| serving.run),
            state: serving.map_or(AgentState::Idle, |serving| serving.state.clone()),
            batches: serving.map_or(0, |serving| serving.first + serving.batches.len() as u64 - 1),
        }
    }

    /// Returns the batches that are not acknowledged, with their numbers.
    pub fn batches(&self) -> impl Iterator<Item = (u64, Arc<[u8]>)> {
        let kept = self.serving.iter().flat_map(|serving| (serving.first..).zip(&serving.batches));
        kept.map(|(number, batch)| (number, Arc::clone(batch)))
    }

    /// Returns what to do next.
    pub fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Takes a round trip to the meeting server, as [`ClockOffset::sample`] does.
    pub fn sample(&mut self, asked: LocalTime, server_ns: u64, answered: LocalTime) {
        self.clock.sample(asked, server_ns, answered);
        let steps = self.clock.steps();
        let Some(serving) = &mut self.serving else { return };
        if serving.unproven.is_some_and(|begun| asked >= begun) {
            serving.unproven = None;
            if steps != serving.steps_when_ready {
                serving.fail("the meeting server's clock was set while the run was about to begin", &mut self.actions);
            }
        }
    }

    /// Notes that the meeting server was lost, or is there again.
    pub fn connected(&mut self, now: LocalTime, is_connected: bool) {
        if is_connected {
            // The coordinator may have been cut off, too.
            if let (Some(_), Some(serving)) = (self.cut_off.take(), &mut self.serving) {
                serving.last_message = now;
            }
        } else {
            self.cut_off.get_or_insert(now);
        }
    }

    /// Takes an order.
    pub fn order(&mut self, now: LocalTime, order: &Instruction) {
        match &mut self.serving {
            None => {
                // A released agent has nothing to begin with, and an order that it had before is no sign of life.
                let is_new = self.past.get(&order.run).is_none_or(|before| *before < order.number);
                if order.step == AgentStep::Claim && is_new {
                    self.serving = Some(Serving::new(order, now));
                }
            }
            Some(serving) if serving.run == order.run && serving.order < order.number && !serving.leaving => {
                serving.last_message = now;
                serving.order = order.number;
                serving.acknowledge(order.acked);
                match &order.step {
                    AgentStep::Claim => {}
                    AgentStep::Do { nth, task } => serving.begin(*nth, task, &self.clock, &mut self.actions),
                    AgentStep::Go { nth, at_ns } => serving.go(*nth, *at_ns, now, &self.clock, &mut self.actions),
                    AgentStep::Stop { nth, at_once } if *nth >= serving.last => {
                        // A task that has not arrived will not be begun.
                        if *nth > serving.last && !serving.is_working {
                            serving.last = *nth;
                            serving.state =
                                AgentState::Did { nth: *nth, result: Err("it was stopped before it began".to_owned()) };
                        }
                        serving.stop(*at_once, &mut self.actions);
                    }
                    AgentStep::Stop { .. } => {}
                    AgentStep::Release => self.leave(true),
                }
            }
            Some(_) => {}
        }
    }

    /// Notes that its row is gone from the meeting: no coordinator receives its messages any more.
    pub fn forgotten(&mut self) {
        self.leave(true);
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: LocalTime) {
        let Some(serving) = &self.serving else { return };
        let is_lost = match self.cut_off {
            Some(since) => now.since(since) > OUTAGE_NS,
            None => now.since(serving.last_message) > LEASE_NS,
        };
        if is_lost {
            self.leave(false);
        }
    }

    /// Notes that the program is ready for the common start of this task.
    pub fn ready(&mut self, nth: u32) {
        let steps = self.clock.steps();
        if let Some(serving) = self.serving.as_mut().filter(|serving| serving.state == AgentState::Doing { nth }) {
            serving.state = AgentState::Ready { nth };
            serving.steps_when_ready = steps;
        }
    }

    /// Takes a batch of the task for the coordinator. The task fails if it is too large for the meeting.
    pub fn batch(&mut self, nth: u32, batch: Arc<[u8]>) {
        let Some(serving) = self.serving.as_mut().filter(|serving| serving.is_working && serving.last == nth) else {
            return;
        };
        match too_large(&batch) {
            None => serving.batches.push_back(batch),
            Some(why) => serving.fail(&why, &mut self.actions),
        }
    }

    /// Notes that the program has ended the task.
    pub fn did(&mut self, nth: u32, result: Result<Vec<u8>, String>) {
        let Some(serving) = self.serving.as_mut().filter(|serving| serving.last == nth) else { return };
        serving.is_working = false;
        serving.unproven = None;
        let result = serving.failed.take().map_or(result, Err);
        let result = result.and_then(|result| too_large(&result).map_or(Ok(result), Err));
        serving.state = AgentState::Did { nth, result };
        if serving.leaving {
            self.free();
        }
    }

    /// Ends the service of the run: after the task, if there is one in progress. Work that nobody waits for is given up.
    fn leave(&mut self, at_once: bool) {
        let Some(serving) = &mut self.serving else { return };
        serving.leaving = true;
        if serving.is_working {
            serving.stop(at_once, &mut self.actions);
        } else {
            self.free();
        }
    }

    fn free(&mut self) {
        if let Some(serving) = self.serving.take() {
            self.past.insert(serving.run, serving.order);
            if self.past.len() > PAST_RUNS_MAX {
                self.past.pop_first();
            }
        }
        self.actions.push_back(Action::Released);
    }
}

/// Returns why bytes cannot be sent, if they cannot.
fn too_large(bytes: &[u8]) -> Option<String> {
    let most = BATCH_BYTES_MAX;
    (bytes.len() > most)
        .then(|| format!("it has {} bytes to send at once, and a meeting takes at most {most}", bytes.len()))
}

impl Serving {
    fn new(order: &Instruction, now: LocalTime) -> Self {
        Self {
            run: order.run,
            state: AgentState::Idle,
            order: order.number,
            last_message: now,
            last: 0,
            is_working: false,
            stopping: None,
            failed: None,
            steps_when_ready: 0,
            unproven: None,
            leaving: false,
            batches: VecDeque::new(),
            first: 1,
        }
    }

    fn acknowledge(&mut self, acked: u64) {
        while self.first <= acked && self.batches.pop_front().is_some() {
            self.first += 1;
        }
    }

    fn begin(&mut self, nth: u32, task: &Arc<[u8]>, clock: &ClockOffset, actions: &mut VecDeque<Action>) {
        if nth <= self.last || self.is_working {
            return;
        }
        self.last = nth;
        self.is_working = true;
        self.stopping = None;
        self.failed = None;
        self.steps_when_ready = clock.steps();
        self.unproven = None;
        self.state = AgentState::Doing { nth };
        actions.push_back(Action::Do { nth, task: Arc::clone(task) });
    }

    fn go(&mut self, nth: u32, at_ns: u64, now: LocalTime, clock: &ClockOffset, actions: &mut VecDeque<Action>) {
        if self.state != (AgentState::Ready { nth }) || self.stopping.is_some() {
            return;
        }
        self.state = AgentState::Started { nth };
        match clock.local(at_ns) {
            Some(at) if at > now && at.since(now) <= START_NS_MAX => {
                self.unproven = Some(at);
                actions.push_back(Action::Begin { nth, at });
            }
            Some(at) if at <= now => {
                let late_ms = now.since(at) / 1_000_000;
                self.fail(&format!("the order to begin arrived {late_ms} ms after its moment"), actions);
            }
            _ => self.fail("the meeting server's clock was set while the run was about to begin", actions),
        }
    }

    fn stop(&mut self, at_once: bool, actions: &mut VecDeque<Action>) {
        if self.is_working && self.stopping.is_none_or(|before| at_once && !before) {
            self.stopping = Some(at_once);
            actions.push_back(Action::Stop { nth: self.last, at_once });
        }
    }

    fn fail(&mut self, why: &str, actions: &mut VecDeque<Action>) {
        self.failed.get_or_insert_with(|| why.to_owned());
        self.stop(true, actions);
    }
}
