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
use pgdyno_measure::ab::{Experiment, Shown};
use pgdyno_plan::{Order, SuitePlan};
use pgdyno_results::{AbRecord, AbRuns, AbUnit, AbVerdict, Metric, RunRecord, Status, write_whole};

pub(crate) use side::{Side, differ};

use crate::child::{self, Stopped};

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
    slices: u32,
}

impl<'a> AbRun<'a> {
    pub(crate) fn new(
        record: AbRecord,
        sides: [Side; 2],
        results: &'a Path,
        interrupt: &'a Interrupt,
        progress: &'a Progress,
    ) -> Result<Self> {
        std::fs::create_dir_all(results.join("ab")).or_fail(Code::Start)?;
        let experiment = Experiment { margin: record.margin, confidence: record.confidence, looks: record.looks };
        Ok(Self { record, sides, results, interrupt, progress, experiment, slices: 0 })
    }

    /// Where its record is.
    pub(crate) fn path(&self) -> PathBuf {
        self.results.join("ab").join(format!("{}.json", self.record.id))
    }

    fn log(&self) -> PathBuf {
        self.results.join("ab").join(format!("{}.log", self.record.id))
    }

    fn save(&self) -> Result<()> {
        let json = serde_json::to_string_pretty(&self.record).or_fail(Code::Start)?;
        write_whole(&self.path(), (json + "\n").as_bytes()).or_fail(Code::Start)
    }

    /// Loads both sides, and measures until it is decided, the budget has ended, or somebody ends it. What was measured is
    /// in the record, whatever happens.
    pub(crate) fn go(&mut self) -> Result<Code> {
        self.save()?;
        let ended = self.load().and_then(|()| self.measure());
        let (why, result) = match ended {
            Ok(why) => (why.to_owned(), Ok(self.code())),
            Err(Stopped::Interrupted) => ("interrupted".to_owned(), Ok(Code::Interrupted)),
            Err(Stopped::Failed(failure)) => (failure.text(), Err(failure)),
        };
        self.record.ended = Some(why);
        self.save()?;
        result
    }

    /// The exit code of the verdict.
    fn code(&self) -> Code {
        match self.record.verdict {
            AbVerdict::Slower => Code::Slower,
            AbVerdict::CannotTell => Code::Unsure,
            AbVerdict::Faster | AbVerdict::NoDifference => Code::Success,
        }
    }

    /// One run of each side that loads what is missing and warms the caches. It counts for nothing.
    fn load(&mut self) -> std::result::Result<(), Stopped> {
        for at in [0, 1] {
            self.progress.note(&format!("side {}: loading what is missing, and warming up", self.sides[at].name));
            let record = self.run(at, "load", |_| {})?;
            if self.record.metric.is_empty() {
                self.record.metric = Metric::headline(std::iter::once(&record)).name().to_owned();
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> std::result::Result<&'static str, Stopped> {
        let began = Instant::now();
        let budget = Duration::from_secs_f64(self.record.budget_s);
        let mut longest = Duration::ZERO;
        loop {
            let unit_began = Instant::now();
            let unit = self.unit()?;
            self.record.units.push(unit);
            self.record.spent_s = began.elapsed().as_secs_f64();
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
            for at in [0, 1] {
                self.sides[at].restart(self.progress)?;
                self.run(at, "warm-up", no_load)?;
            }
        }
        // Every other block is the other way round.
        let order = if self.record.units.len().is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        let mut logs = [0.0; 2];
        let mut runs = [Vec::new(), Vec::new()];
        for at in order {
            let record = self.run(at, "slice", no_load)?;
            logs[at] += self.figure(&record)?.ln() / 2.0;
            runs[at].push(record.id);
        }
        let [a, b] = runs;
        self.record.runs.a.extend(a.iter().cloned());
        self.record.runs.b.extend(b.iter().cloned());
        Ok(AbUnit { log_ratio: logs[1] - logs[0], runs: AbRuns { a, b } })
    }

    /// The metric of a slice, so that more of it is better.
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
        record.verdict = match look.shown {
            Shown::Up => AbVerdict::Faster,
            Shown::Down => AbVerdict::Slower,
            Shown::Same => AbVerdict::NoDifference,
            Shown::Nothing => AbVerdict::CannotTell,
        };
    }

    fn tell(&self) {
        let units = self.log_ratios();
        let so_far = (units.iter().sum::<f64>() / units.len() as f64).exp();
        self.progress.note(&format!(
            "unit {}: {} {:+.1} % so far, {} of {}",
            units.len(),
            self.record.metric.to_uppercase(),
            (so_far - 1.0) * 100.0,
            pgdyno_report::units::duration(self.record.spent_s),
            pgdyno_report::units::duration(self.record.budget_s)
        ));
    }

    /// Runs a slice of a side and returns its record.
    fn run(&mut self, at: usize, what: &str, edit: fn(&mut Order)) -> std::result::Result<RunRecord, Stopped> {
        self.slices += 1;
        let side = &self.sides[at];
        let mut order = side.order.clone();
        order.drive.time = Some(self.record.slice_s);
        order.drive.ramp = Some(RAMP_S);
        order.watch.no_samples = true;
        edit(&mut order);
        let place = SuitePlan {
            suite: "ab".to_owned(),
            id: self.record.id.clone(),
            run: format!("{} {what}", side.name),
            repetition: self.slices,
        };
        let ended = child::run(&order, &place, self.results, &self.log(), self.interrupt)?;
        if self.interrupt.control.is_stopping() {
            return Err(Stopped::Interrupted);
        }
        let record = ended.record.map(|(_, record)| record);
        match record {
            Some(record) if record.status == Status::Complete => Ok(record),
            record => {
                let what = format!("a run of side {} failed", side.name);
                Err(child::failure(&what, record.as_ref(), ended.code, &self.log()).into())
            }
        }
    }
}

/// A slice finds its data there and leaves the checks to the first run.
fn no_load(order: &mut Order) {
    (order.no_load, order.replace, order.no_check, order.no_vacuum) = (true, false, true, true);
}
