//! A team of agents drives: the same events and the same outcome as those of the engine in this process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_engine::{EngineEvent, ErrorSample, GroupOutcome, ProcessUsage, RunEnd, RunOutcome, RunShare, Stop};
use pgdyno_measure::{Delays, GroupInterval, ListBounds, Merger, Phase, Phases, StagePlace, Totals};
use pgdyno_meet::{JobEnd, MeetingEvent, MemberEnd};
use pgdyno_results::{ClientRecord, DriverRecord, DriverStageRecord, Execution};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Drive, GroupWork, Note, Stage};

use super::task::{self, Batch, DriveTask, Drove, Task};
use super::team::TeamMessage;
use super::{AgentRow, ENDED_BY_USER, Team};
use crate::drive::spec::spec;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::record::figures;

/// Time between the order to begin and the beginning: the order arrives everywhere before that, even if the meeting
/// server is slow.
const LEAD: Duration = Duration::from_secs(3);
/// Time between two looks at the user's `Stop`.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Where executions of queries go.
pub(crate) type OnExecutions<'a> = &'a mut dyn FnMut(Vec<Execution>);

/// A team that is to drive.
pub(crate) struct TeamDrive<'a> {
    pub(crate) team: &'a Team,
    /// The task of the first agent in the first stage.
    pub(crate) task: &'a DriveTask,
    pub(crate) drive: &'a Drive,
    pub(crate) stop: &'a Stop,
}

impl TeamDrive<'_> {
    /// Drives all stages, one after the other.
    ///
    /// # Errors
    /// When the run could not begin. What ends it in a later stage is part of the outcome.
    pub(crate) fn run(
        &self,
        on_event: &mut dyn FnMut(EngineEvent<'_>),
        on_executions: OnExecutions<'_>,
    ) -> Result<(RunOutcome, Vec<DriverRecord>)> {
        let stages = &self.drive.stages;
        let (mut origin, mut next_interval) = (None, 0);
        let mut run: Option<(RunOutcome, Vec<DriverRecord>)> = None;
        for (number, stage) in stages.iter().enumerate() {
            let stage = self.stage(number, stage, origin, next_interval);
            let ended = stage.run(on_event, on_executions);
            match (&mut run, ended) {
                (None, Err(not_begun)) => return Err(not_begun.failure),
                (None, Ok(end)) => {
                    (origin, next_interval) = (Some(end.began), end.next_interval);
                    run = Some((end.outcome, end.drivers));
                }
                (Some((outcome, drivers)), Ok(end)) => {
                    next_interval = end.next_interval;
                    outcome.append(stage.stage.name, end.outcome);
                    for (driver, later) in drivers.iter_mut().zip(end.drivers) {
                        append(driver, stage.stage.name, later);
                    }
                }
                (Some((outcome, drivers)), Err(not_begun)) => {
                    outcome.ended = not_begun.end_of(stage.stage.name, self.stop);
                    for (driver, why) in drivers.iter_mut().zip(not_begun.lost) {
                        driver.lost = driver.lost.take().or(why);
                    }
                }
            }
            if run.as_ref().is_some_and(|(outcome, _)| outcome.ended != RunEnd::Complete) {
                break;
            }
        }
        run.ok_or_else(|| CommandError::new(Code::Start, "the drive has no stages"))
    }

    /// Returns a stage with its agents' threads.
    fn stage<'a>(
        &'a self,
        number: usize,
        stage: &'a Stage,
        origin: Option<Instant>,
        first_interval: u64,
    ) -> StageOfTeam<'a> {
        let Self { team, task, drive, stop } = *self;
        let threads = spec(&task.plan, Vec::new()).threads_of(stage.clients(task.plan.drive.clients));
        let share = |driver| RunShare { driver, drivers: team.len() }.threads(threads).len();
        let threads = (0..team.len()).map(share).collect();
        StageOfTeam { team, task, drive, stage, number, threads, origin, first_interval, stop }
    }
}

/// Returns why an agent is gone, if it is.
fn lost(end: &MemberEnd) -> Option<String> {
    match end {
        MemberEnd::Lost(why) => Some(why.clone()),
        MemberEnd::Failed(why) => (why == ENDED_BY_USER).then(|| why.clone()),
        MemberEnd::Did(_) => None,
    }
}

