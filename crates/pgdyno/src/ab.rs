//! An A/B experiment: two sides measured in turns by short runs, each in a process of its own with a record of its own, until
//! the difference is decided. When that is, `pgdyno_measure::ab` says.

mod side;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_live::Progress;
use pgdyno_measure::ab::{Experiment, Shown, so_far};
use pgdyno_plan::{Order, StagePlan, SuitePlan};
use pgdyno_report::compare::task_times;
use pgdyno_results::{
    AbRecord, AbRuns, AbTask, AbTaskRatio, AbUnit, AbVerdict, Metric, Resumable as _, RunRecord, Status,
};

pub(crate) use side::{Side, differ};

use crate::child::{self, Stopped};
use crate::resumable::conclude;

/// Clients of a slice begin all at once; so much of it is not measured.
const RAMP_S: f64 = 0.3;

/// An experiment under way.
pub(crate) struct AbRun<'a> {
    pub(crate) record: AbRecord,
    pub(crate) sides: [Side; 2],
    pub(crate) results: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
    experiment: Experiment,
    /// Whether less of the figure is better.
    is_time: bool,
}

/// A run that is ready to start.
struct Ready {
    order: Order,
    place: SuitePlan,
    log: PathBuf,
}

impl<'a> AbRun<'a> {
    pub(crate) fn new(
        record: AbRecord,
        sides: [Side; 2],
        results: &'a Path,
        interrupt: &'a Interrupt,
        progress: &'a Progress,
    ) -> Self {
        let experiment = Experiment { margin: record.margin, confidence: record.confidence, looks: record.looks };
        Self { record, sides, results, interrupt, progress, experiment, is_time: false }
    }

    fn save(&self) -> Result<()> {
        self.record.save(self.results).or_fail(Code::Start)
    }

    /// Loads both sides, and measures until it is decided, the budget has ended, or somebody ends it. What was measured is
    /// in the record, whatever happens.
    pub(crate) fn go(&mut self) -> Result<Code> {
        self.record.ended = None;
        self.save()?;
        let measured = self.load().and_then(|()| self.measure());
        let code = self.code();
        conclude(&mut self.record, self.results, measured.map(|why| (why, code)))
    }

    /// The exit code of the verdict.
    fn code(&self) -> Code {
        match self.record.verdict {
            AbVerdict::Slower => Code::Slower,
            AbVerdict::CannotTell => Code::Unsure,
            AbVerdict::Faster | AbVerdict::NoDifference => Code::Success,
        }
    }

    /// One run of each side that loads what is missing and warms the caches. It counts for nothing. Where it can be, B has a copy
    /// of A's data.
    fn load(&mut self) -> std::result::Result<(), Stopped> {
        for at in [0, 1] {
            if at == 1 {
                Side::share_data(&mut self.sides, self.progress)?;
            }
            self.progress.note(&format!("side {}: loading what is missing, and warming up", self.sides[at].name));
            let ready = self.ready(at, "load", |_| {});
            let record = self.carry_out(&ready)?;
            if self.record.metric.is_empty() {
                self.record.metric = Metric::headline(std::iter::once(&record)).name().to_owned();
            }
            let metric = Metric::named(&self.record.metric, std::iter::once(&record));
            self.is_time = metric.is_some_and(|metric| metric.is_latency());
            self.record.whole_runs = record.plan.stages.first().is_some_and(StagePlan::ends_with_work);
        }
        Ok(())
    }

