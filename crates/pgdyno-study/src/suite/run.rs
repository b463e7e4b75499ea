//! Carries out the remaining runs of a suite.

use std::time::{Duration, Instant};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_plan::suite::Suite;
use pgdyno_text::units;

use super::check::CellDraft;
use super::decider;
use super::execution::{End, Planned, SuiteExecution};
use super::standing::{self, CompletedRun};
use super::targets::Targets;
use super::view::View;
use crate::process;
use crate::study::{self, Budget, Clock, Step, Stopped, Study};

/// How often signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A run of a suite that was killed ends by itself; how long to wait for it.
const ENDING: Duration = Duration::from_secs(180);

/// An execution whose lock this process holds, and what it needs to go on.
pub struct LockedExecution<'a> {
    /// The execution.
    pub execution: SuiteExecution,
    /// Its suite.
    pub suite: &'a Suite,
    /// The suite's cells, resolved.
    pub drafts: &'a [CellDraft],
    /// Whether standard error is the suite's log.
    pub is_detached: bool,
    /// The store to which each run is pushed when it has ended.
    pub store: Option<&'a str>,
    /// What the user asks for.
    pub interrupt: &'a Interrupt,
    /// Reports to the user.
    pub events: &'a dyn EventSink,
}

/// The result of a suite.
pub struct SuiteOutcome {
    /// The execution.
    pub execution: SuiteExecution,
    /// Its runs.
    pub standings: Vec<Option<CompletedRun>>,
    /// The exit code.
    pub code: Code,
}

/// A suite in progress.
pub(super) struct SuiteRun<'a> {
    pub(super) execution: SuiteExecution,
    pub(super) suite: &'a Suite,
    pub(super) drafts: &'a [CellDraft],
    /// The cell of each run.
    pub(super) cells: Vec<usize>,
    pub(super) standings: Vec<Option<CompletedRun>>,
    pub(super) targets: Targets<'a>,
    pub(super) store: Option<&'a str>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) events: &'a dyn EventSink,
    pub(super) view: View<'a>,
    /// How long to wait before the next run.
    rest_s: f64,
}

/// Runs until all runs are done, or the user, the budget or a failure ends the suite.
///
/// # Errors
/// When a target cannot be prepared or left, or the state cannot be written.
pub fn carry_out(work: LockedExecution<'_>) -> Result<SuiteOutcome> {
    let interrupt = work.interrupt;
    let mut suite = SuiteRun::begin(work)?;
    let budget =
        |suite: &SuiteRun<'_>| Budget { spent_s: suite.execution.state.worked_s, limit_s: suite.suite.budget_s };
    let code = study::carry_out(&mut suite, budget, interrupt)?;
    Ok(SuiteOutcome { execution: suite.execution, standings: suite.standings, code })
}

/// Returns the cell of each run of an execution.
fn cells(execution: &SuiteExecution, suite: &Suite) -> Result<Vec<usize>> {
    let cell = |planned: &Planned| suite.cells.iter().position(|cell| cell.key == planned.run);
    execution.state.runs.iter().map(cell).collect::<Option<_>>().ok_or_else(|| {
        CommandError::new(
            Code::Start,
            "the suite was begun by another version of pgdyno, which made other runs of its file",
        )
        .hint("resume it with that version, or start the suite again")
    })
}

impl<'a> SuiteRun<'a> {
    /// Takes up an execution: finds what is done, and locks the targets.
    fn begin(work: LockedExecution<'a>) -> Result<Self> {
        let LockedExecution { mut execution, suite, drafts, is_detached, store, interrupt, events } = work;
        let cells = cells(&execution, suite)?;
        let view = View::new(events, &execution, is_detached);
        await_stragglers(&execution, interrupt, &view)?;
        standing::list_all(&execution.state, events)?;
        let mut standings = standing::standings(&execution.state)?;
        // A run during which the suite was killed may report that it lost its private server, which ended with the
        // suite.
        if let Some(nth) = execution.state.current.take()
            && let Some(done) = standings[nth].take_if(|done| done.failure.is_some())
        {
            execution.state.superseded.push(done.record.id);
        }
        let targets = Targets::take(suite, drafts, &execution.state, interrupt, events)?;
        execution.state.end = None;
        execution.write()?;
        let suite =
            Self { execution, suite, drafts, cells, standings, targets, store, interrupt, events, view, rest_s: 0.0 };
        suite.announce();
        Ok(suite)
    }

