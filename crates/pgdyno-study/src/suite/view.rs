//! The output of a suite: a line for each run, which its log keeps, and a changing line on a terminal.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_results::RecordMetric;
use pgdyno_text::units;

use super::execution::{ExecutionState, SuiteExecution};
use super::standing::CompletedRun;

use pgdyno_untrusted::append_to_file;

/// How much of the end of a log is searched for its last line.
const TAIL_BYTES: u64 = 4096;

/// Where the lines of a suite go.
pub struct View<'a> {
    progress: &'a dyn EventSink,
    /// The suite's log, if it is not standard error.
    log: Option<PathBuf>,
}

impl<'a> View<'a> {
    /// Returns a view on standard error and the execution's log; they are the same if it is `detached`.
    pub fn new(progress: &'a dyn EventSink, execution: &SuiteExecution, detached: bool) -> Self {
        Self { progress, log: (!detached).then(|| execution.log()) }
    }

    /// Prints a line that stays.
    pub fn say(&self, text: &str) {
        self.progress.note(text);
        if let Some(path) = &self.log {
            // The log repeats what is known elsewhere: other steps report a full disk.
            let _ = append_to_file(path).and_then(|mut log| writeln!(log, "{text}"));
        }
    }

    /// Sets the changing line, for the current run. `spent_s` and `left_s` are those of the whole suite.
    pub fn show(&self, state: &ExecutionState, nth: usize, log: &Path, spent_s: f64, left_s: Option<f64>) {
        let left = left_s.filter(|left| *left >= 1.0);
        let left = left.map_or_else(String::new, |left| format!(", about {} left", units::duration(left)));
        let spent = units::duration(spent_s);
        let last = last_line(log).map_or_else(String::new, |line| format!(" · {line}"));
        self.progress.step(&format!("{}, {spent} spent{left}{last}", title(state, nth)), nth, state.runs.len());
    }
}

/// Returns `run 3 of 12: tpcb-like.clients=4@embedded #1`.
pub fn title(state: &ExecutionState, nth: usize) -> String {
    let planned = &state.runs[nth];
    let repetition = if state.runs.iter().any(|run| run.repetition > 1) {
        format!(" #{}", planned.repetition)
    } else {
        String::new()
    };
    format!("run {} of {}: {}{repetition}", nth + 1, state.runs.len(), planned.run)
}

/// Returns `complete, 1,234 TPS, 35 s`.
pub fn ending(done: &CompletedRun) -> String {
    let record = &done.record;
    let status = if done.failure.is_some() && record.status == pgdyno_results::Status::Interrupted {
        "failed"
    } else {
        record.status.name()
    };
    let metric = RecordMetric::headline(std::iter::once(record));
    let figure = record.summary.as_ref().map_or_else(String::new, |_| {
        format!(", {} {}", units::rate(metric.value(record).unwrap_or_default()), metric.title())
    });
    let took = done.seconds().map_or_else(String::new, |seconds| format!(", {}", units::duration(seconds)));
    let why = done.failure.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{status}{figure}{took}{why}")
}

/// Returns the last line of a log, without the sequences that move a terminal's cursor.
pub fn last_line(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let size = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let text = String::from_utf8_lossy(&tail).into_owned();
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(100).collect())
}