    fn measure(&mut self) -> std::result::Result<&'static str, Stopped> {
        let began = Instant::now();
        let spent_before_s = self.record.spent_s;
        let budget = Duration::from_secs_f64((self.record.budget_s - spent_before_s).max(0.0));
        let mut longest = Duration::ZERO;
        loop {
            let unit_began = Instant::now();
            let unit = self.unit()?;
            self.record.units.push(unit);
            self.record.spent_s = spent_before_s + began.elapsed().as_secs_f64();
            longest = longest.max(unit_began.elapsed());
            let is_last = began.elapsed() + longest > budget;
            if self.record.units.len() >= self.experiment.next_look() || is_last {
                self.look();
            }
            self.save()?;
            self.tell();
            if self.record.verdict != AbVerdict::CannotTell {
                return Ok("decided");
            }
            if is_last {
                return Ok("budget");
            }
        }
    }

    /// Restarts both servers, where they are this program's own, and measures a block: four slices in turns.
    fn unit(&mut self) -> std::result::Result<AbUnit, Stopped> {
        if self.record.restarts {
            for side in &mut self.sides {
                side.restart(self.progress)?;
            }
            let warm_ups = [0, 1].map(|at| self.ready(at, "warm-up", no_load));
            self.at_once(&warm_ups)?;
        }
        // Every other block is the other way round.
        let order = if self.record.units.len().is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        let mut logs = [0.0; 2];
        let mut tasks = [Vec::new(), Vec::new()];
        let mut runs = [Vec::new(), Vec::new()];
        for at in order {
            let ready = self.ready(at, "slice", no_load);
            let record = self.carry_out(&ready)?;
            self.admit_plan(at, &record)?;
            logs[at] += self.figure(&record)?.ln() / 2.0;
            tasks[at].extend(task_times(&record));
            runs[at].push(record.id);
        }
        let [a, b] = runs;
        self.record.runs.a.extend(a.iter().cloned());
        self.record.runs.b.extend(b.iter().cloned());
        Ok(AbUnit { log_ratio: logs[1] - logs[0], tasks: task_ratios(&tasks), runs: AbRuns { a, b } })
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
        Err(Failure::new(Code::Start, error).hint("start another experiment"))
    }

    /// The metric of a slice.
    fn figure(&self, record: &RunRecord) -> std::result::Result<f64, Stopped> {
        let metric = Metric::named(&self.record.metric, std::iter::once(record));
        let value = metric.and_then(|metric| metric.value(record)).filter(|value| *value > 0.0);
        value.ok_or_else(|| {
            let error = format!("slice {} has no {}", record.id, self.record.metric);
            Stopped::Failed(Failure::new(Code::Run, error).hint("give a longer --slice"))
        })
    }

    fn log_ratios(&self) -> Vec<f64> {
        self.record.units.iter().map(|unit| unit.log_ratio).collect()
    }

    /// Looks at what was measured so far.
    fn look(&mut self) {
        let Some(look) = self.experiment.look(&self.log_ratios()) else { return };
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let record = &mut self.record;
        record.looks = self.experiment.looks;
        record.change_percent = Some(percent(look.change.ratio));
        record.interval_percent = Some([percent(look.change.low), percent(look.change.high)]);
        record.noise_percent = Some(look.change.variance_of_one.sqrt() * 100.0);
        record.units_for_power = look.units_for_power;
        record.verdict = verdict(look.shown, self.is_time);
        self.record.tasks = self.look_at_tasks();
    }

    /// Looks at the tasks that every unit has, after the look at the figure. They share the error that is allowed equally
    /// (Bonferroni), so that all of their intervals hold together.
    fn look_at_tasks(&self) -> Vec<AbTask> {
        let ratio =
            |unit: &AbUnit, name: &str| unit.tasks.iter().find(|task| task.name == name).map(|task| task.log_ratio);
        let names =
            self.record.units.first().into_iter().flat_map(|unit| unit.tasks.iter().map(|task| task.name.as_str()));
        let ratios = |name| {
            let ratios = self.record.units.iter().map(|unit| ratio(unit, name)).collect::<Option<Vec<f64>>>()?;
            Some((name, ratios))
        };
        let tasks: Vec<(&str, Vec<f64>)> = names.filter_map(ratios).collect();
        let confidence = 1.0 - (1.0 - self.experiment.confidence) / tasks.len().max(1) as f64;
        let looks = self.experiment.looks.saturating_sub(1);
        let look = |(name, ratios): &(&str, Vec<f64>)| {
            let look = Experiment { confidence, looks, ..self.experiment }.look(ratios)?;
            let percent = |ratio: f64| (ratio - 1.0) * 100.0;
            Some(AbTask {
                name: (*name).to_owned(),
                change_percent: percent(look.change.ratio),
                interval_percent: [percent(look.change.low), percent(look.change.high)],
                verdict: verdict(look.shown, true),
            })
        };
        tasks.iter().filter_map(look).collect()
    }

    fn tell(&self) {
        let units = self.log_ratios();
        let so_far = so_far(&units);
        self.progress.note(&format!(
            "unit {}: {} {:+.1} % so far, {} of {}",
            units.len(),
            self.record.metric.to_uppercase(),
            (so_far - 1.0) * 100.0,
            pgdyno_text::units::duration(self.record.spent_s),
            pgdyno_text::units::duration(self.record.budget_s)
        ));
    }

    /// Returns the next run of a side.
    fn ready(&mut self, at: usize, what: &str, edit: fn(&mut Order)) -> Ready {
        self.record.runs_made += 1;
        let side = &self.sides[at];
        let mut order = side.order.clone();
        if !self.record.whole_runs {
            order.drive.time = Some(self.record.slice_s);
            order.drive.ramp = Some(RAMP_S);
        }
        order.watch.no_samples = true;
        edit(&mut order);
        let place = SuitePlan {
            suite: "ab".to_owned(),
            id: self.record.id.clone(),
            run: format!("{} {what}", side.name),
            repetition: self.record.runs_made,
        };
        // Warm-ups run at once, and need a log each.
        let log = format!("{}.{}.log", self.record.id, side.name.to_lowercase());
        Ready { order, place, log: AbRecord::directory(self.results).join(log) }
    }

    /// Carries out two runs at once.
    fn at_once(&self, [first, second]: &[Ready; 2]) -> std::result::Result<[RunRecord; 2], Stopped> {
        std::thread::scope(|scope| {
            let first = scope.spawn(|| self.carry_out(first));
            let second = self.carry_out(second);
            let first = first.join().map_err(|_| Failure::new(Code::Run, "a thread of the experiment ended early"))?;
            Ok([first?, second?])
        })
    }

    /// Carries out a run and returns its record.
    fn carry_out(&self, Ready { order, place, log }: &Ready) -> std::result::Result<RunRecord, Stopped> {
        let ended = child::run(order, place, self.results, log, None, self.interrupt)?;
        if self.interrupt.control.is_stopping() {
            return Err(Stopped::Interrupted);
        }
        let record = ended.record.map(|(_, record)| record);
        match record {
            Some(record) if record.status == Status::Complete => Ok(record),
            record => {
                let what = format!("the run {} failed", place.run);
                Err(child::failure(&what, record.as_ref(), ended.code, log).into())
            }
        }
    }
}

