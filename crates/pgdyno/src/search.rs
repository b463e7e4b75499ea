//! Searches for the highest load that meets its objectives. Every measurement is a run in a separate process, with its
//! own record. `pgdyno_measure::search` decides which load is measured next.

pub(crate) mod point;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_measure::search::{Bounds, ERROR, Limit, REPEATS, Search, Verdict, knee};
use pgdyno_plan::{Order, SuitePlan};
use pgdyno_report::search::load as words;
use pgdyno_results::{Objective, RunRecord, SearchRecord, SearchStatus, Status, write_json};

use self::point::{Measured, judge, summed_up};
use crate::child::{self, Stopped};
use pgdyno_live::Progress;

/// The specification of a search.
pub(crate) struct Task<'a> {
    pub(crate) objectives: &'a [Objective],
    /// Share of the rarest transactions that an objective is about in all of the mix.
    pub(crate) share: f64,
    pub(crate) by: &'a str,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Maximum number of runs.
    pub(crate) steps: usize,
    pub(crate) precision: f64,
    pub(crate) curve: usize,
    /// Length of a run's measured window, if it has one.
    pub(crate) time_s: Option<f64>,
    /// The order of every run, without its load. The first run loads the data; the others find it there.
    pub(crate) order: Order,
    pub(crate) results: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
}

/// Default of the highest number of clients.
pub(crate) const MAX_CLIENTS: f64 = 256.0;

/// A search in progress.
pub(crate) struct SearchRun<'a> {
    task: Task<'a>,
    pub(crate) record: SearchRecord,
    /// The suite name in the records of its runs.
    suite: String,
    /// The runs of each load. The bits of a positive load have the same order as the load.
    seen: BTreeMap<u64, Vec<Measured>>,
    places: BTreeMap<String, u32>,
    directory: PathBuf,
}

impl<'a> SearchRun<'a> {
    /// Creates its record. Its runs are stored under `suite`.
    pub(crate) fn begin(task: Task<'a>, mut record: SearchRecord, suite: String) -> Result<Self> {
        record.objectives = task.objectives.iter().map(ToString::to_string).collect();
        record.precision = task.precision;
        record.error_probability = ERROR;
        let directory = task.results.join(SearchRecord::DIRECTORY);
        let (seen, places) = (BTreeMap::new(), BTreeMap::new());
        let search = Self { task, record, suite, seen, places, directory };
        search.save()?;
        Ok(search)
    }

