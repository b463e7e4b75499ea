//! An A/B experiment: two sides measured in turns by short runs, until the difference is decided.

mod begin;
mod decider;
mod difference;
mod levels;
mod live;
mod plans;
mod profile;
mod side;
mod statements;
mod time;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pgdyno_life::events::{EventSink, RunEvent};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_measure::ab::{UNITS_MIN, so_far};
use pgdyno_plan::{Order, RateOrder, RateStepsOrder, SuitePlan};
use pgdyno_report::compare::task_times;
use pgdyno_results::{
    AbRecord, AbRuns, AbUnit, AbVerdict, RECORD, RecordMetric, Resumable as _, RunRecord, Status, clients_time_of,
    read_series,
};
use pgdyno_text::units;

pub use begin::{ExperimentRequest, ExperimentStart, begin, resume};
pub use side::Side;

use crate::run::{Runner, StudyRun};
use crate::study::{self, Budget, Clock, End, Step, Study, shown_at_times};
use decider::{Decider, task_ratios};
use levels::percent;
use live::Spent;
use plans::SidePlans;
use profile::SliceProfile;

/// Clients of a slice begin all at once; so much of it is not measured.
const RAMP_S: f64 = 0.3;

/// An experiment in progress.
pub struct AbRun<'a> {
    record: AbRecord,
    sides: [Side; 2],
    runner: Runner<'a>,
    events: &'a dyn EventSink,
    decider: Decider,
}

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Loads what is missing and warms the caches.
    Load,
    /// Comes after a restart, and counts for nothing.
    WarmUp,
    /// Counts.
    Slice,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::WarmUp => "warm-up",
            Self::Slice => "slice",
        }
    }
}

/// A run that is ready to start.
struct Ready {
    order: Order,
    place: SuitePlan,
    log: PathBuf,
}

impl<'a> AbRun<'a> {
    /// Returns an experiment that begins, or goes on, on these sides.
    pub fn new(mut record: AbRecord, sides: [Side; 2], runner: Runner<'a>, events: &'a dyn EventSink) -> Self {
        record.restarts = sides.iter().all(Side::is_own);
        let decider = Decider::of(&record);
        Self { record, sides, runner, events, decider }
    }

    /// Returns its record.
    pub fn record(&self) -> &AbRecord {
        &self.record
    }

    /// Loads both sides, and measures until it is decided, the budget has ended, or the user ends it. What was measured is
    /// in the record, whatever happens.
    ///
    /// # Errors
    /// When a run fails, or the record cannot be written.
    pub fn carry_out(&mut self) -> Result<Code> {
        self.record.ended = None;
        self.save()?;
        let budget = |study: &Self| Budget { spent_s: study.record.spent_s, limit_s: Some(study.record.budget_s) };
        let (interrupt, events) = (self.runner.interrupt, self.events);
        let ended = study::carry_out(self, budget, interrupt);
        events.ended();
        ended
    }

    fn save(&self) -> Result<()> {
        self.record.save(self.runner.results).or_fail(Code::Start)
    }

    /// Shows what the experiment does now, what is known, and what is left of the budget. `spent_s` is the time that it has taken.
    fn show(&self, now: &str, spent_s: f64) {
        let spent = Spent { all_s: spent_s, of_units_s: self.record.spent_s };
        let so_far = live::so_far(&self.record, self.decider.next_look(), spent);
        self.events.event(&RunEvent::Study { now, so_far: &so_far, done: spent_s, of: self.record.budget_s });
    }

