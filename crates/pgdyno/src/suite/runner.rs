//! Runs the remaining runs of a suite.

mod turn;

use std::time::{Duration, Instant};

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_plan::suite::{OnFailure, Suite};

use super::check::Draft;
use super::execution::{End, Execution};
use super::standing::{self, Done};
use super::targets::Targets;
use super::view::{self, View};
use crate::child;
use pgdyno_live::Progress;
use pgdyno_text::units;

/// How often signals are checked.
const GLANCE: Duration = Duration::from_millis(20);
/// A run of a suite that was killed ends by itself; how long to wait for it.
const ENDING: Duration = Duration::from_secs(180);

/// A suite in progress.
pub(crate) struct Runner<'a> {
    pub(crate) execution: Execution,
    pub(crate) suite: &'a Suite,
    pub(crate) drafts: &'a [Draft],
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
    pub(crate) view: View<'a>,
    /// The store to which each run is pushed when it has ended.
    pub(crate) store: Option<&'a str>,
    /// The cell of each run.
    pub(crate) cells: Vec<usize>,
}

/// The result of a suite.
pub(crate) struct Outcome {
    pub(crate) execution: Execution,
    pub(crate) standings: Vec<Option<Done>>,
}

/// Returns the exit code: all complete, ended by the user, or neither.
pub(crate) fn verdict(execution: &Execution, standings: &[Option<Done>]) -> Code {
    let complete = standings.iter().all(|done| done.as_ref().is_some_and(|done| done.failure.is_none()));
    match execution.state.end {
        _ if complete => Code::Success,
        Some(End::Interrupted) => Code::Interrupted,
        _ => Code::Run,
    }
}

impl Runner<'_> {
    /// Runs until all runs are done, or the user, the budget or a failure ends the suite.
    pub(crate) fn execute(mut self) -> Result<Outcome> {
        self.await_stragglers()?;
        standing::list_all(&self.execution.state, self.progress)?;
        let mut standings = standing::standings(&self.execution.state)?;
        // A run during which the suite was killed may report that it lost its private server, which ended with the
        // suite.
        if let Some(nth) = self.execution.state.current.take()
            && let Some(done) = standings[nth].take_if(|done| done.failure.is_some())
        {
            self.execution.state.superseded.push(done.record.id);
        }
        let mut targets = Targets::take(self.suite, self.drafts, &self.execution.state, self.interrupt, self.progress)?;
        self.execution.state.end = None;
        self.execution.write()?;
        self.announce(&standings);

        let (began, before) = (Instant::now(), self.execution.state.worked_s);
        let mut rest_s = 0.0;
        let mut end = End::Finished;
        for nth in 0..standings.len() {
            if standings[nth].is_some() {
                continue;
            }
            if let Some(early) = self.ends_before(&standings, nth, rest_s) {
                end = early;
                break;
            }
            self.rest(rest_s);
            rest_s = self.suite.cool_down_s;
            if !self.interrupt.control.is_stopping() {
                standings[nth] = self.turn(nth, &standings, &mut targets)?;
            }
            self.execution.state.worked_s = before + began.elapsed().as_secs_f64();
            self.execution.state.current = None;
            self.execution.write()?;
            if standings[nth].is_none() {
                end = End::Interrupted;
                break;
            }
            self.leave(&mut targets, nth, &standings)?;
        }
        if end != End::Interrupted {
            for target in self.execution.state.provisioned.keys().cloned().collect::<Vec<_>>() {
                targets.leave(&target, &mut self.execution)?;
            }
        }
        self.execution.state.end = Some(end);
        self.execution.write()?;
        self.farewell(end, &standings);
        Ok(Outcome { execution: self.execution, standings })
    }

    /// Waits for runs of a killed suite: they end by themselves, and must not overlap the next run.
    fn await_stragglers(&self) -> Result<()> {
        let logs: Vec<_> = (0..self.execution.state.runs.len()).map(|nth| self.execution.run_log(nth)).collect();
        let patience = Instant::now() + ENDING;
        let mut is_announced = false;
        while let Some(log) = logs.iter().find(|log| child::lives(log)) {
            if self.interrupt.control.is_stopping() {
                return Err(Failure::new(Code::Interrupted, "interrupted before a run began"));
            }
            if Instant::now() > patience {
                let error =
                    format!("a run from before the interruption is still going on; its output is in {}", log.display());
                return Err(Failure::new(Code::Start, error).hint("wait until it ends, or end it, then resume"));
            }
            if !is_announced {
                self.view.say("waiting for the run that was going on when the suite was killed");
                is_announced = true;
            }
            std::thread::sleep(GLANCE);
        }
        Ok(())
    }

    fn announce(&self, standings: &[Option<Done>]) {
        let state = &self.execution.state;
        let open = standings.iter().filter(|done| done.is_none()).count();
        let left = view::left_s(state, standings, self.suite.cool_down_s)
            .filter(|_| open > 0)
            .map_or_else(String::new, |left| format!(", about {} without loads", units::duration(left)));
        self.view.say(&format!("suite {}: {open} of {} runs to do{left}", state.name(), state.runs.len()));
    }

    /// Returns whether the suite ends before the run `nth`, and how.
    fn ends_before(&self, standings: &[Option<Done>], nth: usize, rest_s: f64) -> Option<End> {
        if self.interrupt.control.is_stopping() {
            return Some(End::Interrupted);
        }
        let failed = standings.iter().flatten().any(|done| done.failure.is_some());
        if failed && self.suite.on_failure == OnFailure::Stop {
            return Some(End::Failure);
        }
        let expected = view::expected_s(&self.execution.state, standings, nth).unwrap_or_default();
        let needed = self.execution.state.worked_s + rest_s + expected;
        self.suite.budget_s.filter(|budget| needed > *budget).map(|_| End::Budget)
    }

    /// Waits between two runs.
    fn rest(&self, seconds: f64) {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < until && !self.interrupt.control.is_stopping() {
            std::thread::sleep(GLANCE.min(until - Instant::now()));
        }
    }

    /// Leaves the target of the run `nth` if no other run on it follows.
    fn leave(&mut self, targets: &mut Targets<'_>, nth: usize, standings: &[Option<Done>]) -> Result<()> {
        let target = &self.suite.cells[self.cells[nth]].target;
        let open = (0..standings.len()).filter(|nth| standings[*nth].is_none());
        if open.into_iter().any(|other| self.suite.cells[self.cells[other]].target == *target) {
            return Ok(());
        }
        targets.leave(target.as_str(), &mut self.execution)
    }

    fn farewell(&self, end: End, standings: &[Option<Done>]) {
        let state = &self.execution.state;
        let open = standings.iter().filter(|done| done.is_none()).count();
        let failed = standings.iter().flatten().filter(|done| done.failure.is_some()).count();
        let more = match end {
            End::Finished if failed == 0 => String::new(),
            End::Finished => format!("; `pgdyno suite resume {} --retry-failed` repeats what failed", state.name()),
            End::Budget => format!("; {open} runs did not fit"),
            End::Failure => format!("; {open} runs were not carried out"),
            End::Interrupted => format!("; `pgdyno suite resume {}` goes on with it", state.name()),
        };
        let complete = standings.len() - open - failed;
        self.view.say(&format!(
            "suite {}: {} after {}; {complete} of {} runs complete, {failed} failed{more}",
            state.name(),
            end.words(),
            units::duration(state.worked_s),
            standings.len()
        ));
        if end == End::Interrupted {
            for target in state.provisioned.keys() {
                self.progress.warn(&format!("{target} stays provisioned until the suite is resumed and ends"));
            }
        }
    }
}