    /// Returns the path of its record.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.record.id))
    }

    fn log(&self) -> PathBuf {
        self.directory.join(format!("{}.log", self.record.id))
    }

    fn save(&self) -> Result<()> {
        write_json(&self.directory, &format!("{}.json", self.record.id), &self.record).or_fail(Code::Start)
    }

    /// Runs the search to its end, and completes the record.
    pub(crate) fn go(&mut self) -> Result<Code> {
        let ended = self.bounds().and_then(|bounds| self.search(bounds));
        let (status, reason, result) = match ended {
            Ok(limit) => self.verdict(limit),
            Err(Stopped::Interrupted) => {
                let reason = "ended by the user; what was measured until then stands".to_owned();
                (SearchStatus::Interrupted, Some(reason), Ok(Code::Interrupted))
            }
            Err(Stopped::Failed(failure)) => (SearchStatus::Failed, Some(failure.text()), Err(failure)),
        };
        (self.record.status, self.record.reason) = (status, reason);
        self.record.ended_at = Some(Timestamp::now().to_string());
        self.save()?;
        result
    }

    /// Returns the bounds of the search; those of a rate follow from the throughput of a closed loop.
    fn bounds(&mut self) -> std::result::Result<Bounds, Stopped> {
        let budget = self.task.steps;
        let (min, max, start, growth, whole, budget) = if self.task.by == "rate" {
            let capacity = self.run("capacity", None)?;
            let tps = capacity.1.summary.map_or(0.0, |summary| summary.tps);
            if tps <= 0.0 {
                let error = "nothing was committed in a closed loop, so there is no rate to begin with";
                return Err(Failure::new(Code::Run, error)
                    .hint(format!("its output is in {}", self.log().display()))
                    .into());
            }
            self.record.capacity_tps = Some(tps);
            self.task.progress.note(&format!("closed loop: {} TPS", pgdyno_text::units::rate(tps)));
            // At least ten arrivals of a kind are needed for a judgement.
            let arrivals = 10.0 / self.task.share;
            let least = (tps / 1000.0).max(self.task.time_s.map_or(0.0, |time| arrivals / time)).min(tps);
            let min = self.task.min.unwrap_or(least.min(self.task.max.unwrap_or(f64::INFINITY)));
            let max = self.task.max.unwrap_or((2.0 * tps).max(min));
            (min, max, 0.7 * tps, std::f64::consts::SQRT_2, false, budget - 1)
        } else {
            let min = self.task.min.unwrap_or(1.0);
            (min, self.task.max.unwrap_or(MAX_CLIENTS.max(min)), min, 2.0, true, budget)
        };
        (self.record.min, self.record.max) = (Some(min), Some(max));
        let (precision, fill) = (self.task.precision, self.task.curve);
        Ok(Bounds { min, max, start: start.clamp(min, max), growth, whole, precision, budget, fill })
    }

    fn search(&mut self, bounds: Bounds) -> std::result::Result<Limit, Stopped> {
        let mut search = Search::new(bounds);
        while let Some(load) = search.next() {
            let measured = self.measure(load)?;
            search.saw(load, measured.seen);
            self.seen.entry(load.to_bits()).or_default().push(measured);
            self.sum_up(&search);
            self.save()?;
            if let Some(point) = self.record.points.iter().find(|point| point.load == load) {
                self.task.progress.note(&format!(
                    "{}: {} after {} of at most {} ({})",
                    words(self.task.by, load),
                    pgdyno_report::search::verdict(point),
                    point.repeats,
                    REPEATS,
                    pgdyno_report::search::figures(point)
                ));
            }
        }
        Ok(search.limit())
    }

    /// Updates the curve in the record.
    fn sum_up(&mut self, search: &Search) {
        let point = |(bits, runs): (&u64, &Vec<Measured>)| {
            let load = f64::from_bits(*bits);
            let verdict = match search.verdict(load) {
                Verdict::Kept => "kept",
                Verdict::Broken => "broken",
                Verdict::Open if runs.len() < REPEATS => "not decided",
                Verdict::Open => "cannot tell",
            };
            summed_up(load, verdict, runs)
        };
        self.record.points = self.seen.iter().map(point).collect();
        let curve =
            self.record.points.iter().map(|p| (p.achieved_per_s, p.response_latency_ns_mean.unwrap_or_default()));
        self.record.knee = knee(&curve.collect::<Vec<_>>()).map(|at| self.record.points[at].load);
        let limit = search.limit();
        (self.record.kept, self.record.broken) = (limit.kept, limit.broken);
        // A margin is the logarithm of bound over figure.
        self.record.drift_percent = limit.drift.map(|drift| ((-drift).exp() - 1.0) * 100.0);
    }

    /// Returns the outcome of a search.
    fn verdict(&self, limit: Limit) -> (SearchStatus, Option<String>, Result<Code>) {
        let Some(kept) = limit.kept else {
            let least = self.record.points.first().map(|point| words(self.task.by, point.load)).unwrap_or_default();
            let reason = match limit {
                Limit { exhausted: true, .. } => {
                    format!(
                        "ended by its {} runs before that was decided: give more --steps, or measure for longer (-T)",
                        self.task.steps
                    )
                }
                Limit { broken: Some(_), .. } => format!("even {least} does not meet it"),
                Limit { .. } => format!("noise hides whether {least} meets it"),
            };
            return (SearchStatus::NoneKept, Some(reason), Ok(Code::Run));
        };
        let runs = self.seen.get(&kept.to_bits()).map_or(&[][..], Vec::as_slice);
        let tps = runs.iter().map(|run| run.tps).sum::<f64>() / runs.len().max(1) as f64;
        if let Some(objective) = self.task.objectives.iter().find(|o| o.least_tps().is_some_and(|least| tps <= least)) {
            let (load, rate) = (words(self.task.by, kept), pgdyno_text::units::rate(tps));
            let reason = format!(
                "{load} is the highest load that meets the other objectives, and achieves {rate} TPS: {objective} is \
                 not met"
            );
            return (SearchStatus::NoneKept, Some(reason), Ok(Code::Run));
        }
        let within = |load: f64| load > kept && limit.broken.is_none_or(|broken| load < broken);
        let untold = self.record.points.iter().filter(|point| within(point.load)).count();
        let reason = match limit.exhausted {
            true => Some(format!(
                "ended by its {} runs before the interval was as narrow as asked for: give more --steps",
                self.task.steps
            )),
            false => (untold > 0)
                .then(|| format!("noise hides the verdict on {untold} loads in the interval: measure for longer (-T)")),
        };
        (SearchStatus::Found, reason, Ok(Code::Success))
    }

    /// Measures a load once.
    fn measure(&mut self, load: f64) -> std::result::Result<Measured, Stopped> {
        let name = format!("{}={load}", self.task.by);
        let (directory, record) = self.run(&name, Some(load))?;
        judge(&record, &directory, self.task.objectives).map_err(|why| {
            let error = format!("the run of {name} cannot be judged: {why}");
            Failure::new(Code::Run, error).hint("measure for longer (-T), or raise --min").into()
        })
    }

    /// Runs once; without a load, in a closed loop of all clients. The first run loads the data.
    fn run(&mut self, name: &str, load: Option<f64>) -> std::result::Result<(PathBuf, RunRecord), Stopped> {
        let repetition = self.places.entry(name.to_owned()).or_default();
        *repetition += 1;
        let place = SuitePlan {
            suite: self.suite.clone(),
            id: self.record.id.clone(),
            run: name.to_owned(),
            repetition: *repetition,
        };
        let mut order = self.task.order.clone();
        match self.task.by {
            "rate" => order.drive.rate = load,
            _ => order.drive.clients = load.map(|clients| clients as u32),
        }
        if !self.record.runs.is_empty() {
            (order.no_load, order.replace) = (true, false);
        }
        let ended = child::run(&order, &place, self.task.results, &self.log(), None, self.task.interrupt)?;
        let id = ended.record.as_ref().map(|(_, record)| record.id.clone());
        self.record.runs.extend(id);
        if self.task.interrupt.control.is_stopping() {
            return Err(Stopped::Interrupted);
        }
        match ended.record {
            Some((directory, record)) if record.summary.is_some() && record.status != Status::Interrupted => {
                Ok((directory, record))
            }
            Some((_, record)) => Err(self.nothing(name, Some(&record), ended.code)),
            None => Err(self.nothing(name, None, ended.code)),
        }
    }

    /// Returns why a run has no figures.
    fn nothing(&self, name: &str, record: Option<&RunRecord>, code: Option<i32>) -> Stopped {
        child::failure(&format!("the run of {name} has no figures"), record, code, &self.log()).into()
    }
}
