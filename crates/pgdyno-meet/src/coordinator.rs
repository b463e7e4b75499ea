//! The coordinator of one run: a state machine without IO.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::{
    AgentId, AgentState, AgentStep, ClockOffset, Instruction, LEASE_NS, LocalTime, OUTAGE_NS, Report, RunId,
    STOPPING_NS,
};

/// Batches that are kept after a gap.
const AHEAD_MAX: usize = 1_000;

/// Agents that are remembered. A run has at most 1,000.
const KNOWN_MAX: usize = 4_000;

/// What a coordinator reports to its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeetingEvent {
    /// As many agents as wanted serve this run now, in the order of their places.
    Gathered(Vec<AgentId>),
    /// There were too few agents in the time.
    TooFew(Gathering),
    /// All agents wait for the common start: call [`Coordinator::go`].
    Ready,
    /// The next batch of an agent; each arrives once and in order.
    Batch {
        /// The agent's place.
        place: usize,
        /// The batch.
        batch: Arc<[u8]>,
    },
    /// An agent does not serve the run any more.
    Lost {
        /// The agent's place.
        place: usize,
        /// Why.
        why: String,
    },
    /// The job has ended on all agents.
    Ended(JobEnd),
}

/// Agents that were there when there were too few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathering {
    /// Agents that were free, or serve this run.
    pub free: usize,
    /// Agents that serve other runs.
    pub busy: usize,
    /// Agents that cannot serve this run, such as those of another version.
    pub unsuitable: usize,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    /// How it ended on each agent.
    pub members: Vec<MemberEnd>,
    /// Why the job as a whole does not count as done.
    pub failure: Option<String>,
    /// Whether the common start was ordered; false for a job without one.
    pub began: bool,
}

/// How a job ended on one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberEnd {
    /// With a result.
    Did(Vec<u8>),
    /// Without one, by the agent's own account.
    Failed(String),
    /// The agent was lost.
    Lost(String),
}

impl MemberEnd {
    fn failure(&self) -> Option<&str> {
        match self {
            Self::Did(_) => None,
            Self::Failed(why) | Self::Lost(why) => Some(why),
        }
    }
}

/// The coordinator of one run.
#[derive(Debug)]
pub struct Coordinator {
    run: RunId,
    wanted: usize,
    until: LocalTime,
    phase: Phase,
    clock: ClockOffset,
    /// Number of the last orders.
    number: u64,
    /// All agents at the meeting.
    known: BTreeMap<AgentId, Known>,
    /// The step of each agent that serves this run, or is asked to, or to be free again.
    steps: BTreeMap<AgentId, AgentStep>,
    members: Vec<Member>,
    job: Option<Job>,
    /// Number of the last job.
    nth: u32,
    news: VecDeque<MeetingEvent>,
    cut_off: Option<LocalTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Gathering,
    Gathered,
    Released,
}

/// The last report of an agent.
#[derive(Debug)]
struct Known {
    report: Report,
    last_message: LocalTime,
    is_suitable: bool,
}

#[derive(Debug)]
struct Member {
    agent: AgentId,
    /// Batches that have arrived without a gap.
    received: u64,
    /// Batches after a gap, or that the agent has not reported.
    ahead: BTreeMap<u64, Arc<[u8]>>,
    lost: Option<String>,
    /// How the job ended here.
    end: Option<MemberEnd>,
}

#[derive(Debug)]
struct Job {
    nth: u32,
    /// Whether agents wait for a common start.
    has_start: bool,
    /// Whether the others go on if one is lost or fails.
    survives_loss: bool,
    is_ready: bool,
    began: bool,
    steps_when_ready: u64,
    /// The moment of the start, until a round trip after it.
    unproven: Option<LocalTime>,
    stopping: Option<(bool, LocalTime)>,
    failure: Option<String>,
}

impl Coordinator {
    /// Returns the coordinator of a run that wants so many agents, at least 1, and waits for them until a moment.
    #[must_use]
    pub fn new(run: RunId, wanted: usize, until: LocalTime) -> Self {
        Self {
            run,
            wanted,
            until,
            phase: Phase::Gathering,
            clock: ClockOffset::default(),
            number: 0,
            known: BTreeMap::new(),
            steps: BTreeMap::new(),
            members: Vec::new(),
            job: None,
            nth: 0,
            news: VecDeque::new(),
            cut_off: None,
        }
    }

    /// Returns the meeting server's clock.
    #[must_use]
    pub fn clock(&self) -> &ClockOffset {
        &self.clock
    }

    /// Returns the next news.
    pub fn news(&mut self) -> Option<MeetingEvent> {
        self.news.pop_front()
    }

