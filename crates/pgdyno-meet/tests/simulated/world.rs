//! Machines, their clocks, the meeting server between them, and what happens to all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use pgdyno_meet::{
    Action, Agent, AgentId, AgentState, AgentStep, Coordinator, Instruction, JobEnd, LocalTime, MeetingEvent,
    MemberEnd, Report, RunId,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// The meeting server's clock when everything begins.
const EPOCH: u64 = 1_700_000_000 * S;
/// After this time everything must be over.
const END: u64 = 1_500 * S;
/// How often a machine looks at the meeting.
const LOOK: u64 = 500 * MS;

#[derive(Clone, Debug)]
pub(crate) struct Faults {
    pub(crate) agents: usize,
    pub(crate) coordinators: usize,
    pub(crate) wants_all: bool,
    pub(crate) wait_s: u64,
    /// Stages of a run: drives one after the other, with pauses of up to so many seconds between them.
    pub(crate) stages: u32,
    pub(crate) pause_s: u64,
    pub(crate) loss: f64,
    pub(crate) repeat: f64,
    pub(crate) delay_ms: u64,
    /// Share of agents that come late, crash, and start again after that.
    pub(crate) late: f64,
    pub(crate) crash: f64,
    pub(crate) coordinator_crash: f64,
    /// Share of tasks that fail.
    pub(crate) failing: f64,
    pub(crate) interrupt: f64,
    pub(crate) restarts: u32,
    pub(crate) clock_steps: u32,
    pub(crate) cut_off: f64,
    /// Share of looks at which there is a row that no coordinator and no agent wrote.
    pub(crate) foreign: f64,
}

impl Faults {
    pub(crate) fn none() -> Self {
        Self {
            agents: 3,
            coordinators: 1,
            wants_all: false,
            wait_s: 60,
            stages: 1,
            pause_s: 1,
            loss: 0.0,
            repeat: 0.0,
            delay_ms: 20,
            late: 0.0,
            crash: 0.0,
            coordinator_crash: 0.0,
            failing: 0.0,
            interrupt: 0.0,
            restarts: 0,
            clock_steps: 0,
            cut_off: 0.0,
            foreign: 0.0,
        }
    }

    /// Returns faults of some kinds, each often absent.
    pub(crate) fn any(seed: u64) -> Self {
        let mut dice = Dice(seed ^ 0x5bd1_e995);
        let mut some = |most: f64| if dice.below(2) == 0 { 0.0 } else { dice.unit() * most };
        let (loss, repeat, late, crash) = (some(0.4), some(0.3), some(0.6), some(0.4));
        let (coordinator_crash, failing, interrupt, cut_off) = (some(0.5), some(0.2), some(0.6), some(0.4));
        Self {
            agents: 1 + dice.below(5) as usize,
            coordinators: 1 + dice.below(2) as usize,
            wants_all: dice.below(2) == 0,
            wait_s: 10 + dice.below(120),
            loss,
            repeat,
            delay_ms: [5, 50, 800, 4000][dice.below(4) as usize],
            late,
            crash,
            coordinator_crash,
            failing,
            interrupt,
            restarts: dice.below(3) as u32,
            clock_steps: dice.below(3) as u32,
            cut_off,
            foreign: 0.0,
            stages: 1 + dice.below(3) as u32,
            pause_s: [1, 5, 40][dice.below(3) as usize],
        }
    }
}

/// splitmix64.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A machine's clock: it began at another time, and runs a little faster or slower.
#[derive(Clone, Copy, Debug)]
struct Local {
    begun: u64,
    ppm: i64,
}

impl Local {
    fn at(self, t: u64) -> LocalTime {
        let drift = (t as i128 * i128::from(self.ppm) / 1_000_000) as i64;
        LocalTime((self.begun + t).wrapping_add_signed(drift))
    }

    /// Returns the true time of a local one.
    fn back(self, tick: LocalTime) -> u64 {
        let local = i128::from(tick.0) - i128::from(self.begun);
        (local * 1_000_000 / (1_000_000 + i128::from(self.ppm))).max(0) as u64
    }
}

