//! The progress of a load, or of checks.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use pgdyno_text::units;
use pgdyno_untrusted::TerminalText;

use super::{Output, ProgressView, locked};

/// The rows of a load, or the progress of checks.
pub(super) struct LoadView {
    /// Estimated number of rows.
    expected: u64,
    /// Rows that were loaded before.
    kept: u64,
    /// Rows of each table so far. A table that has not started is missing.
    tables: BTreeMap<String, u64>,
    begun: Instant,
    printed: Instant,
}

impl LoadView {
    /// Returns a load of `expected` rows, of which `kept` are already loaded.
    pub(super) fn new(expected: u64, kept: u64) -> Self {
        let now = Instant::now();
        // The first figures are printed after a pause, when the rate is known.
        Self { expected, kept, tables: BTreeMap::new(), begun: now, printed: now }
    }
}

/// Minimum time between two lines about a load on a pipe.
const PIPE_PAUSE: Duration = Duration::from_secs(1);

impl ProgressView {
    /// Sets a table's number of rows.
    pub(super) fn loaded(&self, table: &str, rows: u64) {
        let mut view = self.load_view();
        view.tables.insert(table.to_owned(), rows);
        let (sent, all) = (view.tables.values().sum::<u64>(), view.expected);
        let done = sent + view.kept;
        let seconds = view.begun.elapsed().as_secs_f64();
        let per_s = sent as f64 / seconds.max(1e-3);
        let left = all.saturating_sub(done) as f64 / per_s.max(1.0);
        let mut text = format!("{} of {} rows", units::count(done), units::count(all));
        // The first rows of a table say nothing about the rest.
        if seconds >= 1.0 {
            text += &format!(", {} rows/s, {} left", units::rate(per_s), units::duration(left));
        }
        self.show_part(&mut view, (done, all), "load", text);
    }

    /// Shows frequent changes: immediately on a terminal, at intervals on a pipe.
    fn show_part(&self, view: &mut LoadView, far: (u64, u64), what: &str, text: String) {
        match self.kind {
            Output::Terminal => self.show(Some(far), text),
            Output::Pipe if view.printed.elapsed() >= PIPE_PAUSE => {
                view.printed = Instant::now();
                drop(writeln!(std::io::stderr(), "{what}: {}", TerminalText(&text)));
            }
            Output::Pipe | Output::Quiet => {}
        }
    }

    /// Starts a load of `expected` rows, of which `kept` are already loaded.
    pub(super) fn load_begins(&self, expected: u64, kept: u64) {
        *self.load_view() = LoadView::new(expected, kept);
    }

    /// Shows the number of completed queries of the checks, and the completed share of the work; the next query is of
    /// `check`.
    pub(super) fn checking(&self, check: &str, done: usize, of: usize, share: f64) {
        let mut view = self.load_view();
        let seconds = view.begun.elapsed().as_secs_f64();
        let mut text = format!("{check}, {done} of {of} queries done");
        if seconds >= 1.0 && share > 0.0 {
            text += &format!(", about {} left", units::duration(seconds * (1.0 - share) / share));
        }
        self.show_part(&mut view, ((share * 1000.0) as u64, 1000), "check", text);
    }

    fn load_view(&self) -> MutexGuard<'_, LoadView> {
        locked(&self.load)
    }
}