    /// Returns the number and the orders of all agents that it has to do with, to be said to them.
    pub fn orders(&mut self) -> Vec<(AgentId, Instruction)> {
        self.number += 1;
        let acked = |agent| self.members.iter().find(|member| member.agent == agent).map_or(0, |m| m.received);
        let order = |(agent, step): (&AgentId, &AgentStep)| {
            let order = Instruction { run: self.run, number: self.number, step: step.clone(), acked: acked(*agent) };
            (*agent, order)
        };
        self.steps.iter().map(order).collect()
    }

    /// Returns the number of the last orders.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns what it wants of each agent, which [`Coordinator::orders`] says.
    pub fn steps(&self) -> impl Iterator<Item = (AgentId, &AgentStep)> {
        self.steps.iter().map(|(agent, step)| (*agent, step))
    }

    /// Takes a round trip to the meeting server, as [`ClockOffset::sample`] does.
    pub fn sample(&mut self, asked: LocalTime, server_ns: u64, answered: LocalTime) {
        self.clock.sample(asked, server_ns, answered);
        let steps = self.clock.steps();
        let Some(job) = &mut self.job else { return };
        if job.unproven.is_some_and(|begun| asked >= begun) {
            job.unproven = None;
            if steps != job.steps_when_ready {
                let why = "the meeting server's clock was set while the run was about to begin";
                job.failure.get_or_insert_with(|| why.to_owned());
                self.stop(answered, true);
            }
        }
    }

    /// Notes that the meeting server was lost, or is there again.
    pub fn connected(&mut self, now: LocalTime, is_connected: bool) {
        if is_connected {
            // The agents may have been cut off, too.
            if self.cut_off.take().is_some() {
                self.known.values_mut().for_each(|known| known.last_message = now);
            }
        } else {
            self.cut_off.get_or_insert(now);
        }
    }

    /// Takes a report of any agent at the meeting. `is_suitable`: it can serve this run.
    pub fn report(&mut self, now: LocalTime, report: Report, is_suitable: bool) {
        let agent = report.agent;
        if self.known.get(&agent).is_none_or(|known| known.report.number < report.number) {
            self.known.insert(agent, Known { report, last_message: now, is_suitable });
            self.forget_silent(now);
            if let Some(place) = self.place(agent) {
                self.pass_on(place);
            }
            self.look(now);
        }
    }

    /// Takes a batch of an agent, also one that has arrived before. It counts only when the agent has reported it:
    /// whatever else is at the meeting is not its own.
    pub fn batch(&mut self, now: LocalTime, agent: AgentId, number: u64, batch: Arc<[u8]>) {
        let Some(place) = self.place(agent) else { return };
        let member = &mut self.members[place];
        if number <= member.received || member.lost.is_some() {
            return;
        }
        member.ahead.insert(number, batch);
        if member.ahead.len() > AHEAD_MAX {
            member.ahead.pop_last();
        }
        self.pass_on(place);
        self.look(now);
    }

    /// Returns the agents of the run that are not lost, with the number of batches that have arrived of each.
    pub fn received(&self) -> impl Iterator<Item = (AgentId, u64)> {
        let present = self.members.iter().filter(|member| member.lost.is_none());
        present.map(|member| (member.agent, member.received))
    }

    /// Gives the run up: no agent can be reached any more.
    pub fn give_up(&mut self, now: LocalTime, why: &str) {
        for place in 0..self.members.len() {
            self.lose(place, why.to_owned());
        }
        self.look(now);
    }

    fn place(&self, agent: AgentId) -> Option<usize> {
        self.members.iter().position(|member| member.agent == agent)
    }

    /// Passes on the batches that have arrived without a gap and that the agent has reported.
    fn pass_on(&mut self, place: usize) {
        let member = &mut self.members[place];
        let Some(known) = self.known.get(&member.agent).filter(|known| known.report.run == Some(self.run)) else {
            return;
        };
        while member.received < known.report.batches
            && let Some(batch) = member.ahead.remove(&(member.received + 1))
        {
            member.received += 1;
            self.news.push_back(MeetingEvent::Batch { place, batch });
        }
    }

    /// Forgets agents that have been silent for long, if there are too many of them.
    fn forget_silent(&mut self, now: LocalTime) {
        if self.known.len() > KNOWN_MAX {
            let members: Vec<_> = self.members.iter().map(|member| member.agent).collect();
            self.known.retain(|agent, known| members.contains(agent) || now.since(known.last_message) <= LEASE_NS);
        }
    }

    /// Looks at the time.
    pub fn tick(&mut self, now: LocalTime) {
        self.look(now);
    }