    /// Restarts both servers, where they are this program's own, and measures a block: four slices in turns.
    fn unit(&mut self, block: [usize; 4], clock: &Clock) -> Step<AbUnit> {
        let nth = self.record.units.len() + 1;
        if self.record.restarts {
            self.show(&format!("unit {nth}: restarting both servers"), clock.spent_s());
            for side in &mut self.sides {
                side.restart(self.events)?;
            }
            let warm_ups = [0, 1].map(|at| self.ready(at, Part::WarmUp));
            self.at_once(&warm_ups)?;
        }
        let mut logs = [0.0; 2];
        let mut slices = [Vec::new(), Vec::new()];
        let mut profiles = Vec::new();
        for (slice, at) in block.into_iter().enumerate() {
            let ready = self.ready(at, Part::Slice);
            let now = format!("unit {nth}, slice {} of 4: {}", slice + 1, self.sides[at].name);
            let on_poll = |_| self.show(&now, clock.spent_s());
            let (directory, record) = self.run(&ready, &shown_at_times(&on_poll))?;
            self.admit_plan(at, &record)?;
            self.count_responses(at, &directory.join(RECORD), &record)?;
            profiles.extend(SliceProfile::read(at, &directory, &record)?);
            logs[at] += self.figure(&record)?.ln() / 2.0;
            slices[at].push(record);
        }
        // Those of an unfinished unit do not count.
        profiles.into_iter().for_each(|profile: SliceProfile| profile.add_to(&mut self.record.profile));
        let tasks = slices.each_ref().map(|slices| slices.iter().flat_map(task_times).collect());
        let [a, b] = slices.each_ref().map(|slices| slices.iter().map(|slice| slice.id.clone()).collect::<Vec<_>>());
        self.record.runs.a.extend(a.iter().cloned());
        self.record.runs.b.extend(b.iter().cloned());
        let is_whole = self.record.whole_runs;
        let statements = &mut self.record.statements;
        Ok(AbUnit {
            log_ratio: logs[1] - logs[0],
            tasks: task_ratios(&tasks),
            statements: if is_whole { Vec::new() } else { statements::of_unit(statements, &slices) },
            levels: levels::levels(&self.record, &slices),
            clients_time: clients_time_of(slices.each_ref().map(Vec::as_slice)),
            ended_s: None,
            runs: AbRuns { a, b },
        })
    }

    /// Counts the response times of a slice, whose record is at `path`. Those of queries of whole runs are of different queries.
    fn count_responses(&mut self, at: usize, path: &Path, record: &RunRecord) -> Result<()> {
        if self.record.whole_runs {
            return Ok(());
        }
        let series = read_series(path, record, self.runner.results).or_fail(Code::Start)?;
        let responses = series.intervals.iter().map(|(_, responses)| &responses.response_ns);
        responses.for_each(|response_ns| self.record.responses.add(at, response_ns));
        Ok(())
    }

    /// Refuses a slice that does something else than those before it: a script or a default may have changed since.
    fn admit_plan(&mut self, at: usize, record: &RunRecord) -> Result<()> {
        let side = if at == 0 { &mut self.record.a } else { &mut self.record.b };
        let first = side.plan_hash.get_or_insert_with(|| record.plan_hash.clone());
        if *first == record.plan_hash {
            return Ok(());
        }
        let error = format!(
            "side {} no longer runs what it ran before: its script or its target has changed",
            self.sides[at].name
        );
        Err(CommandError::new(Code::Start, error).hint("start another experiment"))
    }

    /// Returns the metric of a slice.
    fn figure(&self, record: &RunRecord) -> Result<f64> {
        let metric = RecordMetric::named(&self.record.metric, std::iter::once(record));
        let value = metric.and_then(|metric| metric.value(record)).filter(|value| *value > 0.0);
        value.ok_or_else(|| {
            let error = format!("slice {} has no {}", record.id, self.record.metric);
            CommandError::new(Code::Run, error).hint("give a longer --slice")
        })
    }

    /// Says what the units show so far.
    fn note(&self) {
        let ratios: Vec<f64> = self.record.units.iter().map(|unit| unit.log_ratio).collect();
        self.events.note(&format!(
            "unit {}: {} {:+.1} % so far, {} of {}",
            ratios.len(),
            self.record.metric.to_uppercase(),
            percent(so_far(&ratios)),
            units::duration(self.record.spent_s),
            units::duration(self.record.budget_s)
        ));
    }

    /// Returns the next run of a side.
    fn ready(&mut self, at: usize, part: Part) -> Ready {
        self.record.runs_made += 1;
        let side = &self.sides[at];
        let mut order = side.order.clone();
        if !self.record.whole_runs {
            order.drive.time = Some(self.record.slice_s);
            order.drive.ramp = Some(RAMP_S);
            // With a rate both sides would do as many transactions.
            order.drive.rate = Some(RateOrder::None);
            order.drive.rate_steps = Some(RateStepsOrder::None);
        }
        // What slices are sampled costs both sides the same.
        order.watch.no_samples |= part == Part::WarmUp || !self.record.sampled;
        if part == Part::Load {
            order.watch.statement_plans = Some(plans::STATEMENTS).filter(|_| self.record.sampled);
            order.watch.plans = side.has_queries;
        } else {
            // It finds its data there and leaves the checks to the first run.
            (order.no_load, order.replace, order.no_check, order.no_vacuum) = (true, false, true, true);
        }
        let place = SuitePlan {
            suite: "ab".to_owned(),
            id: self.record.id.clone(),
            run: format!("{} {}", side.name, part.name()),
            repetition: self.record.runs_made,
        };
        // Warm-ups run at once, and need a log each.
        let log = format!("{}.{}.log", self.record.id, side.name.to_lowercase());
        Ready { order, place, log: AbRecord::directory(self.runner.results).join(log) }
    }