    fn announce(&self) {
        let state = &self.execution.state;
        let open = self.standings.iter().filter(|done| done.is_none()).count();
        let left = decider::left_s(&state.runs, &self.standings, self.suite.cool_down_s)
            .filter(|_| open > 0)
            .map_or_else(String::new, |left| format!(", about {} without loads", units::duration(left)));
        self.view.say(&format!("suite {}: {open} of {} runs to do{left}", state.name(), state.runs.len()));
    }

    /// Waits between two runs.
    fn rest(&self) {
        let until = Instant::now() + Duration::from_secs_f64(self.rest_s);
        while Instant::now() < until && !self.interrupt.stop.is_requested() {
            std::thread::sleep(POLL_INTERVAL.min(until - Instant::now()));
        }
    }

    /// Leaves the target of the run `nth` if no other run on it follows.
    fn leave(&mut self, nth: usize) -> Result<()> {
        let target = &self.suite.cells[self.cells[nth]].target;
        let mut open = (0..self.standings.len()).filter(|nth| self.standings[*nth].is_none());
        if open.any(|other| self.suite.cells[self.cells[other]].target == *target) {
            return Ok(());
        }
        self.targets.leave(target.as_str(), &mut self.execution)
    }

    fn farewell(&self, end: End) {
        let (state, standings) = (&self.execution.state, &self.standings);
        let open = standings.iter().filter(|done| done.is_none()).count();
        let failed = standings.iter().flatten().filter(|done| done.failure.is_some()).count();
        let more = match end {
            End::Finished if failed == 0 => String::new(),
            End::Finished => format!("; `pgdyno suite resume {} --retry-failed` repeats what failed", state.name()),
            End::Budget => format!("; {open} runs did not fit"),
            End::Failure => format!("; {open} runs were not carried out"),
            End::Interrupted => format!("; `pgdyno suite resume {}` resumes it", state.name()),
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
                self.events.warn(&format!("{target} stays provisioned until the suite is resumed and ends"));
            }
        }
    }
}

impl Study for SuiteRun<'_> {
    type Step = usize;

    fn next(&self) -> Option<usize> {
        decider::next(&self.standings, self.suite.on_failure)
    }

    fn expected_s(&self, nth: &usize, _: f64) -> f64 {
        self.rest_s + decider::expected_s(&self.execution.state.runs, &self.standings, *nth).unwrap_or_default()
    }

    fn measure(&mut self, nth: usize, clock: &Clock) -> Step<()> {
        self.rest();
        self.rest_s = self.suite.cool_down_s;
        let done = if self.interrupt.stop.is_requested() { None } else { self.turn(nth)? };
        self.execution.state.worked_s = clock.spent_s();
        self.execution.state.current = None;
        self.execution.write()?;
        self.standings[nth] = Some(done.ok_or(Stopped::Interrupted)?);
        Ok(self.leave(nth)?)
    }

    fn conclude(&mut self, end: &study::End) -> Result<Code> {
        let end = match end {
            study::End::Enough => decider::end(&self.standings, self.interrupt.stop.is_requested()),
            study::End::Budget => End::Budget,
            study::End::Interrupted => End::Interrupted,
            // The state says that it broke off, and it can be resumed.
            study::End::Failed(failure) => return Ok(failure.code()),
        };
        if end != End::Interrupted {
            for target in self.execution.state.provisioned.keys().cloned().collect::<Vec<_>>() {
                self.targets.leave(&target, &mut self.execution)?;
            }
        }
        self.execution.state.end = Some(end);
        self.execution.write()?;
        self.farewell(end);
        Ok(decider::code(Some(end), &self.standings))
    }
}

/// Waits for runs of a killed suite: they end by themselves, and must not overlap the next run.
fn await_stragglers(execution: &SuiteExecution, interrupt: &Interrupt, view: &View<'_>) -> Result<()> {
    let logs: Vec<_> = (0..execution.state.runs.len()).map(|nth| execution.run_log(nth)).collect();
    let patience = Instant::now() + ENDING;
    let mut is_announced = false;
    while let Some(log) = logs.iter().find(|log| process::lives(log)) {
        if interrupt.stop.is_requested() {
            return Err(CommandError::new(Code::Interrupted, "interrupted before a run began"));
        }
        if Instant::now() > patience {
            let error =
                format!("a run from before the interruption is still going on; its output is in {}", log.display());
            return Err(CommandError::new(Code::Start, error).hint("wait until it ends, or end it, then resume"));
        }
        if !is_announced {
            view.say("waiting for the run that was going on when the suite was killed");
            is_announced = true;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}
