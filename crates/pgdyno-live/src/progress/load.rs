//! How far a load is, or the checks.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use pgdyno_report::units;

use super::{Kind, Progress, locked};

/// The rows of a load, or the checks.
pub(super) struct LoadView {
    /// Rows in all, about.
    expected: u64,
    /// Rows that were there before.
    kept: u64,
    /// Rows of each table so far. One that has not begun yet is not among them.
    tables: BTreeMap<String, u64>,
    begun: Instant,
    told: Instant,
}

impl LoadView {
    /// A load of so many rows, which goes on where `kept` are there.
    pub(super) fn new(expected: u64, kept: u64) -> Self {
        let now = Instant::now();
        // The first figures are told when there is something to reckon from.
        Self { expected, kept, tables: BTreeMap::new(), begun: now, told: now }
    }
}

/// Two lines about a load on a pipe are at least so far apart.
const PIPE_PAUSE: Duration = Duration::from_secs(1);

impl Progress {
    /// A table's rows so far.
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
        self.tell(&mut view, (done, all), "load", text);
    }

    /// What changes often: at once on a terminal, now and then on a pipe.
    fn tell(&self, view: &mut LoadView, far: (u64, u64), what: &str, text: String) {
        match self.kind {
            Kind::Terminal => self.show(Some(far), text),
            Kind::Pipe if view.told.elapsed() >= PIPE_PAUSE => {
                view.told = Instant::now();
                drop(writeln!(std::io::stderr(), "{what}: {text}"));
            }
            Kind::Pipe | Kind::Quiet => {}
        }
    }

    /// A load of so many rows begins, or goes on where so many are there.
    pub(super) fn load_begins(&self, expected: u64, kept: u64) {
        *self.load_view() = LoadView::new(expected, kept);
    }

    /// So many queries of the checks are done, and this share of the work; the next one is of `check`.
    pub(super) fn checking(&self, check: &str, done: usize, of: usize, share: f64) {
        let mut view = self.load_view();
        let seconds = view.begun.elapsed().as_secs_f64();
        let mut text = format!("{check}, {done} of {of} queries done");
        if seconds >= 1.0 && share > 0.0 {
            text += &format!(", about {} left", units::duration(seconds * (1.0 - share) / share));
        }
        self.tell(&mut view, ((share * 1000.0) as u64, 1000), "check", text);
    }

    fn load_view(&self) -> MutexGuard<'_, LoadView> {
        locked(&self.load)
    }
}
