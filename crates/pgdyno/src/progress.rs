//! What the user sees while it goes on: a line that changes on a terminal, one line a second on a pipe,
//! nothing with `--quiet`. All of it goes to standard error. A run itself is shown on the whole screen of a terminal
//! ([`live`](crate::live)), until the user leaves that.

mod load;

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pgdyno_measure::{Interval, Phase};
use pgdyno_plan::Plan;
use pgdyno_report::units;
use pgdyno_server::Frame;

use crate::live::model::Model;
use crate::live::model::facts::Facts;
use crate::live::{self, Live};
use load::LoadView;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Terminal,
    Pipe,
    Quiet,
}

/// The view.
pub(crate) struct Progress {
    kind: Kind,
    /// What goes on now, on a terminal.
    bar: Mutex<Option<ProgressBar>>,
    load: Mutex<LoadView>,
    /// Whether a run may be shown on the whole screen.
    full_screen: bool,
    /// The view of a run on the whole screen, while it is shown.
    live: Mutex<Option<Live>>,
}

impl Progress {
    /// A view as standard error and `quiet` want it.
    pub(crate) fn new(quiet: bool) -> Self {
        let kind = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Kind::Quiet,
            (false, true) => Kind::Terminal,
            (false, false) => Kind::Pipe,
        };
        let load = Mutex::new(LoadView::new(0, 0));
        Self { kind, bar: Mutex::new(None), load, full_screen: false, live: Mutex::default() }
    }

    /// The same, that shows a run on the whole screen where there is a terminal for it.
    pub(crate) fn full_screen(self, wanted: bool) -> Self {
        Self { full_screen: wanted && self.kind == Kind::Terminal, ..self }
    }

    /// Something is being done, or worth knowing.
    pub(crate) fn note(&self, text: &str) {
        if self.kind != Kind::Quiet {
            self.line(text);
        }
    }

    /// A warning: said even when quiet.
    pub(crate) fn warn(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    /// The user has asked the run to end; what comes of that is said even when quiet.
    pub(crate) fn ending(&self, text: &str) {
        let shown = self.to_view(|model, _| model.ending());
        // Without the view the terminal has shown the key, and the line is not at its beginning.
        self.line(&if shown { text.to_owned() } else { format!("\n{text}") });
    }

    /// The clients are about to connect.
    pub(crate) fn drive_begins(&self, plan: &Plan, txns: Vec<String>) {
        self.clear();
        if self.full_screen {
            *locked(&self.live) = Live::begin(Facts::of(plan, txns));
        }
    }

    /// Tells the view on the whole screen; `false` where none is shown.
    fn to_view(&self, what: impl FnOnce(&mut Model, f64)) -> bool {
        locked(&self.live).as_ref().is_some_and(|live| live.tell(what))
    }

    /// A line that stays, above the one that changes.
    fn line(&self, text: &str) {
        if self.to_view(|model, _| text.lines().for_each(|line| model.told.say(line))) {
            return;
        }
        live::settle();
        let print = || drop(writeln!(std::io::stderr(), "{text}"));
        // Where standard error is gone there is nobody to tell.
        match &*locked(&self.bar) {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The line that changes: how far of how much, where that is known, and words.
    fn show(&self, far: Option<(u64, u64)>, text: String) {
        live::settle();
        let mut bar = locked(&self.bar);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let template = if far.is_some() { "{bar:30} {msg}" } else { "{spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        let (position, length) = far.unwrap_or((0, 0));
        bar.set_length(length);
        bar.set_position(position.min(length));
        bar.set_message(text);
    }

    /// So many statements of several are done.
    pub(crate) fn step(&self, what: &str, done: usize, of: usize) {
        if self.kind == Kind::Terminal {
            self.show(Some((done as u64, of as u64)), format!("{what}, {done} of {of} done"));
        }
    }

    /// A load goes on to its next phase.
    pub(crate) fn loading(&self, phase: &str) {
        match self.kind {
            Kind::Quiet => {}
            Kind::Terminal => self.show(None, format!("load: {phase}")),
            Kind::Pipe => drop(writeln!(std::io::stderr(), "load: {phase}")),
        }
    }

    /// Clients are connecting.
    pub(crate) fn connecting(&self, connected: usize, clients: u32) {
        if self.kind == Kind::Terminal && !self.to_view(|model, _| model.connecting(connected)) {
            let far = (connected as u64, u64::from(clients));
            self.show(Some(far), format!("{connected} of {clients} clients connected"));
        }
    }

    /// An interval of the run ended.
    pub(crate) fn interval(&self, interval: &Interval, plan: &Plan) {
        if self.to_view(|model, now_s| model.interval(now_s, interval)) {
            return;
        }
        if self.kind == Kind::Quiet || interval.seconds() < 0.05 {
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
            Kind::Terminal => {
                let whole = plan.time_s.map(|time| ((plan.ramp_s + time) * 10.0) as u64);
                let text = format!("{at:.0} s{phase}, {tps} tps{latency}, {} failed", all.failures());
                self.show(whole.map(|whole| ((at * 10.0) as u64, whole)), text);
            }
            Kind::Pipe => {
                let line = format!("progress: {at:.1} s{phase}, {tps} tps{latency}, {} failed", all.failures());
                drop(writeln!(std::io::stderr(), "{line}"));
            }
            Kind::Quiet => {}
        }
    }

    /// A source of samples was looked at, `at_s` seconds into the run.
    pub(crate) fn sampled(&self, at_s: f64, frame: &Frame) {
        self.to_view(|model, _| model.sampled(at_s, frame));
    }

    /// The changing line goes, or the view on the whole screen.
    pub(crate) fn clear(&self) {
        live::settle();
        // Without the lock: the view says at its end what it was told.
        let live = locked(&self.live).take();
        drop(live);
        if let Some(bar) = locked(&self.bar).take() {
            bar.finish_and_clear();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
