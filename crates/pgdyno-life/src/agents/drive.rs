//! A team of agents drives: the same events and the same outcome as those of the engine in this process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_engine::{Control, Ended, ErrorSample, Event, GroupOutcome, ProcessUsage, RunOutcome};
use pgdyno_measure::{Delays, Merger, Phase, Phases, StagePlace, Totals};
use pgdyno_meet::{JobEnd, MemberEnd, News};
use pgdyno_results::{ClientRecord, DriverRecord};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Drive, Note, Stage, Work};

use super::Team;
use super::task::{self, Batch, DriveTask, Drove, Task};
use super::team::Told;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};

/// Time between the order to begin and the beginning: the order arrives everywhere before that, even if the meeting
/// server is slow.
const LEAD: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(50);

/// What came in while the agents drove.
struct Intake {
    merger: Merger,
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

/// Drives with the team. `task` is that of the first agent.
///
/// # Errors
/// When the run could not begin.
pub(crate) fn drive(
    team: &Team,
    task: &DriveTask,
    drive: &dyn Drive,
    control: &Control,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<(RunOutcome, Vec<DriverRecord>)> {
    let stages = drive.stages();
    let [stage] = stages.as_slice() else {
        return Err(Failure::new(Code::Start, "a workload with several stages needs one driver"));
    };
    let share = |driver| task::encode(&Task::Drive(Box::new(DriveTask { driver, ..task.clone() })));
    let tasks = (0..team.len()).map(|driver| share(driver).map(Into::into).or_fail(Code::Start));
    team.begin(tasks.collect::<Result<_>>()?);
    let begun = Instant::now();
    let threads: Vec<_> = (0..team.len()).map(|driver| threads_of(driver, task)).collect();
    let mut intake = Intake {
        merger: Merger::new(
            &threads,
            &Work::headline(stage.groups.iter().map(|group| group.work)),
            StagePlace::default(),
        ),
        delays: vec![OwnDelays::default(); team.len()],
        unreadable: None,
    };
    let mut connect_ns = 0;
    // Its moment here and by the meeting server's clock, and whether it has come.
    let (mut start, mut has_begun): (Option<(Instant, u64)>, _) = (None, false);
    let mut stopped = None;
    let end = loop {
        let asked = (control.is_stopping() || intake.unreadable.is_some()).then(|| control.is_killing());
        if asked.is_some() && stopped != asked {
            stopped = asked;
            team.stop(control.is_killing());
        }
        if start.is_some_and(|(at, _)| !has_begun && at <= Instant::now()) {
            has_begun = true;
            on_event(Event::Started { connect_ns });
        }
        // The start is not to be missed.
        let patience = match start {
            Some((at, _)) if !has_begun => GLANCE.min(at.saturating_duration_since(Instant::now())),
            _ => GLANCE,
        };
        match team.told(patience)? {
            None => {}
            Some(Told::Go(None)) => team.stop(true),
            Some(Told::Go(moment)) => start = moment,
            Some(Told::News(News::Ready)) => {
                connect_ns = begun.elapsed().as_nanos() as u64;
                team.go(LEAD);
            }
            Some(Told::News(News::Batch { place, batch })) => intake.take(team, place, &batch, on_event),
            Some(Told::News(News::Lost { place, why })) => {
                on_event(Event::Note(&Note::Info(format!("{} was lost: {why}", team.name(place)))));
            }
            Some(Told::News(News::Ended(end))) => break end,
            Some(Told::News(News::Gathered(_) | News::TooFew(_))) => {}
        }
    };
    if !end.began {
        return Err(match end.failure {
            _ if control.is_stopping() => Failure::new(Code::Interrupted, "interrupted while the agents connected"),
            Some(why) => Failure::new(Code::Start, team.named(&why)),
            None => Failure::new(Code::Start, "the meeting server's clock is not known"),
        });
    }
    for interval in intake.merger.finish() {
        on_event(Event::Interval(&interval));
    }
    Ok(intake.conclude(team, &end, stage, task, connect_ns, start.map(|(_, at_ns)| at_ns), control))
}

/// Returns the number of an agent's threads.
fn threads_of(driver: usize, task: &DriveTask) -> usize {
    pgdyno_engine::Share { driver, drivers: task.drivers }.threads(task.plan.threads).len()
}

impl Intake {
    fn take(&mut self, team: &Team, place: usize, batch: &[u8], on_event: &mut dyn FnMut(Event<'_>)) {
        match Batch::from_bytes(batch) {
            Ok(Batch::Interval(interval)) => {
                if interval.phase == Phase::Measure {
                    let own = &mut self.delays[place];
                    for (part, _) in &interval.groups {
                        own.read.merge(&part.read_delay);
                        own.timer.merge(&part.timer_lateness);
                        own.service_ns += part.txns.iter().map(|txn| txn.service.sum_ns()).sum::<u128>();
                    }
                }
                for interval in self.merger.add(place, *interval) {
                    on_event(Event::Interval(&interval));
                }
            }
            Ok(Batch::Note(text)) => on_event(Event::Note(&Note::Info(format!("{}: {text}", team.name(place))))),
            Err(why) => {
                self.unreadable.get_or_insert_with(|| format!("{}: {why}", team.name(place)));
            }
        }
    }

    /// Returns the outcome of the whole, and of each driver.
    #[expect(clippy::too_many_arguments, reason = "everything that is known at the end of a run, once")]
    fn conclude(
        self,
        team: &Team,
        end: &JobEnd,
        stage: &Stage,
        task: &DriveTask,
        connect_ns: u64,
        start_ns: Option<u64>,
        control: &Control,
    ) -> (RunOutcome, Vec<DriverRecord>) {
        let Self { merger, delays, mut unreadable } = self;
        let (all, by_group) = merger.into_phases();
        let ends: Vec<std::result::Result<Drove, String>> = end
            .members
            .iter()
            .map(|end| match end {
                MemberEnd::Did(bytes) => task::decode(bytes),
                MemberEnd::Failed(why) | MemberEnd::Lost(why) => Err(why.clone()),
            })
            .collect();
        let drove = || ends.iter().filter_map(|end| end.as_ref().ok());
        let mut errors: BTreeMap<SqlState, ErrorSample> = BTreeMap::new();
        for error in drove().flat_map(|drove| &drove.errors) {
            let (message, place) = (error.message.clone(), error.place.clone());
            let known = errors.entry(SqlState::from_bytes(error.code.as_bytes()));
            known.or_insert(ErrorSample { count: 0, message, place }).count += error.count;
        }
        let server_lost = drove().map(|drove| drove.server_lost.clone()).collect::<Option<Vec<_>>>();
        let lost = end.members.iter().any(|end| matches!(end, MemberEnd::Lost(_)));
        let ended = match (unreadable.take(), &end.failure, server_lost.and_then(|mut lost| lost.pop())) {
            (Some(why), _, _) => Ended::Fatal(why),
            (_, Some(why), _) if lost => Ended::DriverLost(team.named(why)),
            (_, Some(why), _) => Ended::Fatal(team.named(why)),
            (_, _, Some(why)) => Ended::ServerLost(why),
            _ if control.is_stopping() => Ended::Interrupted,
            _ => Ended::Complete,
        };
        let group = |(group, phases): (&pgdyno_workload::Group, Phases)| GroupOutcome {
            name: group.name,
            clients: group.clients.number(task.plan.clients),
            ramp: phases.ramp,
            measured: phases.measured,
            drain: phases.drain,
        };
        let process = drove().map(Drove::usage).fold(ProcessUsage::default(), |sum, one| ProcessUsage {
            user_ns: sum.user_ns + one.user_ns,
            sys_ns: sum.sys_ns + one.sys_ns,
            ..sum
        });
        let mut first_thread = 0;
        let drivers = ends.iter().enumerate().map(|(place, end)| {
            let threads = threads_of(place, task);
            let own = first_thread..first_thread + threads;
            first_thread += threads;
            driver(team, place, end, &all.measured, own, &delays[place], start_ns)
        });
        let drivers: Vec<_> = drivers.collect();
        let outcome = RunOutcome {
            ended,
            groups: stage.groups.iter().zip(by_group).map(group).collect(),
            later_stages: Vec::new(),
            connect_ns,
            threads: task.plan.threads,
            clients: task.plan.clients,
            clients_lost: drove().map(|drove| drove.clients_lost).sum(),
            clients_aborted: drove().map(|drove| drove.clients_aborted).sum(),
            first_aborted_on: None,
            cancelled_in_flight: drove().map(|drove| drove.cancelled_in_flight).sum(),
            errors,
            process,
            ramp: all.ramp,
            measured: all.measured,
            drain: all.drain,
        };
        (outcome, drivers)
    }
}

/// Returns one driver, with its threads' share of the measured window.
fn driver(
    team: &Team,
    place: usize,
    end: &std::result::Result<Drove, String>,
    window: &Totals,
    threads: std::ops::Range<usize>,
    own: &OwnDelays,
    start_ns: Option<u64>,
) -> DriverRecord {
    let member = &team.members[place];
    let drove = end.as_ref().ok();
    let wall_ns = (window.seconds() * 1e9).max(1.0);
    let workers = window.workers.get(threads.clone()).unwrap_or_default();
    let waited: u64 = workers.iter().map(|worker| worker.run_delay_ns).sum();
    let apart = |(began, start): (u64, u64)| (i128::from(began) - i128::from(start)) as f64 / 1e6;
    let began = drove.and_then(|drove| drove.began_ns);
    DriverRecord {
        host: member.host.clone(),
        pid: member.pid,
        clients: drove.map_or(0, |drove| drove.clients),
        lost: end.as_ref().err().cloned(),
        start_ms: began.zip(start_ns).map(apart),
        clock_error_ms: drove.and_then(|drove| drove.clock_error_ns).map(|ns| ns as f64 / 1e6),
        client: ClientRecord {
            threads: threads.len(),
            thread_busy: workers.iter().map(|worker| worker.cpu_ns() as f64 / wall_ns).collect(),
            run_delay: waited as f64 / workers.len().max(1) as f64 / wall_ns,
            cpu_user_s: drove.map_or(0.0, |drove| drove.user_ns as f64 / 1e9),
            cpu_sys_s: drove.map_or(0.0, |drove| drove.sys_ns as f64 / 1e9),
            read_delay_ns: own.read.percentiles().map(Into::into),
            timer_lateness_ns: own.timer.percentiles().map(Into::into),
            unread_share: (own.service_ns > 0).then(|| own.read.sum_ns() as f64 / own.service_ns as f64),
            ..drove.map_or_else(|| ClientRecord { cpus: member.cpus, ..ClientRecord::default() }, |d| d.client.clone())
        },
    }
}