    /// Begins the next job: a task for each place. With `has_start`, agents wait for [`Coordinator::go`]; with
    /// `survives_loss`, the job does not fail when an agent is lost or fails. The job before must have ended.
    pub fn begin(&mut self, now: LocalTime, tasks: &[Arc<[u8]>], has_start: bool, survives_loss: bool) {
        self.nth += 1;
        let nth = self.nth;
        self.job = Some(Job {
            nth,
            has_start,
            survives_loss,
            is_ready: false,
            began: false,
            steps_when_ready: 0,
            unproven: None,
            stopping: None,
            failure: None,
        });
        for (member, task) in self.members.iter_mut().zip(tasks) {
            member.end = member.lost.clone().map(MemberEnd::Lost);
            if member.end.is_none() {
                self.steps.insert(member.agent, AgentStep::Do { nth, task: Arc::clone(task) });
            }
        }
        self.look(now);
    }

    /// Orders the common start, by the meeting server's clock.
    pub fn go(&mut self, at_ns: u64) {
        let Some(job) = self.job.as_mut().filter(|job| job.is_ready && !job.began && job.stopping.is_none()) else {
            return;
        };
        job.began = true;
        job.unproven = self.clock.local(at_ns);
        for member in self.members.iter().filter(|member| member.end.is_none()) {
            self.steps.insert(member.agent, AgentStep::Go { nth: job.nth, at_ns });
        }
    }

    /// Ends the job, at once or when transactions in progress are done.
    pub fn stop(&mut self, now: LocalTime, at_once: bool) {
        let Some(job) = &mut self.job else { return };
        if job.stopping.is_some_and(|(before, _)| before || !at_once) {
            return;
        }
        job.stopping = Some((at_once, now));
        for member in self.members.iter().filter(|member| member.end.is_none()) {
            self.steps.insert(member.agent, AgentStep::Stop { nth: job.nth, at_once });
        }
    }

    /// Releases all agents: nothing more is wanted of them.
    pub fn release(&mut self) {
        self.phase = Phase::Released;
        self.members.clear();
        self.job = None;
        self.steps.values_mut().for_each(|step| *step = AgentStep::Release);
    }

    /// Returns true if no agent serves this run any more, as far as can be known.
    #[must_use]
    pub fn is_released(&self, now: LocalTime) -> bool {
        let serves = |known: &Known| known.report.run == Some(self.run) && now.since(known.last_message) < LEASE_NS;
        self.phase == Phase::Released && !self.known.values().any(serves)
    }

    fn look(&mut self, now: LocalTime) {
        match self.phase {
            Phase::Gathering => self.gather(now),
            Phase::Gathered => self.watch(now),
            Phase::Released => {}
        }
    }

    /// Claims agents if there are enough. Of two runs that want the same agents, the older one has them.
    fn gather(&mut self, now: LocalTime) {
        let run = self.run;
        let is_there = |known: &Known| now.since(known.last_message) <= LEASE_NS;
        let all = || self.known.iter().filter(|(_, known)| is_there(known));
        let serves = |known: &Known| known.report.run;
        let mine: Vec<_> = all().filter(|(_, k)| k.is_suitable && serves(k) == Some(run)).map(|(id, _)| *id).collect();
        let free: Vec<_> = all().filter(|(_, k)| k.is_suitable && serves(k).is_none()).map(|(id, _)| *id).collect();
        if mine.len() >= self.wanted {
            let members = mine[..self.wanted].to_vec();
            self.phase = Phase::Gathered;
            let surplus = self.steps.iter_mut().filter(|(agent, _)| !members.contains(agent));
            surplus.for_each(|(_, step)| *step = AgentStep::Release);
            let member =
                |agent: &AgentId| Member { agent: *agent, received: 0, ahead: BTreeMap::new(), lost: None, end: None };
            self.members = members.iter().map(member).collect();
            self.news.push_back(MeetingEvent::Gathered(members));
            return;
        }
        // Agents that have been claimed may be about to say so.
        let is_enough = mine.len() + free.len() >= self.wanted && now < self.until.after(LEASE_NS);
        if now >= self.until && !is_enough {
            let unsuitable = all().filter(|(_, known)| !known.is_suitable).count();
            let found = Gathering {
                free: mine.len() + free.len(),
                busy: all().count() - unsuitable - mine.len() - free.len(),
                unsuitable,
            };
            self.release();
            self.news.push_back(MeetingEvent::TooFew(found));
            return;
        }
        if is_enough {
            // More than it wants: one of them may have died just now. Those that answer first are the team.
            for agent in mine.iter().chain(&free) {
                self.steps.insert(*agent, AgentStep::Claim);
            }
        } else if all().any(|(_, known)| serves(known).is_some_and(|other| other < run)) {
            self.steps.values_mut().for_each(|step| *step = AgentStep::Release);
        }
    }

