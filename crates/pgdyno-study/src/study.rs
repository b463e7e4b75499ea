//! The loop of all studies: measure what is decided to come next, until it is enough, the budget has ended, or the user ends
//! it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::interrupt::Interrupt;

/// Why a step of a study did not end.
pub(crate) enum Stopped {
    /// The user has asked for the end.
    Interrupted,
    /// Something failed.
    Failed(CommandError),
}

impl From<CommandError> for Stopped {
    fn from(failure: CommandError) -> Self {
        Self::Failed(failure)
    }
}

/// The result of a step of a study.
pub(crate) type Step<T> = std::result::Result<T, Stopped>;

/// How a study ended.
pub(crate) enum End {
    /// It has measured enough.
    Enough,
    /// Another step would exceed its budget.
    Budget,
    /// The user ended it.
    Interrupted,
    /// Something failed.
    Failed(CommandError),
}

impl End {
    /// Returns the end as records store it; `enough` is the word for enough.
    pub(crate) fn text(&self, enough: &str) -> String {
        match self {
            Self::Enough => enough.to_owned(),
            Self::Budget => "budget".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::Failed(failure) => failure.text(),
        }
    }
}

/// How often the view of a study is updated, in milliseconds.
const SHOWN_EVERY_MS: u128 = 250;

/// Returns what calls `show` a few times a second while a run goes on.
pub(crate) fn shown_at_times(show: &dyn Fn(Duration)) -> impl Fn(Duration) {
    let shown = Cell::new(None);
    move |elapsed| {
        let tick = elapsed.as_millis() / SHOWN_EVERY_MS;
        if shown.replace(Some(tick)) != Some(tick) {
            show(elapsed);
        }
    }
}

/// A study: measures, and decides what is measured next. Its record has what was measured, whatever happens.
pub(crate) trait Study {
    /// A step: a block of slices, a load, a point, a run.
    type Step;

    /// Does what comes before the first step, and does not count in the budget.
    fn prepare(&mut self) -> Step<()> {
        Ok(())
    }

    /// Decides what is measured next; `None` when it is enough.
    fn next(&self) -> Option<Self::Step>;

    /// Estimates how long a step will take. `longest_s` is the longest so far.
    fn expected_s(&self, _: &Self::Step, longest_s: f64) -> f64 {
        longest_s
    }

    /// Measures, and saves what was measured.
    fn measure(&mut self, step: Self::Step, clock: &Clock) -> Step<()>;

    /// Saves how the study ended, and returns the exit code of what it shows.
    fn conclude(&mut self, end: &End) -> Result<Code>;
}

/// The time that a study has taken, of its budget.
pub(crate) struct Clock {
    began: Instant,
    spent_before_s: f64,
    budget_s: Option<f64>,
    longest_s: f64,
}

impl Clock {
    /// Starts the clock of a study that has taken some time before, and may take so much in all.
    fn start(Budget { spent_s: spent_before_s, limit_s: budget_s }: Budget) -> Self {
        Self { began: Instant::now(), spent_before_s, budget_s, longest_s: 0.0 }
    }

    /// Returns the time that the study has taken, what it took before an interruption included.
    pub(crate) fn spent_s(&self) -> f64 {
        self.spent_before_s + self.began.elapsed().as_secs_f64()
    }

    /// Returns true if a step of this length fits into the budget.
    fn has_room(&self, seconds: f64) -> bool {
        self.budget_s.is_none_or(|budget_s| self.spent_s() + seconds <= budget_s)
    }
}

/// The budget of a study.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    /// The time that it has taken before.
    pub(crate) spent_s: f64,
    /// The time that it may take in all; none if there is no limit.
    pub(crate) limit_s: Option<f64>,
}

/// Carries a study out, and returns the exit code. The budget is asked for after the preparation.
pub(crate) fn carry_out<S: Study>(
    study: &mut S,
    budget: impl FnOnce(&S) -> Budget,
    interrupt: &Interrupt,
) -> Result<Code> {
    let measured = study.prepare().and_then(|()| {
        let clock = Clock::start(budget(study));
        measure(study, clock, interrupt)
    });
    let end = match measured {
        Ok(end) => end,
        Err(Stopped::Interrupted) => End::Interrupted,
        Err(Stopped::Failed(failure)) => End::Failed(failure),
    };
    let code = study.conclude(&end)?;
    match end {
        End::Enough | End::Budget => Ok(code),
        End::Interrupted => Ok(Code::Interrupted),
        End::Failed(failure) => Err(failure),
    }
}