/// Adds a driver's part of a later stage.
fn append(driver: &mut DriverRecord, stage: &str, later: DriverRecord) {
    let DriverRecord { clients, lost, start_ms, clock_error_ms, client, .. } = later;
    driver.lost = driver.lost.take().or(lost);
    driver.later_stages.push(DriverStageRecord {
        stage: stage.to_owned(),
        clients,
        thread_busy: client.thread_busy,
        run_delay: client.run_delay,
        start_ms,
        clock_error_ms,
    });
}

/// One stage that a team drives.
struct StageOfTeam<'a> {
    team: &'a Team,
    task: &'a DriveTask,
    drive: &'a Drive,
    stage: &'a Stage,
    number: usize,
    /// Engine threads of each agent. The last ones may have none in a stage with few clients.
    threads: Vec<usize>,
    /// Start of the first stage; `None` in that.
    origin: Option<Instant>,
    first_interval: u64,
    stop: &'a Stop,
}

/// A stage that has ended.
struct StageEnd {
    outcome: RunOutcome,
    drivers: Vec<DriverRecord>,
    /// Its common start.
    began: Instant,
    next_interval: u64,
}

/// Why a stage did not begin.
struct NotBegun {
    failure: CommandError,
    /// Why each agent was lost, if it was.
    lost: Vec<Option<String>>,
}

impl From<CommandError> for NotBegun {
    fn from(failure: CommandError) -> Self {
        Self { failure, lost: Vec::new() }
    }
}

impl NotBegun {
    /// Returns how a run ended whose later stage did not begin.
    fn end_of(&self, stage: &str, stop: &Stop) -> RunEnd {
        match self.lost.iter().any(Option::is_some) {
            _ if stop.is_requested() => RunEnd::Interrupted,
            true => RunEnd::DriverLost(format!("{}, before stage '{stage}' began", self.failure.text())),
            false => RunEnd::Fatal(format!("stage '{stage}' could not begin: {}", self.failure.text())),
        }
    }
}

/// What came in while the agents drove.
struct Intake {
    /// Its sources are the agents that have threads.
    merger: Merger,
    /// Time from the start of the run to the start of the stage.
    offset: Duration,
    /// By driver, the lists of its intervals.
    shapes: Vec<ListBounds>,
    /// The drivers' own delays within the measured window.
    delays: Vec<OwnDelays>,
    /// What could not be read.
    unreadable: Option<String>,
}

#[derive(Clone, Default)]
struct OwnDelays {
    read: Delays,
    timer: Delays,
    service_ns: u128,
}

/// The common start of a stage: its moment here, and by the meeting server's clock.
type Start = (Instant, u64);

/// The loop of one stage: takes what the agents send until the stage has ended.
struct StageLoop<'a> {
    stage: &'a StageOfTeam<'a>,
    intake: Intake,
    begun: Instant,
    connect_ns: u64,
    start: Option<Start>,
    has_begun: bool,
    /// Set once the agents were asked to stop: true if at once.
    stopped: Option<bool>,
}

impl StageOfTeam<'_> {
    fn run(
        &self,
        on_event: &mut dyn FnMut(EngineEvent<'_>),
        on_executions: OnExecutions<'_>,
    ) -> std::result::Result<StageEnd, NotBegun> {
        let share = |driver| {
            let task = DriveTask { driver, stage: self.number, ..self.task.clone() };
            Task::Drive(Box::new(task)).to_bytes().or_fail(Code::Start)
        };
        self.team.begin((0..self.team.len()).map(share).collect::<Result<_>>()?);
        let mut running = StageLoop::new(self);
        let end = loop {
            running.pass_on_stop();
            running.announce_start(on_event);
            if let Some(end) = running.step(on_event, on_executions)? {
                break end;
            }
        };
        let StageLoop { mut intake, start, connect_ns, .. } = running;
        let Some((began, at_ns)) = start.filter(|_| end.began) else { return Err(self.not_begun(&end)) };
        for interval in intake.merger.finish() {
            on_event(EngineEvent::Interval(&interval));
        }
        let next_interval = intake.merger.next_interval();
        let (outcome, drivers) = intake.conclude(self, &end, connect_ns, at_ns);
        Ok(StageEnd { outcome, drivers, began, next_interval })
    }

    /// Returns why the stage did not begin.
    fn not_begun(&self, end: &JobEnd) -> NotBegun {
        let failure = match &end.failure {
            _ if self.stop.is_requested() => {
                CommandError::new(Code::Interrupted, "interrupted while the agents connected")
            }
            Some(why) => CommandError::new(Code::Start, self.team.named(why)),
            None => CommandError::new(Code::Start, "the meeting server's clock is not known"),
        };
        NotBegun { failure, lost: end.members.iter().map(lost).collect() }
    }
}