    /// Watches over the agents of this run and their job.
    fn watch(&mut self, now: LocalTime) {
        for place in 0..self.members.len() {
            self.watch_member(now, place);
        }
        let Some(job) = &mut self.job else { return };
        let failed = self.members.iter().enumerate().find_map(|(place, member)| {
            let why = member.end.as_ref()?.failure()?;
            (!job.survives_loss).then(|| format!("agent {}: {why}", place + 1))
        });
        let ended_early = job.has_start && !job.began && job.stopping.is_none();
        let early = || {
            let early = self.members.iter().position(|member| matches!(member.end, Some(MemberEnd::Did(_))));
            early.filter(|_| ended_early).map(|place| format!("agent {}: it ended before the start", place + 1))
        };
        let failed = failed.or_else(early);
        if let (Some(failed), None) = (failed, &job.failure) {
            job.failure = Some(failed);
            let before_start = job.has_start && !job.began;
            self.stop(now, before_start);
        }
        let Some(job) = &mut self.job else { return };
        if job.stopping.is_some_and(|(_, since)| now.since(since) > STOPPING_NS) {
            let why = "it did not end within two minutes after it was asked to";
            let left = self.members.iter_mut().filter(|member| member.end.is_none());
            left.for_each(|member| member.end = Some(MemberEnd::Lost(why.to_owned())));
        }
        let known = &self.known;
        let is_ready = |member: &Member| {
            let state = known.get(&member.agent).map(|known| &known.report.state);
            member.end.is_none() && state == Some(&AgentState::Ready { nth: job.nth })
        };
        if job.has_start && !job.is_ready && job.stopping.is_none() && self.members.iter().all(is_ready) {
            job.is_ready = true;
            job.steps_when_ready = self.clock.steps();
            self.news.push_back(MeetingEvent::Ready);
        }
        // Until then the clock of the start may still turn out to have been set.
        let is_proven = job.unproven.is_none() || job.failure.is_some() || job.stopping.is_some();
        if is_proven && self.members.iter().all(|member| member.end.is_some()) {
            let members: Vec<_> = self.members.iter_mut().filter_map(|member| member.end.take()).collect();
            let all_lost = members.iter().all(|end| matches!(end, MemberEnd::Lost(_)));
            let failure = job.failure.take().or_else(|| all_lost.then(|| "all agents were lost".to_owned()));
            let end = JobEnd { members, failure, began: job.began };
            self.job = None;
            self.news.push_back(MeetingEvent::Ended(end));
        }
    }

    fn watch_member(&mut self, now: LocalTime, place: usize) {
        let member = &mut self.members[place];
        let Some(known) = self.known.get(&member.agent).filter(|_| member.lost.is_none()) else { return };
        let report = &known.report;
        let is_of_run = report.run == Some(self.run);
        let lost = match self.cut_off {
            Some(since) if now.since(since) > OUTAGE_NS => {
                Some(format!("the meeting server could not be reached for {} s", OUTAGE_NS / 1_000_000_000))
            }
            None if !is_of_run => Some("it left the run".to_owned()),
            // Another program has written orders to it, or its report.
            None if report.state.nth().is_some_and(|nth| nth > self.nth) => {
                Some("it reports a task that this run did not give it".to_owned())
            }
            None if now.since(known.last_message) > LEASE_NS => {
                Some(format!("nothing was heard of it for {} s", LEASE_NS / 1_000_000_000))
            }
            _ => None,
        };
        let job = self.job.as_ref();
        if member.end.is_none()
            && let AgentState::Did { nth, result } = &report.state
            && job.is_some_and(|job| job.nth == *nth)
            && is_of_run
            && member.received >= report.batches
        {
            member.end = Some(match result {
                Ok(result) => MemberEnd::Did(result.clone()),
                Err(why) => MemberEnd::Failed(why.clone()),
            });
        }
        if let Some(why) = lost {
            self.lose(place, why);
        }
    }

    /// Notes that an agent is lost, once.
    fn lose(&mut self, place: usize, why: String) {
        let member = &mut self.members[place];
        if member.lost.is_some() {
            return;
        }
        member.lost = Some(why.clone());
        if self.job.is_some() && member.end.is_none() {
            member.end = Some(MemberEnd::Lost(why.clone()));
        }
        self.news.push_back(MeetingEvent::Lost { place, why });
    }
}