fn measure<S: Study>(study: &mut S, mut clock: Clock, interrupt: &Interrupt) -> Step<End> {
    while let Some(step) = study.next() {
        if interrupt.stop.is_requested() {
            return Ok(End::Interrupted);
        }
        if !clock.has_room(study.expected_s(&step, clock.longest_s)) {
            return Ok(End::Budget);
        }
        let step_began = Instant::now();
        study.measure(step, &clock)?;
        clock.longest_s = clock.longest_s.max(step_began.elapsed().as_secs_f64());
    }
    Ok(End::Enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures numbers up to its goal, each of which is expected to take some time.
    #[derive(Default)]
    struct Counting<'a> {
        measured: Vec<usize>,
        goal: usize,
        expected_s: f64,
        /// The number that fails.
        failing: Option<usize>,
        /// The number while which the user presses Ctrl-C.
        interrupted: Option<(usize, &'a Interrupt)>,
        ended: String,
    }

    impl Study for Counting<'_> {
        type Step = usize;

        fn next(&self) -> Option<usize> {
            (self.measured.len() < self.goal).then_some(self.measured.len())
        }

        fn expected_s(&self, _: &usize, _: f64) -> f64 {
            self.expected_s
        }

        fn measure(&mut self, step: usize, _: &Clock) -> Step<()> {
            if self.failing == Some(step) {
                return Err(CommandError::new(Code::Hook, "a hook failed").into());
            }
            if let Some((_, interrupt)) = self.interrupted.filter(|(nth, _)| *nth == step) {
                interrupt.stop.cleanly();
            }
            self.measured.push(step);
            Ok(())
        }

        fn conclude(&mut self, end: &End) -> Result<Code> {
            self.ended = end.text("complete");
            Ok(Code::Slower)
        }
    }

    fn carried_out(study: &mut Counting<'_>, budget: Budget, interrupt: &Interrupt) -> Result<Code> {
        carry_out(study, |_| budget, interrupt)
    }

    #[test]
    fn a_study_ends_when_it_is_enough_and_then_its_verdict_counts() {
        let mut study = Counting { goal: 3, ..Counting::default() };
        let code = carried_out(&mut study, Budget::default(), &Interrupt::default()).unwrap();
        assert_eq!((code, study.measured.len(), study.ended.as_str()), (Code::Slower, 3, "complete"));
        // Resumed, it has nothing left to do, and no budget can be exceeded.
        let spent = Budget { spent_s: 9.0, limit_s: Some(5.0) };
        carried_out(&mut study, spent, &Interrupt::default()).unwrap();
        assert_eq!((study.measured.len(), study.ended.as_str()), (3, "complete"));
    }

    #[test]
    fn a_step_that_does_not_fit_into_the_budget_is_not_begun() {
        let mut study = Counting { goal: 3, expected_s: 4.0, ..Counting::default() };
        let code = carried_out(&mut study, Budget { spent_s: 7.0, limit_s: Some(10.0) }, &Interrupt::default());
        assert_eq!((code.unwrap(), study.measured.len(), study.ended.as_str()), (Code::Slower, 0, "budget"));
        carried_out(&mut study, Budget { spent_s: 5.0, limit_s: Some(10.0) }, &Interrupt::default()).unwrap();
        assert_eq!((study.measured.len(), study.ended.as_str()), (3, "complete"));
    }

    #[test]
    fn the_user_ends_a_study_between_two_steps() {
        let interrupt = Interrupt::default();
        let mut study = Counting { goal: 3, interrupted: Some((1, &interrupt)), ..Counting::default() };
        let code = carried_out(&mut study, Budget::default(), &interrupt).unwrap();
        assert_eq!((code, study.measured.len(), study.ended.as_str()), (Code::Interrupted, 2, "interrupted"));
        // What ends with the last step is complete.
        let interrupt = Interrupt::default();
        let mut study = Counting { goal: 2, interrupted: Some((1, &interrupt)), ..Counting::default() };
        assert_eq!(carried_out(&mut study, Budget::default(), &interrupt).unwrap(), Code::Slower);
    }

    #[test]
    fn a_failure_is_recorded_and_keeps_its_exit_code() {
        let mut study = Counting { goal: 3, failing: Some(1), ..Counting::default() };
        let failure = carried_out(&mut study, Budget::default(), &Interrupt::default()).unwrap_err();
        assert_eq!((failure.code(), study.measured.len(), study.ended.as_str()), (Code::Hook, 1, "a hook failed"));
    }
}
