//! The progress that the user sees: a changing line on a terminal, one line a second on a pipe, nothing with `--quiet`.
//! All output goes to standard error. A run is shown on the full screen of a terminal ([`Live`]) until the user leaves
//! it.

mod changing;
mod load;

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pgdyno_life::events::{EventSink, RunEvent};
use pgdyno_measure::{Interval, Phase};
use pgdyno_plan::Plan;

use crate::model::facts::Facts;
use crate::{Live, terminal};
use changing::Changing;
use load::LoadView;
use pgdyno_text::paint::Paint;
use pgdyno_text::units;
use pgdyno_untrusted::TerminalText;

/// Number of lines that are kept for the full-screen view.
const SAID_MAX: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Terminal,
    Pipe,
    Quiet,
}

/// The view.
pub struct ProgressView {
    kind: Output,
    /// The current step, on a terminal.
    step: Mutex<Option<Changing>>,
    load: Mutex<LoadView>,
    /// Whether it shows how steps are done.
    details: bool,
    /// Whether a run may use the full screen.
    full_screen: bool,
    /// Warm-up and measured window of the drive in seconds, if it ends after a time.
    length_s: Mutex<Option<f64>>,
    /// The last lines that stayed, which the full-screen view shows, too.
    said: Mutex<Vec<String>>,
    /// The full-screen view of a run, while it is shown.
    live: Mutex<Option<Live>>,
}

impl ProgressView {
    /// Returns a view that fits standard error and `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        // Lines change only where the cursor can go back to them.
        let able = std::io::stderr().is_terminal() && terminal::variable("TERM").is_none_or(|term| term != "dumb");
        let kind = match (quiet, able) {
            (true, _) => Output::Quiet,
            (false, true) => Output::Terminal,
            (false, false) => Output::Pipe,
        };
        let load = Mutex::new(LoadView::new(0, 0));
        let (step, length_s, said, live) = Default::default();
        Self { kind, step, load, details: true, full_screen: false, length_s, said, live }
    }

    /// Returns the same view, with runs on the full screen if the terminal allows it.
    #[must_use]
    pub fn full_screen(self, wanted: bool) -> Self {
        Self { full_screen: wanted && self.kind == Output::Terminal, ..self }
    }

    /// Returns the same view, which shows how steps are done only if `wanted`.
    #[must_use]
    pub fn details(self, wanted: bool) -> Self {
        Self { details: wanted, ..self }
    }

    /// Starts the view of a drive, before the clients connect.
    fn drive_begins(&self, plan: &Plan, transactions: &[String]) {
        self.end();
        let (ramp_s, time_s) = plan.window();
        *locked(&self.length_s) = time_s.map(|time_s| ramp_s + time_s);
        if self.full_screen {
            let said = std::mem::take(&mut *locked(&self.said));
            *locked(&self.live) = Live::begin(Facts::of(plan, transactions.to_vec()), said);
        }
    }

    /// Passes an event to the full-screen view. Returns `false` if there is none.
    fn to_view(&self, event: &RunEvent<'_>) -> bool {
        locked(&self.live).as_ref().is_some_and(|live| live.event(event))
    }

    /// Prints a line that stays, above the one that changes.
    fn line(&self, text: &str) {
        terminal::settle();
        self.keep(text);
        // A pipe gets each line as it is.
        let is_terminal = std::io::stderr().is_terminal();
        let text = if is_terminal { pgdyno_text::wrap::folded(text) } else { text.to_owned() };
        let paint = Paint(is_terminal && terminal::variable("NO_COLOR").is_none());
        let text = paint.message(&TerminalText(&text).to_string());
        let print = || drop(writeln!(std::io::stderr(), "{text}"));
        // If standard error is closed, the line is lost.
        match &*locked(&self.step) {
            Some(step) => step.suspend(print),
            None => print(),
        }
    }

    /// Keeps what a full-screen view will show.
    fn keep(&self, text: &str) {
        if self.full_screen {
            let mut said = locked(&self.said);
            said.extend(text.lines().map(str::to_owned));
            let excess = said.len().saturating_sub(SAID_MAX);
            said.drain(..excess);
        }
    }

    /// Sets the changing line: completed and total amount, if known, and a text.
    fn show(&self, far: Option<(u64, u64)>, text: String) {
        terminal::settle();
        let text = TerminalText(&text).to_string();
        let mut step = locked(&self.step);
        match &*step {
            Some(step) => step.set(far, text),
            None => *step = Some(Changing::begin(far, text)),
        }
    }

    /// Shows an interval of the run.
    fn interval(&self, interval: &Interval) {
        if self.kind == Output::Quiet || interval.seconds() < 0.05 {
            return;
        }
        let all = interval.part.all();
        let latency = all
            .response_or_service()
            .percentiles()
            .map_or_else(String::new, |p| format!(", lat {} ms p99 {} ms", units::ms(p.mean as u64), units::ms(p.p99)));
        let phase = match interval.phase {
            Phase::Ramp => " (warm-up)",
            Phase::Measure => "",
            Phase::Drain => " (ending)",
        };
        let at = interval.end_ns as f64 / 1e9;
        let tps = units::rate(interval.tps());
        match self.kind {
            Output::Terminal => {
                let whole = locked(&self.length_s).map(|length_s| (length_s * 10.0) as u64);
                let text = format!("{at:.0} s{phase}, {tps} tps{latency}, {} failed", all.failures());
                self.show(whole.map(|whole| ((at * 10.0) as u64, whole)), text);
            }
            Output::Pipe => {
                let line = format!("progress: {at:.1} s{phase}, {tps} tps{latency}, {} failed", all.failures());
                drop(writeln!(std::io::stderr(), "{line}"));
            }
            Output::Quiet => {}
        }
    }

    /// Removes the changing line, or ends the full-screen view.
    fn end(&self) {
        terminal::settle();
        // Without the lock: the view prints its messages when it ends.
        let live = locked(&self.live).take();
        drop(live);
        let step = locked(&self.step).take();
        drop(step);
    }
}

