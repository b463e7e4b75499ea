//! A search for the highest load that meets its objectives. Each measurement is a run with this load.

mod decider;
pub(crate) mod judge;
mod live;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use pgdyno_life::events::{EventSink, RunEvent};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_measure::search::ERROR;
use pgdyno_plan::{Order, RateOrder, RateStepsOrder, SuitePlan};
use pgdyno_report::search::load as words;
use pgdyno_results::{Objective, RunRecord, SearchRecord, SearchStatus, Status, run_id, write_json};
use pgdyno_text::units;

use crate::run::{Runner, StudyRun};
use crate::stored;
use crate::study::{self, Budget, Clock, End, Step, Study, shown_at_times};
use decider::{Decider, Outcome};
use judge::judge;

pub use decider::MAX_CLIENTS;

/// What the user asks for.
pub struct SearchRequest {
    /// The objectives that a load must meet.
    pub objectives: Vec<Objective>,
    /// Share of the rarest transactions that an objective is about in all of the mix.
    pub share: f64,
    /// What is varied: `rate` or `clients`.
    pub by: String,
    /// The lowest load.
    pub min: Option<f64>,
    /// The highest load.
    pub max: Option<f64>,
    /// Maximum number of runs.
    pub steps: usize,
    /// Wanted width of the interval around the limit, as a share of its lower end.
    pub precision: f64,
    /// Number of loads below the limit to measure for the curve.
    pub curve: usize,
    /// Length of a run's measured window in seconds, if it has one.
    pub time_s: Option<f64>,
}

/// A search in progress.
pub struct SearchRun<'a> {
    wanted: SearchRequest,
    /// The order of every run, without its load. The first run loads the data; the others find it there.
    order: Order,
    record: SearchRecord,
    runner: Runner<'a>,
    events: &'a dyn EventSink,
    decider: Decider,
    /// The suite name in the records of its runs.
    suite: String,
    /// How often each load was measured, by the name of the run.
    repetitions: BTreeMap<String, u32>,
}

/// Returns the record of a search that starts now, for a workload on a target.
#[must_use]
pub fn begin(started: Timestamp, wanted: &SearchRequest, workload: String, target: String) -> SearchRecord {
    let id = stored::name(started, &suite(started, &workload));
    let mut record = SearchRecord::begin(id, started, workload, target, &wanted.by);
    record.objectives = wanted.objectives.iter().map(ToString::to_string).collect();
    record.precision = wanted.precision;
    record.error_probability = ERROR;
    record
}

/// Returns the suite name of the runs of a search for a workload.
fn suite(started: Timestamp, workload: &str) -> String {
    // A run's name consists of time, workload and salt; removing the others leaves the workload as names have it.
    let name = run_id(started, workload, 0);
    let workload = name.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-')).map_or("", |(name, _)| name);
    format!("search-{workload}")
}

impl<'a> SearchRun<'a> {
    /// Returns a search that carries out `order` with several loads.
    pub fn new(
        record: SearchRecord,
        wanted: SearchRequest,
        order: Order,
        runner: Runner<'a>,
        events: &'a dyn EventSink,
    ) -> Self {
        let suite = suite(Timestamp::UNIX_EPOCH, &record.workload);
        Self { wanted, order, record, runner, events, decider: Decider::default(), suite, repetitions: BTreeMap::new() }
    }

    /// Returns its record.
    pub fn record(&self) -> &SearchRecord {
        &self.record
    }

    /// Returns the path of its record.
    pub fn path(&self) -> PathBuf {
        self.directory().join(format!("{}.json", self.record.id))
    }

    fn directory(&self) -> PathBuf {
        self.runner.results.join(SearchRecord::DIRECTORY)
    }

    fn log(&self) -> PathBuf {
        self.path().with_extension("log")
    }

    fn save(&self) -> Result<()> {
        write_json(&self.directory(), &format!("{}.json", self.record.id), &self.record).or_fail(Code::Start)
    }

    /// Searches until the limit is found, the runs are used up, or the user ends it. What was measured is in the record,
    /// whatever happens.
    ///
    /// # Errors
    /// When a run has no figures, or the record cannot be written.
    pub fn carry_out(&mut self) -> Result<Code> {
        self.save()?;
        let interrupt = self.runner.interrupt;
        // It is limited by the number of runs, not by time.
        let events = self.events;
        let ended = study::carry_out(self, |_| Budget::default(), interrupt);
        events.ended();
        ended
    }