enum Event {
    /// A machine looks at the meeting.
    Look(Node),
    /// The answer to a round trip.
    Sample {
        node: Node,
        asked: u64,
        server_ns: u64,
    },
    Order {
        to: usize,
        order: Instruction,
    },
    Report {
        to: usize,
        report: Report,
    },
    Batch {
        to: usize,
        agent: AgentId,
        number: u64,
        batch: Arc<[u8]>,
    },
    Work {
        agent: usize,
        nth: u32,
        what: Work,
    },
    Crash(Node),
    Appear(usize),
    Interrupt(usize),
    /// A coordinator's program goes on with the next stage.
    NextStage(usize),
    Outage {
        of: Option<Node>,
        until: u64,
    },
    SetClock(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Agent(usize),
    Coordinator(usize),
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Prepared,
    Begin,
    Second(u64),
    End,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    TooFew,
    Failed(String),
    Interrupted,
    /// With the batches by place.
    Complete {
        parts: Vec<Vec<Vec<u8>>>,
    },
}

#[derive(Debug)]
pub(crate) struct SimCoordinator {
    machine: Coordinator,
    local: Local,
    run: u64,
    seconds: u64,
    members: Vec<AgentId>,
    parts: Vec<Vec<Vec<u8>>>,
    /// Drives that have begun.
    stages: u32,
    interrupted: bool,
    off_until: u64,
    pub(crate) crashed: bool,
    pub(crate) outcome: Option<Outcome>,
}

impl SimCoordinator {
    fn tasks(&self, is_drive: bool) -> Vec<Arc<[u8]>> {
        let task = |place| Arc::from([place as u8, u8::from(is_drive), self.seconds as u8]);
        (0..self.members.len()).map(task).collect()
    }

    /// Begins the next stage.
    fn drive(&mut self, now: LocalTime) {
        self.stages += 1;
        let tasks = self.tasks(true);
        self.machine.begin(now, &tasks, true, false);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    pub(crate) fn word(&self) -> &'static str {
        match &self.outcome {
            None => "crashed",
            Some(Outcome::TooFew) => "too few",
            Some(Outcome::Failed(_)) => "failed",
            Some(Outcome::Interrupted) => "interrupted",
            Some(Outcome::Complete { .. }) => "complete",
        }
    }