impl EventSink for ProgressView {
    fn event(&self, event: &RunEvent<'_>) {
        let is_terminal = self.kind == Output::Terminal;
        match *event {
            RunEvent::Ended => self.end(),
            RunEvent::DriveBegins { plan, transactions } => self.drive_begins(plan, transactions),
            RunEvent::Note { .. } | RunEvent::Detail { .. } if self.kind == Output::Quiet => {}
            RunEvent::Detail { .. } if !self.details => {}
            // The full-screen view shows everything else.
            _ if self.to_view(event) => {}
            RunEvent::Note { text } | RunEvent::Detail { text } => self.line(text),
            RunEvent::Warning { text } | RunEvent::LeftOut { text } => self.line(&format!("warning: {text}")),
            RunEvent::Waiting { text } => self.line(&format!("waiting: {text}")),
            // The terminal has echoed the key, so the cursor is not at the start of the line.
            RunEvent::Ending { text } => self.line(&format!("\n{text}")),
            RunEvent::Step { step, done, of } if is_terminal => {
                self.show(Some((done as u64, of as u64)), format!("{step}, {done} of {of} done"));
            }
            RunEvent::Study { now, so_far, done, of } if is_terminal => {
                let far = ((done * 10.0) as u64, (of * 10.0) as u64);
                self.show(Some(far), format!("{now}\n{}", pgdyno_text::wrap::folded(so_far)));
            }
            RunEvent::Connecting { connected, connections } if is_terminal => {
                let far = (connected as u64, u64::from(connections));
                self.show(Some(far), format!("{connected} of {connections} clients connected"));
            }
            RunEvent::LoadPhase { phase } => match self.kind {
                Output::Quiet => {}
                Output::Terminal => self.show(None, format!("load: {phase}")),
                Output::Pipe if !self.details => {}
                Output::Pipe => drop(writeln!(std::io::stderr(), "load: {}", TerminalText(phase))),
            },
            RunEvent::LoadBegins { rows_expected, rows_kept } => self.load_begins(rows_expected, rows_kept),
            RunEvent::LoadRows { table, rows } => self.loaded(table, rows),
            RunEvent::ChecksBegin => self.load_begins(0, 0),
            RunEvent::Checking { check, done, of, share } => self.checking(check, done, of, share),
            RunEvent::Interval { interval } => self.interval(interval),
            RunEvent::Step { .. } | RunEvent::Study { .. } | RunEvent::Connecting { .. } | RunEvent::Sample { .. } => {}
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