impl<'a> StageLoop<'a> {
    fn new(stage: &'a StageOfTeam<'a>) -> Self {
        Self {
            stage,
            intake: Intake::new(stage),
            begun: Instant::now(),
            connect_ns: 0,
            start: None,
            has_begun: false,
            stopped: None,
        }
    }

    /// Asks the agents to stop, once for each way, if the user asks for it or an agent cannot be read.
    fn pass_on_stop(&mut self) {
        let stop = self.stage.stop;
        let asked = (stop.is_requested() || self.intake.unreadable.is_some()).then(|| stop.is_at_once());
        if asked.is_some() && self.stopped != asked {
            self.stopped = asked;
            self.stage.team.stop(stop.is_at_once());
        }
    }

    /// Reports the common start of the run when it has come.
    fn announce_start(&mut self, on_event: &mut dyn FnMut(EngineEvent<'_>)) {
        if self.start.is_some_and(|(at, _)| !self.has_begun && at <= Instant::now()) {
            self.has_begun = true;
            if self.stage.origin.is_none() {
                on_event(EngineEvent::Started { connect_ns: self.connect_ns, answers: &[], of_readers: &[] });
            }
        }
    }

    /// Waits for news, and takes them. Returns the end of the stage.
    fn step(
        &mut self,
        on_event: &mut dyn FnMut(EngineEvent<'_>),
        on_executions: OnExecutions<'_>,
    ) -> Result<Option<JobEnd>> {
        let team = self.stage.team;
        // The start is not to be missed.
        let patience = match self.start {
            Some((at, _)) if !self.has_begun => POLL_INTERVAL.min(at.saturating_duration_since(Instant::now())),
            _ => POLL_INTERVAL,
        };
        match team.next_message(patience)? {
            None => {}
            Some(TeamMessage::Go(None)) => team.stop(true),
            Some(TeamMessage::Go(Some((at, at_ns)))) => {
                self.start = Some((at, at_ns));
                let offset = self.stage.origin.map_or(Duration::ZERO, |origin| at.saturating_duration_since(origin));
                self.intake.begins_after(offset);
            }
            Some(TeamMessage::News(MeetingEvent::Ready)) => {
                self.connect_ns = self.begun.elapsed().as_nanos() as u64;
                team.go(LEAD);
            }
            Some(TeamMessage::News(MeetingEvent::Batch { place, batch })) => {
                self.intake.take((team, place), &batch, on_event, on_executions);
            }
            Some(TeamMessage::News(MeetingEvent::Lost { place, why })) => {
                on_event(EngineEvent::Note(&Note::Info(format!("{} was lost: {why}", team.name(place)))));
            }
            Some(TeamMessage::News(MeetingEvent::Ended(end))) => return Ok(Some(end)),
            Some(TeamMessage::News(MeetingEvent::Gathered(_) | MeetingEvent::TooFew(_))) => {}
        }
        Ok(None)
    }
}

impl Intake {
    fn new(stage: &StageOfTeam<'_>) -> Self {
        let sources: Vec<usize> = stage.threads.iter().copied().filter(|threads| *threads > 0).collect();
        let headline = GroupWork::headline(stage.stage.groups.iter().map(|group| group.work));
        let of_run = ListBounds {
            groups: stage.stage.groups.len(),
            txns: stage.drive.txns().len(),
            stmts: stage.drive.statements(&stage.task.caps).len(),
            tallies: stage.drive.tallies().len(),
            threads: 0,
            clients: stage.stage.clients(stage.task.plan.drive.clients) as usize,
        };
        let place = StagePlace { stage: stage.number, offset_ns: 0, first_interval: stage.first_interval };
        Self {
            merger: Merger::new(&sources, &headline, place),
            offset: Duration::ZERO,
            shapes: stage.threads.iter().map(|threads| ListBounds { threads: *threads, ..of_run }).collect(),
            delays: vec![OwnDelays::default(); stage.threads.len()],
            unreadable: None,
        }
    }

    /// Sets the time from the start of the run to the start of the stage.
    fn begins_after(&mut self, offset: Duration) {
        self.offset = offset;
        self.merger.begins_after(offset.as_nanos() as u64);
    }

    fn take(
        &mut self,
        (team, place): (&Team, usize),
        batch: &[u8],
        on_event: &mut dyn FnMut(EngineEvent<'_>),
        on_executions: OnExecutions<'_>,
    ) {
        match Batch::from_bytes(batch, &self.shapes[place]) {
            // An agent without threads has nothing to count.
            Ok(Batch::Interval(_)) if self.shapes[place].threads == 0 => {}
            Ok(Batch::Interval(interval)) => {
                if interval.phase == Phase::Measure {
                    let own = &mut self.delays[place];
                    for GroupInterval { part, .. } in &interval.groups {
                        own.read.merge(&part.read_delay);
                        own.timer.merge(&part.timer_lateness);
                        own.service_ns += part.txns.iter().map(|txn| txn.service.sum_ns()).sum::<u128>();
                    }
                }
                for interval in self.merger.add(place, *interval) {
                    on_event(EngineEvent::Interval(&interval));
                }
            }
            Ok(Batch::Executions(mut ended)) => {
                for execution in &mut ended {
                    execution.start_s += self.offset.as_secs_f64();
                    execution.end_s += self.offset.as_secs_f64();
                }
                on_executions(ended);
            }
            Ok(Batch::Note(text)) => on_event(EngineEvent::Note(&Note::Info(format!("{}: {text}", team.name(place))))),
            Err(why) => {
                self.unreadable.get_or_insert_with(|| format!("{}: {why}", team.name(place)));
            }
        }
    }

    /// Returns the outcome of the whole, and of each driver.
    fn conclude(
        self,
        stage: &StageOfTeam<'_>,
        end: &JobEnd,
        connect_ns: u64,
        start_ns: u64,
    ) -> (RunOutcome, Vec<DriverRecord>) {
        let StageOfTeam { team, task, threads, .. } = stage;
        let Self { merger, delays, unreadable, .. } = self;
        let (all, by_group) = merger.into_phases();
        let ends: Vec<std::result::Result<Drove, String>> = end.members.iter().map(drove).collect();
        let drove: Vec<&Drove> = ends.iter().filter_map(|end| end.as_ref().ok()).collect();
        let group = |(group, phases): (&pgdyno_workload::Group, Phases)| GroupOutcome {
            name: group.name,
            clients: group.clients.number(task.plan.drive.clients),
            ramp: phases.ramp,
            measured: phases.measured,
            drain: phases.drain,
        };
        let mut first_thread = 0;
        let drivers = ends.iter().enumerate().map(|(place, end)| {
            let own = first_thread..first_thread + threads[place];
            first_thread = own.end;
            DriverShare { member: &team.members[place], end, threads: own, delays: &delays[place] }
                .record(&all.measured, start_ns)
        });
        let drivers: Vec<_> = drivers.collect();
        let outcome = RunOutcome {
            ended: stage.ended(end, &drove, unreadable),
            groups: stage.stage.groups.iter().zip(by_group).map(group).collect(),
            later_stages: Vec::new(),
            connect_ns,
            threads: threads.iter().sum(),
            clients: stage.stage.clients(task.plan.drive.clients),
            clients_lost: drove.iter().map(|drove| drove.clients_lost).sum(),
            clients_aborted: drove.iter().map(|drove| drove.clients_aborted).sum(),
            first_aborted_on: None,
            cancelled_in_flight: drove.iter().map(|drove| drove.cancelled_in_flight).sum(),
            errors: errors(&drove),
            endpoints: Vec::new(),
            process: usage(&drove),
            ramp: all.ramp,
            measured: all.measured,
            drain: all.drain,
        };
        (outcome, drivers)
    }
}

impl StageOfTeam<'_> {
    /// Returns how the stage ended.
    fn ended(&self, end: &JobEnd, drove: &[&Drove], unreadable: Option<String>) -> RunEnd {
        let server_lost = drove.iter().map(|drove| drove.server_lost.clone()).collect::<Option<Vec<_>>>();
        let lost = end.members.iter().any(|end| lost(end).is_some());
        match (unreadable, &end.failure, server_lost.and_then(|mut lost| lost.pop())) {
            (Some(why), _, _) => RunEnd::Fatal(why),
            (_, Some(why), _) if lost => RunEnd::DriverLost(self.team.named(why)),
            (_, Some(why), _) => RunEnd::Fatal(self.team.named(why)),
            (_, _, Some(why)) => RunEnd::ServerLost(why),
            _ if self.stop.is_requested() => RunEnd::Interrupted,
            _ => RunEnd::Complete,
        }
    }
}

/// Returns what an agent did, or why it did not.
fn drove(end: &MemberEnd) -> std::result::Result<Drove, String> {
    match end {
        MemberEnd::Did(bytes) => task::decode(bytes),
        MemberEnd::Failed(why) | MemberEnd::Lost(why) => Err(why.clone()),
    }
}

/// Returns the errors of all agents by SQLSTATE.
fn errors(drove: &[&Drove]) -> BTreeMap<SqlState, ErrorSample> {
    let mut errors: BTreeMap<SqlState, ErrorSample> = BTreeMap::new();
    for error in drove.iter().flat_map(|drove| &drove.errors) {
        let (message, place) = (error.message.clone(), error.place.clone());
        let known = errors.entry(SqlState::from_bytes(error.code.as_bytes()));
        let count = &mut known.or_insert(ErrorSample { count: 0, message, place }).count;
        *count = count.saturating_add(error.count);
    }
    errors
}

/// Returns the CPU time of all agents.
fn usage(drove: &[&Drove]) -> ProcessUsage {
    drove.iter().map(|drove| drove.usage()).fold(ProcessUsage::default(), |sum, one| ProcessUsage {
        user_ns: sum.user_ns + one.user_ns,
        sys_ns: sum.sys_ns + one.sys_ns,
        ..sum
    })
}

/// One agent's share of a stage.
struct DriverShare<'a> {
    member: &'a AgentRow,
    end: &'a std::result::Result<Drove, String>,
    /// Its threads, of those of all agents.
    threads: std::ops::Range<usize>,
    delays: &'a OwnDelays,
}

impl DriverShare<'_> {
    /// Returns the driver with its threads' share of the measured window.
    fn record(&self, window: &Totals, start_ns: u64) -> DriverRecord {
        let Self { member, end, threads, delays } = self;
        let drove = end.as_ref().ok();
        let wall_ns = (window.seconds() * 1e9).max(1.0);
        let workers = window.workers.get(threads.clone()).unwrap_or_default();
        let waited: u64 = workers.iter().map(|worker| worker.run_delay_ns).sum();
        let apart = |began: u64| (i128::from(began) - i128::from(start_ns)) as f64 / 1e6;
        let began = drove.and_then(|drove| drove.began_ns);
        DriverRecord {
            host: member.host.clone(),
            pid: member.pid,
            clients: drove.map_or(0, |drove| drove.clients),
            lost: end.as_ref().err().cloned(),
            start_ms: began.map(apart),
            clock_error_ms: drove.and_then(|drove| drove.clock_error_ns).map(|ns| ns as f64 / 1e6),
            client: ClientRecord {
                threads: threads.len(),
                thread_busy: workers.iter().map(|worker| worker.cpu_ns() as f64 / wall_ns).collect(),
                beside_busy: window.beside_busy(workers),
                run_delay: waited as f64 / workers.len().max(1) as f64 / wall_ns,
                absent: figures::absent(workers, wall_ns),
                cpu_user_s: drove.map_or(0.0, |drove| drove.user_ns as f64 / 1e9),
                cpu_sys_s: drove.map_or(0.0, |drove| drove.sys_ns as f64 / 1e9),
                read_delay_ns: delays.read.percentiles().map(Into::into),
                timer_lateness_ns: delays.timer.percentiles().map(Into::into),
                unread_share: (delays.service_ns > 0).then(|| delays.read.sum_ns() as f64 / delays.service_ns as f64),
                ..drove.map_or_else(
                    || ClientRecord { cpus: member.cpus, ..ClientRecord::default() },
                    |drove| drove.client.clone(),
                )
            },
            later_stages: Vec::new(),
        }
    }
}