    pub(crate) fn why(&self) -> &str {
        match &self.outcome {
            Some(Outcome::Failed(why)) => why,
            _ => "",
        }
    }
}

#[derive(Debug)]
pub(crate) struct SimAgent {
    machine: Agent,
    id: AgentId,
    local: Local,
    is_there: bool,
    off_until: u64,
    pub(crate) crashed: bool,
    /// The task in progress: number, run, place, kind, seconds, and whether it has begun.
    task: Option<Task>,
}

impl SimAgent {
    pub(crate) fn is_free(&self) -> bool {
        self.machine.run().is_none() && self.task.is_none()
    }
}

#[derive(Clone, Copy, Debug)]
struct Task {
    nth: u32,
    run: u64,
    place: u64,
    is_drive: bool,
    seconds: u64,
    done: u64,
    is_stopped: bool,
}

/// A start that took place.
#[derive(Debug)]
struct Began {
    agent: AgentId,
    run: u64,
    nth: u32,
    place: u64,
    at: u64,
    error_ns: u64,
}

pub(crate) struct World {
    pub(crate) now: u64,
    faults: Faults,
    dice: Dice,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    pushed: u64,
    server_set: i64,
    server_off_until: u64,
    began: Vec<Began>,
    /// The last order of each coordinator to each agent: it stays at the meeting when its coordinator is gone.
    rows: BTreeMap<(usize, usize), Instruction>,
    pub(crate) messages: u64,
    pub(crate) agents: Vec<SimAgent>,
    pub(crate) coordinators: Vec<SimCoordinator>,
}

impl World {
    pub(crate) fn new(seed: u64, faults: Faults) -> Self {
        let mut dice = Dice(seed);
        let local = |dice: &mut Dice| Local { begun: dice.below(1 << 50), ppm: dice.below(201) as i64 - 100 };
        let mut world = Self {
            now: 0,
            dice: Dice(0),
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            pushed: 0,
            server_set: 0,
            server_off_until: 0,
            began: Vec::new(),
            rows: BTreeMap::new(),
            messages: 0,
            agents: Vec::new(),
            coordinators: Vec::new(),
            faults,
        };
        let faults = world.faults.clone();
        for nth in 0..faults.agents {
            let local = local(&mut dice);
            world.add_agent(local);
            let late = if dice.unit() < faults.late { dice.below(60 * S) } else { dice.below(S) };
            world.at(late, Event::Appear(nth));
            if dice.unit() < faults.crash {
                let at = dice.below(100 * S);
                world.at(at, Event::Crash(Node::Agent(nth)));
            }
            if dice.unit() < faults.cut_off {
                let from = dice.below(80 * S);
                let until = from + dice.below(90 * S);
                world.at(from, Event::Outage { of: Some(Node::Agent(nth)), until });
            }
        }
        for nth in 0..faults.coordinators {
            let local = local(&mut dice);
            let begun = 2 * S + dice.below(8 * S);
            let wanted = if faults.wants_all { faults.agents } else { 1 + dice.below(faults.agents as u64) as usize };
            let run = nth as u64 + 1;
            let until = local.at(begun + faults.wait_s * S);
            world.coordinators.push(SimCoordinator {
                machine: Coordinator::new(RunId(run), wanted, until),
                local,
                run,
                seconds: 3 + dice.below(20),
                members: Vec::new(),
                parts: vec![Vec::new(); wanted],
                stages: 0,
                interrupted: false,
                off_until: 0,
                crashed: false,
                outcome: None,
            });
            world.at(begun, Event::Look(Node::Coordinator(nth)));
            if dice.unit() < faults.coordinator_crash {
                let at = begun + dice.below(60 * S);
                world.at(at, Event::Crash(Node::Coordinator(nth)));
            }
            if dice.unit() < faults.interrupt {
                let at = begun + dice.below(60 * S);
                world.at(at, Event::Interrupt(nth));
            }
            if dice.unit() < faults.cut_off {
                let from = dice.below(80 * S);
                let until = from + dice.below(90 * S);
                world.at(from, Event::Outage { of: Some(Node::Coordinator(nth)), until });
            }
        }
        for _ in 0..faults.restarts {
            let from = dice.below(60 * S);
            let until = from + dice.below(15 * S);
            world.at(from, Event::Outage { of: None, until });
        }
        for _ in 0..faults.clock_steps {
            let step = (dice.below(4_000) as i64 - 2_000) * [1000, MS as i64][dice.below(2) as usize];
            let at = dice.below(40 * S);
            world.at(at, Event::SetClock(step));
        }
        world.dice = dice;
        world
    }

    fn add_agent(&mut self, local: Local) {
        let id = AgentId(1000 + self.agents.len() as u64);
        self.agents.push(SimAgent {
            machine: Agent::new(id),
            id,
            local,
            is_there: false,
            off_until: 0,
            crashed: false,
            task: None,
        });
    }

    fn at(&mut self, time: u64, event: Event) {
        self.queue.push(Reverse((time, self.pushed)));
        self.events.insert(self.pushed, event);
        self.pushed += 1;
    }

