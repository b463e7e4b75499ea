//! One run of a suite, and its result.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::record::Recording;
use pgdyno_plan::{Order, Plan};
use pgdyno_results::{RunRecord, Status};
use pgdyno_text::units;

use super::decider::left_s;
use super::run::SuiteRun;
use super::standing::{self, CompletedRun};
use super::view;
use crate::run::{Runner, StudyRun};
use crate::runner::Ended;

/// How often the changing line is updated.
const SHOWN: Duration = Duration::from_millis(500);

impl SuiteRun<'_> {
    /// Carries out the run `nth`. `None` if the user has ended it.
    pub(super) fn turn(&mut self, nth: usize) -> Result<Option<CompletedRun>> {
        let cell = self.cells[nth];
        self.execution.state.current = Some(nth);
        self.execution.write()?;
        let done = match self.targets.ready(cell, &mut self.execution) {
            Ok(mut order) => {
                order.labels.extend(self.execution.state.labels.clone());
                self.drive(nth, &order)?
            }
            Err(_) if self.interrupt.stop.is_requested() => None,
            Err(failure) => Some(self.failed_without_record(nth, &failure.text(), failure.code())?),
        };
        self.targets.look();
        if let Some(done) = &done {
            self.view.say(&format!("{}: {}", view::title(&self.execution.state, nth), view::ending(done)));
        }
        Ok(done)
    }

    /// Carries the order out, and completes its record.
    fn drive(&mut self, nth: usize, order: &Order) -> Result<Option<CompletedRun>> {
        let state = &self.execution.state;
        let (place, log) = (state.place(nth), self.execution.run_log(nth));
        let log_bytes_before = std::fs::metadata(&log).map_or(0, |log| log.len());
        let time_limit = self.suite.run_timeout_s.map(Duration::from_secs_f64);
        let runner = Runner { results: &state.results, store: self.store, interrupt: self.interrupt };
        let left = left_s(&state.runs, &self.standings, self.suite.cool_down_s);
        let shown: Cell<Option<Instant>> = Cell::new(None);
        let show = |elapsed: Duration| {
            if shown.get().is_none_or(|shown| shown.elapsed() > SHOWN) {
                shown.set(Some(Instant::now()));
                let passed_s = elapsed.as_secs_f64();
                self.view.show(state, nth, &log, state.worked_s + passed_s, left.map(|left| left - passed_s));
            }
        };
        let ended = runner.run(&StudyRun { order, place: &place, log: &log, time_limit }, &show);
        self.events.ended();
        let ended = ended?;
        let why = self.why(&ended, &log, log_bytes_before);
        self.settle(nth, ended, &why)
    }

    /// Returns why a run failed that leaves no reason in its record.
    fn why(&self, ended: &Ended, log: &Path, log_bytes_before: u64) -> String {
        match (ended.code, ended.signal) {
            _ if ended.is_late => {
                let timeout = units::duration(self.suite.run_timeout_s.unwrap_or_default());
                format!("it took longer than run_timeout, {timeout}, and was ended")
            }
            (_, Some(signal)) => format!("its process was ended by signal {signal}"),
            (code, _) => error_in(log, log_bytes_before).unwrap_or_else(|| {
                format!("its process ended with code {} and without a message", code.unwrap_or_default())
            }),
        }
    }

    /// Returns how a run ended according to its record. Writes `why` it failed into the record if no other process has.
    fn settle(&mut self, nth: usize, ended: Ended, why: &str) -> Result<Option<CompletedRun>> {
        let is_stopped = self.interrupt.stop.is_requested() && !ended.is_late;
        let code = Code::of_failed_run(ended.code);
        let Some((path, record)) = ended.record else {
            return if is_stopped { Ok(None) } else { self.failed_without_record(nth, why, code).map(Some) };
        };
        if record.status == Status::Interrupted && is_stopped {
            standing::list(&self.execution.state.results, &record, self.events);
            return Ok(None);
        }
        let found = self.completed(nth, path, record, why, code)?;
        Ok(standing::standing(&self.execution.state, nth, &[found]))
    }

    /// Returns the record of a run that counts, which says why it failed if it was interrupted.
    fn completed(
        &mut self,
        nth: usize,
        path: PathBuf,
        mut record: RunRecord,
        why: &str,
        code: Code,
    ) -> Result<(PathBuf, RunRecord)> {
        let results = &self.execution.state.results;
        let is_listed = || pgdyno_results::is_listed(results, &record.id).unwrap_or(false);
        if record.status != Status::Interrupted {
            standing::list(results, &record, self.events);
        } else if is_listed() {
            // Its line already says interrupted, and lines never change.
            self.execution.state.failed.insert(nth, why.to_owned());
        } else {
            standing::amend(&path, &mut record, why, code)?;
            standing::list(results, &record, self.events);
        }
        Ok((path, record))
    }

    /// Creates a record for a run that did not get far enough to make one, so that it is not missing from the results.
    fn failed_without_record(&mut self, nth: usize, why: &str, code: Code) -> Result<CompletedRun> {
        let draft = &self.drafts[self.cells[nth]];
        let plan = Plan { suite: Some(self.execution.state.place(nth)), ..draft.plan.clone() };
        let mut recording =
            Recording::begin(&plan, &draft.source, &draft.workload.drive, &self.execution.state.results)?;
        let troubles = recording.end(Status::Failed, Some(why.to_owned()), code, None);
        match troubles.errors.into_iter().next() {
            Some(error) => Err(CommandError::new(Code::Run, error)),
            None => Ok(CompletedRun { record: recording.record.clone(), failure: Some(why.to_owned()) }),
        }
    }
}

/// Returns the error in a run's output after position `log_bytes_before`.
fn error_in(log: &Path, log_bytes_before: u64) -> Option<String> {
    let bytes = std::fs::read(log).ok()?;
    let output = bytes.get(usize::try_from(log_bytes_before).ok()?..)?;
    let text = String::from_utf8_lossy(output).into_owned();
    text.lines().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned)
}