/// What is shown of B, whose figure is a time or a throughput.
fn verdict(shown: Shown, is_time: bool) -> AbVerdict {
    match (shown, is_time) {
        (Shown::Up, false) | (Shown::Down, true) => AbVerdict::Faster,
        (Shown::Down, false) | (Shown::Up, true) => AbVerdict::Slower,
        (Shown::Same, _) => AbVerdict::NoDifference,
        (Shown::Nothing, _) => AbVerdict::CannotTell,
    }
}

/// Returns the ratio of the geometric means of each task's times that all four slices have: two of each side.
fn task_ratios([a, b]: &[Vec<(String, f64)>; 2]) -> Vec<AbTaskRatio> {
    let logs = |side: &[(String, f64)], name: &str| {
        let times: Vec<f64> = side.iter().filter(|(task, _)| task == name).map(|(_, ns)| ns.ln()).collect();
        (times.len() == 2).then(|| times.iter().sum::<f64>() / 2.0)
    };
    let mut ratios: Vec<AbTaskRatio> = Vec::new();
    for (name, _) in a {
        if ratios.iter().all(|task| task.name != *name)
            && let Some((of_a, of_b)) = logs(a, name).zip(logs(b, name))
        {
            ratios.push(AbTaskRatio { name: name.clone(), log_ratio: of_b - of_a });
        }
    }
    ratios
}

/// A slice finds its data there and leaves the checks to the first run.
fn no_load(order: &mut Order) {
    (order.no_load, order.replace, order.no_check, order.no_vacuum) = (true, false, true, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_of_a_time_is_faster() {
        let verdicts = |is_time| [Shown::Up, Shown::Down, Shown::Same].map(|shown| verdict(shown, is_time));
        assert_eq!(verdicts(false), [AbVerdict::Faster, AbVerdict::Slower, AbVerdict::NoDifference]);
        assert_eq!(verdicts(true), [AbVerdict::Slower, AbVerdict::Faster, AbVerdict::NoDifference]);
    }

    #[test]
    fn a_task_has_a_ratio_if_all_four_slices_did_it() {
        let task = |name: &str, ns| (name.to_owned(), ns);
        let a = vec![task("q1", 10.0), task("q2", 5.0), task("q1", 40.0)];
        let b = vec![task("q1", 40.0), task("q2", 5.0), task("q1", 40.0), task("q2", 5.0)];
        let ratios = task_ratios(&[a, b]);
        assert_eq!(ratios.len(), 1, "q2 failed once: {ratios:?}");
        assert!(ratios[0].name == "q1" && (ratios[0].log_ratio - 2_f64.ln()).abs() < 1e-12, "{ratios:?}");
    }
}