    pub(crate) fn run(&mut self) {
        while let Some(Reverse((at, nth))) = self.queue.pop() {
            let is_quiet = self.coordinators.iter().all(|c| c.crashed || c.is_over())
                && self.agents.iter().all(|agent| agent.crashed || agent.is_free());
            if at > END || is_quiet && at > self.now + 200 * S {
                break;
            }
            self.now = at;
            if let Some(event) = self.events.remove(&nth) {
                self.take(event);
            }
            if is_quiet && self.coordinators.iter().all(|c| c.crashed || c.is_over()) && self.now > 200 * S {
                break;
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Look(node) => self.look(node),
            Event::Sample { node, asked, server_ns } => match node {
                Node::Agent(i) if !self.agents[i].crashed => {
                    let agent = &mut self.agents[i];
                    let (asked, now) = (agent.local.at(asked), agent.local.at(self.now));
                    agent.machine.sample(asked, server_ns, now);
                    self.act(i);
                }
                Node::Coordinator(i) if !self.coordinators[i].crashed => {
                    let coordinator = &mut self.coordinators[i];
                    let (asked, now) = (coordinator.local.at(asked), coordinator.local.at(self.now));
                    coordinator.machine.sample(asked, server_ns, now);
                    self.deliver(i);
                }
                _ => {}
            },
            Event::Order { to, order } => {
                let agent = &mut self.agents[to];
                if !agent.crashed && agent.is_there && self.now >= agent.off_until {
                    agent.machine.order(agent.local.at(self.now), &order);
                    self.act(to);
                }
            }
            Event::Report { to, report } => {
                let coordinator = &mut self.coordinators[to];
                if !coordinator.crashed && self.now >= coordinator.off_until {
                    coordinator.machine.report(coordinator.local.at(self.now), report, true);
                    self.deliver(to);
                }
            }
            Event::Batch { to, agent, number, batch } => {
                let coordinator = &mut self.coordinators[to];
                if !coordinator.crashed && self.now >= coordinator.off_until {
                    coordinator.machine.batch(coordinator.local.at(self.now), agent, number, batch);
                    self.deliver(to);
                }
            }
            Event::Work { agent, nth, what } => self.work(agent, nth, what),
            Event::Crash(Node::Agent(i)) => {
                self.agents[i].crashed = true;
                self.agents[i].task = None;
                // The machine starts again as another agent, sometimes.
                if self.dice.below(2) == 0 {
                    let (local, again) = (self.agents[i].local, self.now + self.dice.below(40 * S));
                    self.add_agent(local);
                    self.at(again, Event::Appear(self.agents.len() - 1));
                }
            }
            Event::Crash(Node::Coordinator(i)) => {
                self.coordinators[i].crashed = self.coordinators[i].outcome.is_none();
            }
            Event::Appear(i) => {
                self.agents[i].is_there = true;
                self.look(Node::Agent(i));
            }
            Event::Interrupt(i) => {
                let now = self.now;
                let coordinator = &mut self.coordinators[i];
                if coordinator.stages > 0 && !coordinator.crashed {
                    coordinator.interrupted = true;
                    coordinator.machine.stop(coordinator.local.at(now), false);
                }
            }
            Event::NextStage(i) => self.next_stage(i),
            Event::Outage { of: None, until } => self.server_off_until = self.server_off_until.max(until),
            Event::Outage { of: Some(Node::Agent(i)), until } => self.agents[i].off_until = until,
            Event::Outage { of: Some(Node::Coordinator(i)), until } => self.coordinators[i].off_until = until,
            Event::SetClock(step) => self.server_set += step,
        }
    }

    fn server_ns(&self) -> u64 {
        (EPOCH + self.now).wrapping_add_signed(self.server_set)
    }

    /// Sends a message, if it gets through.
    fn send(&mut self, event: impl Fn() -> Event) {
        self.messages += 1;
        let copies = 1 + u32::from(self.dice.unit() < self.faults.repeat);
        for _ in 0..copies {
            if self.dice.unit() >= self.faults.loss {
                let at = self.now + 1 + self.dice.below(self.faults.delay_ms * MS);
                self.at(at, event());
            }
        }
    }

    fn look(&mut self, node: Node) {
        let now = self.now;
        let (is_gone, off_until) = match node {
            Node::Agent(i) => (self.agents[i].crashed, self.agents[i].off_until),
            Node::Coordinator(i) => (self.coordinators[i].crashed, self.coordinators[i].off_until),
        };
        if is_gone {
            return;
        }
        let is_connected = now >= off_until.max(self.server_off_until);
        let pause = LOOK + self.dice.below(LOOK);
        self.at(now + pause, Event::Look(node));
        if is_connected {
            // The server reads its clock on the way.
            let (there, back) = (self.dice.below(20 * MS), self.dice.below(20 * MS));
            let server_ns = (self.server_ns()) + there;
            self.at(now + there + back, Event::Sample { node, asked: now, server_ns });
        }
        match node {
            Node::Agent(i) => {
                let agent = &mut self.agents[i];
                let local = agent.local.at(now);
                agent.machine.connected(local, is_connected);
                agent.machine.tick(local);
                self.act(i);
                if is_connected {
                    self.publish(i);
                    self.read_orders(i);
                }
            }
            Node::Coordinator(i) => {
                let coordinator = &mut self.coordinators[i];
                let local = coordinator.local.at(now);
                coordinator.machine.connected(local, is_connected);
                coordinator.machine.tick(local);
                self.deliver(i);
                if is_connected {
                    self.read_foreign(i);
                    for (agent, order) in self.coordinators[i].machine.orders() {
                        let Some(to) = self.agents.iter().position(|other| other.id == agent) else { continue };
                        self.rows.insert((to, i), order.clone());
                        self.send(|| Event::Order { to, order: order.clone() });
                    }
                }
            }
        }
    }

    /// An agent reads the orders that are there, old ones among them, and perhaps a foreign one.
    fn read_orders(&mut self, i: usize) {
        let orders: Vec<_> = self.rows.range((i, 0)..(i + 1, 0)).map(|(_, order)| order.clone()).collect();
        for order in orders {
            self.send(|| Event::Order { to: i, order: order.clone() });
        }
        if self.dice.unit() < self.faults.foreign {
            let (run, number) = (RunId(self.dice.below(2) + 50), self.dice.below(2));
            let (nth, at_ns) = (self.dice.below(9) as u32, self.dice.next());
            let step = match self.dice.below(6) {
                0 => AgentStep::Do { nth, task: Arc::from([0, 1, 3]) },
                1 => AgentStep::Go { nth, at_ns },
                2 => AgentStep::Stop { nth, at_once: true },
                3 => AgentStep::Release,
                _ => AgentStep::Claim,
            };
            let order = Instruction { run, number, step, acked: self.dice.next() };
            self.send(|| Event::Order { to: i, order: order.clone() });
        }
    }

    /// A coordinator reads an agent and batches that no agent has written.
    fn read_foreign(&mut self, to: usize) {
        if self.dice.unit() >= self.faults.foreign {
            return;
        }
        let run = RunId([self.coordinators[to].run, 77][self.dice.below(2) as usize]);
        let nth = self.dice.below(99) as u32;
        let state = match self.dice.below(4) {
            0 => AgentState::Ready { nth },
            1 => AgentState::Did { nth, result: Ok(vec![9]) },
            _ => AgentState::Idle,
        };
        let agent = AgentId(5_000 + self.dice.below(3));
        let run = (self.dice.below(2) == 0).then_some(run);
        let report = Report { agent, number: self.dice.below(4), run, state, batches: self.dice.next() };
        self.send(|| Event::Report { to, report: report.clone() });
        // Of a member, but it has not reported as many.
        if let Some(agent) = self.coordinators[to].members.first().copied() {
            let number = 1_000 + self.dice.below(1 << 40);
            self.send(|| Event::Batch { to, agent, number, batch: Arc::from([1, 2, 3]) });
        }
    }

    /// An agent says what it does, and sends what it has.
    fn publish(&mut self, i: usize) {
        let agent = &mut self.agents[i];
        let (report, batches, id) = (agent.machine.report(), agent.machine.batches().collect::<Vec<_>>(), agent.id);
        for to in 0..self.coordinators.len() {
            self.send(|| Event::Report { to, report: report.clone() });
            if report.run == Some(RunId(self.coordinators[to].run)) {
                for (number, batch) in &batches {
                    self.send(|| Event::Batch { to, agent: id, number: *number, batch: Arc::clone(batch) });
                }
            }
        }
    }

    /// An agent's program does what its machine says.
    fn act(&mut self, i: usize) {
        while let Some(action) = self.agents[i].machine.action() {
            match action {
                Action::Do { nth, task } => {
                    assert!(self.agents[i].task.is_none(), "an agent does two tasks at once");
                    let run = self.agents[i].machine.run().unwrap().0;
                    let (place, is_drive, seconds) = (u64::from(task[0]), task[1] == 1, u64::from(task[2]));
                    let task = Task { nth, run, place, is_drive, seconds, done: 0, is_stopped: false };
                    self.agents[i].task = Some(task);
                    let at = self.now + self.dice.below(2 * S);
                    self.at(at, Event::Work { agent: i, nth, what: Work::Prepared });
                }
                Action::Begin { nth, at } => {
                    let agent = &self.agents[i];
                    let task = agent.task.unwrap();
                    let error_ns = agent.machine.clock().error_ns(agent.local.at(self.now)).unwrap();
                    let at = agent.local.back(at);
                    assert!(at + 10 >= self.now, "a start in the past");
                    let Task { run, place, .. } = task;
                    self.began.push(Began { agent: agent.id, run, nth, place, at, error_ns });
                    self.at(at.max(self.now), Event::Work { agent: i, nth, what: Work::Begin });
                }
                Action::Stop { nth, at_once } => {
                    let Some(task) = self.agents[i].task.as_mut().filter(|task| task.nth == nth) else { continue };
                    task.is_stopped = true;
                    let at = self.now + if at_once { 10 * MS } else { self.dice.below(2 * S) };
                    self.at(at, Event::Work { agent: i, nth, what: Work::End });
                }
                Action::Released => {
                    assert!(self.agents[i].task.is_none(), "released in the middle of a task");
                }
            }
        }
    }

    fn work(&mut self, i: usize, nth: u32, what: Work) {
        if self.agents[i].crashed || self.agents[i].task.is_none_or(|task| task.nth != nth) {
            return;
        }
        let fails = self.dice.unit() < self.faults.failing;
        let now = self.now;
        let agent = &mut self.agents[i];
        let task = agent.task.as_mut().unwrap();
        let end = |task: Task| {
            let result = task.is_drive.then(|| vec![task.place as u8, task.done as u8]);
            Ok(result.unwrap_or_else(|| vec![task.place as u8]))
        };
        match what {
            Work::Prepared if fails => {
                agent.task = None;
                agent.machine.did(nth, Err("something failed".to_owned()));
            }
            Work::Prepared if task.is_drive => agent.machine.ready(nth),
            Work::Prepared => {
                let task = agent.task.take().unwrap();
                agent.machine.did(nth, end(task));
            }
            Work::Begin => {
                if !task.is_stopped {
                    self.at(now + S, Event::Work { agent: i, nth, what: Work::Second(0) });
                }
            }
            Work::Second(second) => {
                if task.is_stopped {
                    return;
                }
                task.done = second + 1;
                let batch = [nth as u8, task.place as u8, second as u8];
                let is_last = task.done == task.seconds;
                agent.machine.batch(nth, Arc::from(batch));
                let next = if is_last { Work::End } else { Work::Second(second + 1) };
                let pause = if is_last { 0 } else { S };
                self.at(now + pause, Event::Work { agent: i, nth, what: next });
            }
            Work::End => {
                let task = agent.task.take().unwrap();
                agent.machine.did(nth, end(task));
            }
        }
        self.act(i);
    }

    /// A coordinator's program does what a run does.
    fn deliver(&mut self, i: usize) {
        let now = self.now;
        let coordinator = &mut self.coordinators[i];
        let local = coordinator.local.at(now);
        let mut pause = None;
        while let Some(news) = coordinator.machine.news() {
            match news {
                MeetingEvent::Gathered(members) => {
                    coordinator.members = members;
                    let tasks = coordinator.tasks(false);
                    coordinator.machine.begin(local, &tasks, false, false);
                }
                MeetingEvent::TooFew(_) => coordinator.outcome = Some(Outcome::TooFew),
                MeetingEvent::Ready => {
                    if let Some(server_ns) = coordinator.machine.clock().server_ns(local) {
                        coordinator.machine.go(server_ns + 3 * S);
                    }
                }
                MeetingEvent::Batch { place, batch } => coordinator.parts[place].push(batch.to_vec()),
                MeetingEvent::Lost { .. } => {}
                MeetingEvent::Ended(JobEnd { failure: Some(why), .. }) => {
                    coordinator.outcome = Some(Outcome::Failed(why));
                    coordinator.machine.release();
                }
                MeetingEvent::Ended(JobEnd { members, .. }) if coordinator.stages == 0 => {
                    let look: Vec<_> = (0..members.len()).map(|place| MemberEnd::Did(vec![place as u8])).collect();
                    assert_eq!(members, look, "each has looked for itself");
                    coordinator.drive(local);
                }
                // What it measures is saved, and the next stage prepared; meanwhile it keeps in touch.
                MeetingEvent::Ended(JobEnd { members, .. }) if coordinator.stages < self.faults.stages => {
                    assert!(members.iter().all(|end| matches!(end, MemberEnd::Did(_))), "{members:?}");
                    pause = Some(self.dice.below(self.faults.pause_s * S));
                    break;
                }
                MeetingEvent::Ended(end) => {
                    let all_did = end.members.iter().all(|end| matches!(end, MemberEnd::Did(_)));
                    assert!(all_did, "without a failure all have a result: {end:?}");
                    coordinator.outcome = Some(match coordinator.interrupted {
                        true => Outcome::Interrupted,
                        false => Outcome::Complete { parts: std::mem::take(&mut coordinator.parts) },
                    });
                    coordinator.machine.release();
                }
            }
        }
        if let Some(pause) = pause {
            self.at(now + pause, Event::NextStage(i));
        }
    }

    fn next_stage(&mut self, i: usize) {
        let coordinator = &mut self.coordinators[i];
        if coordinator.crashed || coordinator.is_over() {
            return;
        }
        if coordinator.interrupted {
            coordinator.outcome = Some(Outcome::Interrupted);
            return coordinator.machine.release();
        }
        coordinator.drive(coordinator.local.at(self.now));
        self.deliver(i);
    }

    /// Checks that a run that is reported as complete was one: every place began each stage once, at one moment, after the
    /// stage before had ended everywhere, and sent all.
    pub(crate) fn check_complete(&self, nth: usize, parts: &[Vec<Vec<u8>>]) -> Result<(), String> {
        let coordinator = &self.coordinators[nth];
        let began: Vec<_> = self.began.iter().filter(|began| began.run == coordinator.run).collect();
        let stages = self.faults.stages;
        if began.len() != parts.len() * stages as usize {
            return Err(format!("{} of {} in {stages} stages began: {began:?}", began.len(), parts.len()));
        }
        // The first task is a look.
        let tasks = 2..2 + stages;
        for (place, parts) in parts.iter().enumerate() {
            let of_task = |nth| (0..coordinator.seconds).map(move |second| vec![nth as u8, place as u8, second as u8]);
            if *parts != tasks.clone().flat_map(of_task).collect::<Vec<_>>() {
                return Err(format!("place {place} sent {parts:?}"));
            }
        }
        let mut ended_before = 0;
        for nth in tasks {
            let of_stage: Vec<_> = began.iter().filter(|began| began.nth == nth).copied().collect();
            self.check_start(coordinator, &of_stage, parts.len(), ended_before)?;
            ended_before = of_stage.iter().map(|began| began.at).max().unwrap_or_default() + coordinator.seconds * S;
        }
        Ok(())
    }

    /// Checks the common start of one stage.
    fn check_start(
        &self,
        coordinator: &SimCoordinator,
        began: &[&Began],
        places: usize,
        ended_before: u64,
    ) -> Result<(), String> {
        for place in 0..places {
            let mine = began.iter().find(|began| began.place == place as u64).ok_or("a place did not begin")?;
            if mine.agent != coordinator.members[place] {
                return Err(format!("place {place} was {:?}", mine.agent));
            }
            if mine.at < ended_before {
                return Err(format!("a stage began before the one before it ended: {mine:?}, {ended_before}"));
            }
            for other in began {
                let apart = mine.at.abs_diff(other.at);
                // Until the start the clocks drift on.
                let known = mine.error_ns + other.error_ns + 5 * MS;
                if apart > known {
                    return Err(format!("starts {apart} ns apart, where {known} ns are known: {mine:?} {other:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Only what a test needs of a machine's state.
impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s, {:?}, {:?}", self.now / S, self.coordinators, self.agents)
    }
}