    /// Measures the throughput of a closed loop.
    fn capacity(&mut self) -> Step<f64> {
        let (_, record) = self.run("capacity", None)?;
        let tps = record.summary.map_or(0.0, |summary| summary.tps);
        if tps <= 0.0 {
            let error = "nothing was committed in a closed loop, so there is no rate to begin with";
            return Err(CommandError::new(Code::Run, error)
                .hint(format!("its output is in {}", self.log().display()))
                .into());
        }
        self.record.capacity_tps = Some(tps);
        self.events.note(&format!("closed loop: {} TPS", units::rate(tps)));
        Ok(tps)
    }

    /// Runs once; without a load, in a closed loop of all clients. The first run loads the data.
    fn run(&mut self, name: &str, load: Option<f64>) -> Step<(PathBuf, RunRecord)> {
        let repetition = self.repetitions.entry(name.to_owned()).or_default();
        *repetition += 1;
        let place = SuitePlan {
            suite: self.suite.clone(),
            id: self.record.id.clone(),
            run: name.to_owned(),
            repetition: *repetition,
        };
        let mut order = self.order.clone();
        // The rate is what is searched.
        order.drive.rate_steps = Some(RateStepsOrder::None);
        match self.wanted.by.as_str() {
            "rate" => order.drive.rate = Some(load.map_or(RateOrder::None, RateOrder::PerS)),
            _ => (order.drive.clients, order.drive.rate) = (load.map(|clients| clients as u32), Some(RateOrder::None)),
        }
        if !self.record.runs.is_empty() {
            (order.no_load, order.replace) = (true, false);
        }
        let run = StudyRun { order: &order, place: &place, log: &self.log(), time_limit: None };
        let is_usable = |record: &RunRecord| record.summary.is_some() && record.status != Status::Interrupted;
        let measured = load.map_or_else(|| "a closed loop".to_owned(), |load| words(&self.wanted.by, load));
        let now = format!("run {}: {measured}", self.record.runs.len() + 1);
        let ended = self.runner.run(&run, &shown_at_times(&|elapsed| self.show(&now, elapsed)))?;
        self.record.runs.extend(ended.record.as_ref().map(|(_, record)| record.id.clone()));
        self.runner.usable(&run, ended, is_usable, &format!("the run of {name} has no figures"))
    }
}

impl SearchRun<'_> {
    /// Shows what it measures for how long, and what is known.
    fn show(&self, now: &str, elapsed: Duration) {
        let (done, of) = (self.record.runs.len(), self.wanted.steps.max(self.record.runs.len() + 1));
        let (now, so_far) = (format!("{now}, {} s", elapsed.as_secs()), live::so_far(&self.record, of));
        self.events.event(&RunEvent::Study { now: &now, so_far: &so_far, done: done as f64, of: of as f64 });
    }
}

impl Study for SearchRun<'_> {
    type Step = f64;

    /// Finds the bounds; those of a rate follow from the throughput of a closed loop.
    fn prepare(&mut self) -> Step<()> {
        let capacity_tps = if self.wanted.by == "rate" { Some(self.capacity()?) } else { None };
        let bounds = decider::bounds(&self.wanted, capacity_tps);
        (self.record.min, self.record.max) = (Some(bounds.min), Some(bounds.max));
        self.decider.begin(bounds);
        Ok(())
    }

    fn next(&self) -> Option<f64> {
        self.decider.next()
    }

    fn measure(&mut self, load: f64, _: &Clock) -> Step<()> {
        let name = format!("{}={load}", self.wanted.by);
        let (directory, record) = self.run(&name, Some(load))?;
        let measured = judge(&record, &directory, &self.wanted.objectives).map_err(|why| {
            let error = format!("the run of {name} cannot be judged: {why}");
            CommandError::new(Code::Run, error).hint("measure for longer (-T), or raise --min")
        })?;
        self.decider.add(load, measured, &mut self.record);
        self.save()?;
        if let Some(point) = self.record.points.iter().find(|point| point.load == load) {
            self.events.note(&format!(
                "{}: {} so far, in {} ({})",
                words(&self.wanted.by, load),
                pgdyno_report::search::verdict(point),
                units::plural(point.repeats as u64, "run"),
                pgdyno_report::search::figures(point)
            ));
        }
        Ok(())
    }

    fn conclude(&mut self, end: &End) -> Result<Code> {
        let Outcome { status, reason, code } = match end {
            End::Enough | End::Budget => self.decider.outcome(&self.wanted, &self.record),
            End::Interrupted => Outcome {
                status: SearchStatus::Interrupted,
                reason: Some("ended by the user; what was measured until then is kept".to_owned()),
                code: Code::Interrupted,
            },
            End::Failed(failure) => {
                Outcome { status: SearchStatus::Failed, reason: Some(failure.text()), code: failure.code() }
            }
        };
        (self.record.status, self.record.reason) = (status, reason);
        self.record.ended_at = Some(Timestamp::now().to_string());
        self.save()?;
        Ok(code)
    }
}
