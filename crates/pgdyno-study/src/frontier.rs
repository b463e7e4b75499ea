//! A frontier: transactions at several rates beside several streams of queries, on the same data. Each point is a run, or
//! several.

mod begin;
mod decider;

use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_measure::search::Seen;
use pgdyno_plan::{Order, SuitePlan};
use pgdyno_results::{FrontierPoint, FrontierRecord, Objective, Resumable as _, RunRecord, Status};
use pgdyno_text::units;

use crate::page::write_beside;
use crate::run::{Runner, StudyRun};
use crate::search::judge::judge;
use crate::study::{self, Budget, Clock, End, Step, Study};
use decider::{interval, order_of, result, with_streams};

pub use begin::{FrontierRequest, FrontierStart, begin, resume};

/// A frontier in progress.
pub struct FrontierRun<'a> {
    record: FrontierRecord,
    objectives: Vec<Objective>,
    /// The order of every run, without rate and streams, and with its passwords.
    order: Order,
    runner: Runner<'a>,
    events: &'a dyn EventSink,
}

impl<'a> FrontierRun<'a> {
    /// Returns a frontier that begins, or goes on.
    pub fn new(
        record: FrontierRecord,
        objectives: Vec<Objective>,
        mut order: Order,
        runner: Runner<'a>,
        events: &'a dyn EventSink,
    ) -> Self {
        if record.restored && order.from_template.is_none() {
            order.from_template = Some(String::new());
        }
        Self { record, objectives, order, runner, events }
    }

    /// Returns its record.
    pub fn record(&self) -> &FrontierRecord {
        &self.record
    }

    /// Measures all points, until they are done, the budget has ended, or the user ends it. What was measured is in the
    /// record, whatever happens.
    ///
    /// # Errors
    /// When a run has no figures, or the record cannot be written.
    pub fn carry_out(&mut self) -> Result<Code> {
        self.record.ended = None;
        self.save()?;
        let budget = |study: &Self| Budget { spent_s: study.record.spent_s, limit_s: study.record.budget_s };
        let interrupt = self.runner.interrupt;
        study::carry_out(self, budget, interrupt)
    }

    fn log(&self) -> PathBuf {
        self.record.path(self.runner.results).with_extension("log")
    }

    fn save(&self) -> Result<()> {
        self.record.save(self.runner.results).or_fail(Code::Start)
    }

    /// Measures a point once.
    fn point(&mut self, nth: usize) -> Step<()> {
        let point = &self.record.points[nth];
        let (share, repetition) = (point.share, point.runs.len() as u32 + 1);
        let name = format!("rate={:.0}%,streams={}", share * 100.0, point.streams);
        let order = order_of(point, &self.record, &self.order);
        let (directory, record) = self.run(&order, &name, repetition)?;
        let point = &mut self.record.points[nth];
        if *point.plan_hash.get_or_insert_with(|| record.plan_hash.clone()) != record.plan_hash {
            let error =
                format!("the run of {name} is not what it was before: something that it depends on has changed");
            return Err(CommandError::new(Code::Start, error).hint("start another frontier").into());
        }
        let missed = if share > 0.0 { missed(&record, &directory, &self.objectives) } else { None };
        let (tps, hour) = add_figures(point, &record);
        point.add_run(record.id.clone(), missed.clone());
        let missed = missed.map_or_else(String::new, |why| format!("; missed: {why}"));
        self.events.note(&format!("{name}: {} TPS, {} queries/h{missed}", units::rate(tps), units::rate(hour)));
        Ok(())
    }

    /// Carries out a run.
    fn run(&self, order: &Order, name: &str, repetition: u32) -> Step<(PathBuf, RunRecord)> {
        let suite = format!("frontier-{}", self.record.workload);
        let place = SuitePlan { suite, id: self.record.id.clone(), run: name.to_owned(), repetition };
        let run = StudyRun { order, place: &place, log: &self.log(), time_limit: None };
        let is_usable = |record: &RunRecord| record.summary.is_some() && record.status != Status::Failed;
        self.runner.record(&run, is_usable, &format!("the run of {name} has no figures"))
    }
}

impl Study for FrontierRun<'_> {
    type Step = usize;

    /// Loads the data where it is missing, and measures the highest rate: a closed loop without queries.
    fn prepare(&mut self) -> Step<()> {
        if self.record.highest_tps.is_some() {
            return Ok(());
        }
        let (_, record) = self.run(&with_streams(&self.order, 0), "highest rate", 1)?;
        let tps = record.summary.as_ref().map_or(0.0, |summary| summary.tps);
        if tps <= 0.0 {
            let error = "nothing was committed in a closed loop, so there is no highest rate";
            return Err(CommandError::new(Code::Run, error)
                .hint(format!("its output is in {}", self.log().display()))
                .into());
        }
        (self.record.highest_tps, self.record.highest_run) = (Some(tps), Some(record.id));
        self.events.note(&format!("highest rate, closed loop without queries: {} TPS", units::rate(tps)));
        Ok(self.save()?)
    }

    fn next(&self) -> Option<usize> {
        decider::next(&self.record)
    }

    fn measure(&mut self, nth: usize, clock: &Clock) -> Step<()> {
        self.point(nth)?;
        self.record.spent_s = clock.spent_s();
        self.record.result = result(&self.record.points);
        self.save()?;
        // Pages of its runs link to it. Without it the record has the same.
        let _ = write_beside(&self.record, &self.record.path(self.runner.results), pgdyno_report::frontier::page);
        Ok(())
    }

    fn conclude(&mut self, end: &End) -> Result<Code> {
        self.record.ended = Some(end.text("complete"));
        self.save()?;
        Ok(Code::Success)
    }
}

/// Adds the figures of a run to its point. Returns transactions a second and queries an hour.
fn add_figures(point: &mut FrontierPoint, record: &RunRecord) -> (f64, f64) {
    let metric = |name: &str| record.metrics.get(name).map_or(0.0, |metric| metric.value);
    let tps = record.summary.as_ref().map_or(0.0, |summary| if point.share > 0.0 { summary.tps } else { 0.0 });
    let hour = metric("analytics-per-hour").max(metric("analytics-per-hour-alone"));
    point.tps.push(tps);
    point.queries_per_hour.push(hour);
    point.tps_interval = interval(&point.tps);
    // One run has its sets of queries.
    let streams = record.analytics.as_ref().and_then(|analytics| analytics.stages.first());
    let of_run = streams.and_then(|streams| streams.queries_per_hour_interval);
    point.queries_per_hour_interval = interval(&point.queries_per_hour).or(of_run);
    (tps, hour)
}

/// Returns why the transactions of a run missed their rate or an objective.
fn missed(record: &RunRecord, directory: &Path, objectives: &[Objective]) -> Option<String> {
    let measured = match judge(record, directory, objectives) {
        Ok(measured) => measured,
        Err(why) => return Some(why),
    };
    match measured.seen {
        Seen::Overloaded => measured.overload.or_else(|| Some("overloaded".to_owned())),
        Seen::Margin(margin) if margin < 0.0 => {
            let broken =
                objectives.iter().filter(|objective| objective.margin(record).is_some_and(|margin| margin < 0.0));
            Some(format!("not {}", broken.map(ToString::to_string).collect::<Vec<_>>().join(", not ")))
        }
        Seen::Margin(_) => None,
    }
}