    /// Carries out two runs at once.
    fn at_once(&self, [first, second]: &[Ready; 2]) -> Step<()> {
        std::thread::scope(|scope| {
            let first = scope.spawn(|| self.run(first, &|_| ()));
            let second = self.run(second, &|_| ());
            let first =
                first.join().map_err(|_| CommandError::new(Code::Run, "a thread of the experiment ended early"))?;
            first?;
            second.map(|_| ())
        })
    }

    /// Carries out a run and returns its directory and its record. `on_poll` is called while it goes on.
    fn run(&self, Ready { order, place, log }: &Ready, on_poll: &dyn Fn(Duration)) -> Step<(PathBuf, RunRecord)> {
        let run = StudyRun { order, place, log, time_limit: None };
        let failed = format!("the run {} failed", place.run);
        let ended = self.runner.run(&run, on_poll)?;
        self.runner.usable(&run, ended, |record| record.status == Status::Complete, &failed)
    }
}

impl Study for AbRun<'_> {
    type Step = [usize; 4];

    /// Carries out one run of each side that loads what is missing and warms the caches. It counts for nothing. Where it can be,
    /// B has a copy of A's data.
    fn prepare(&mut self) -> Step<()> {
        let mut plans = Vec::new();
        for at in [0, 1] {
            if at == 1 {
                Side::share_data(&mut self.sides, self.events)?;
            }
            self.events.note(&format!("side {}: loading what is missing, and warming up", self.sides[at].name));
            let ready = self.ready(at, Part::Load);
            let (directory, record) = self.run(&ready, &|_| ())?;
            if self.record.metric.is_empty() {
                self.record.metric = RecordMetric::headline(std::iter::once(&record)).name().to_owned();
            }
            let metric = RecordMetric::named(&self.record.metric, std::iter::once(&record));
            self.decider.is_time = metric.as_ref().is_some_and(RecordMetric::is_latency);
            self.record.metric_title = metric.map(|metric| metric.title().to_owned()).unwrap_or_default();
            self.record.whole_runs = record.plan.drive.ends_with_work();
            plans.push(SidePlans::read(&directory, record));
        }
        if let [a, b] = &plans[..] {
            self.record.plans = plans::changes(a, b);
        }
        if self.record.units.is_empty() && !self.record.whole_runs {
            let first_s = time::first_verdict_s(self.record.slice_s, self.record.restarts);
            self.events.note(&format!(
                "the first verdict comes after {UNITS_MIN} units, in about {}",
                units::duration(first_s)
            ));
        }
        Ok(())
    }

    fn next(&self) -> Option<[usize; 4]> {
        Decider::next(&self.record)
    }

    fn measure(&mut self, block: [usize; 4], clock: &Clock) -> Step<()> {
        let spent_before_s = clock.spent_s();
        let mut unit = self.unit(block, clock)?;
        unit.ended_s = Some(clock.spent_s());
        self.decider.add(&mut self.record, unit);
        self.record.spent_s = clock.spent_s();
        self.save()?;
        self.note();
        let AbRecord { units, spent_s, budget_s, .. } = &self.record;
        if let Some(warning) = time::too_long(units.len(), spent_s - spent_before_s, *spent_s, *budget_s) {
            self.events.note(&warning);
        }
        Ok(())
    }

    fn conclude(&mut self, end: &End) -> Result<Code> {
        if let End::Budget = end {
            self.decider.look_last(&mut self.record);
        }
        let is_decided = self.record.verdict != AbVerdict::Undecided;
        let end = if is_decided && matches!(end, End::Budget) { &End::Enough } else { end };
        self.record.ended = Some(end.text("decided"));
        self.save()?;
        // The record has all of it.
        if let Err(failure) = profile::keep(&self.record, self.runner.results) {
            self.events.warn(&failure.text());
        }
        Ok(decider::code(self.record.verdict))
    }
}
