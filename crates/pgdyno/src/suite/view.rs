//! The output of a suite: a line for each run, which its log keeps, and a changing line on a terminal.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink as _;
use pgdyno_report::forms::{FORMAT_VERSION, SuiteForm, SuiteRunForm, SuiteStatusForm};
use pgdyno_results::Metric;

use super::execution::{Execution, State};
use super::standing::Done;
use pgdyno_live::Progress;
use pgdyno_text::units;
use pgdyno_untrusted::append_to_file;

/// How much of the end of a log is searched for its last line.
const TAIL_BYTES: u64 = 4096;

/// Where the lines of a suite go.
pub(crate) struct View<'a> {
    progress: &'a Progress,
    /// The suite's log, if it is not standard error.
    log: Option<PathBuf>,
}

impl<'a> View<'a> {
    /// Returns a view on standard error and the execution's log; they are the same if it is `detached`.
    pub(crate) fn new(progress: &'a Progress, execution: &Execution, detached: bool) -> Self {
        Self { progress, log: (!detached).then(|| execution.log()) }
    }

    /// Prints a line that stays.
    pub(crate) fn say(&self, text: &str) {
        self.progress.note(text);
        if let Some(path) = &self.log {
            // The log repeats what is known elsewhere: other steps report a full disk.
            let _ = append_to_file(path).and_then(|mut log| writeln!(log, "{text}"));
        }
    }

    /// Sets the changing line, for the current run. `spent_s` and `left_s` are those of the whole suite.
    pub(crate) fn show(&self, state: &State, nth: usize, log: &Path, spent_s: f64, left_s: Option<f64>) {
        let left = left_s.filter(|left| *left >= 1.0);
        let left = left.map_or_else(String::new, |left| format!(", about {} left", units::duration(left)));
        let spent = units::duration(spent_s);
        let last = last_line(log).map_or_else(String::new, |line| format!(" · {line}"));
        self.progress.step(&format!("{}, {spent} spent{left}{last}", title(state, nth)), nth, state.runs.len());
    }
}

/// Returns `run 3 of 12: tpcb-like.clients=4@embedded #1`.
pub(crate) fn title(state: &State, nth: usize) -> String {
    let planned = &state.runs[nth];
    let repetition = if state.runs.iter().any(|run| run.repetition > 1) {
        format!(" #{}", planned.repetition)
    } else {
        String::new()
    };
    format!("run {} of {}: {}{repetition}", nth + 1, state.runs.len(), planned.run)
}

/// Returns `complete, 1,234 TPS, 35 s`.
pub(crate) fn ending(done: &Done) -> String {
    let record = &done.record;
    let status = if done.failure.is_some() && record.status == pgdyno_results::Status::Interrupted {
        "failed"
    } else {
        record.status.name()
    };
    let metric = Metric::headline(std::iter::once(record));
    let figure = record.summary.as_ref().map_or_else(String::new, |_| {
        format!(", {} {}", units::rate(metric.value(record).unwrap_or_default()), metric.title())
    });
    let took = done.seconds().map_or_else(String::new, |seconds| format!(", {}", units::duration(seconds)));
    let why = done.failure.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{status}{figure}{took}{why}")
}

/// Returns how long a run takes with its load: as the cell's finished repetitions did, otherwise as planned.
pub(crate) fn expected_s(state: &State, standings: &[Option<Done>], nth: usize) -> Option<f64> {
    let same = state.runs.iter().zip(standings).filter(|(run, _)| run.run == state.runs[nth].run);
    let took: Vec<f64> =
        same.filter_map(|(_, done)| done.as_ref().filter(|done| done.failure.is_none())?.seconds()).collect();
    if took.is_empty() { state.runs[nth].expected_s } else { Some(took.iter().sum::<f64>() / took.len() as f64) }
}

/// Returns how long the remaining runs from `nth` on take, including the rests between them.
pub(crate) fn left_s(state: &State, standings: &[Option<Done>], cool_down_s: f64) -> Option<f64> {
    let open = (0..state.runs.len()).filter(|nth| standings[*nth].is_none());
    open.map(|nth| expected_s(state, standings, nth).map(|seconds| seconds + cool_down_s)).sum()
}

/// Returns the last line of a log, without the sequences that move a terminal's cursor.
pub(crate) fn last_line(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let size = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let text = String::from_utf8_lossy(&tail).into_owned();
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(100).collect())
}

/// Returns the counts of an execution for programs.
pub(crate) fn form(execution: &Execution, standings: &[Option<Done>]) -> SuiteForm {
    let complete = standings.iter().flatten().filter(|done| done.failure.is_none()).count();
    let state = match execution.state.end {
        _ if execution.lives() => "running",
        Some(end) => end.words(),
        None => "broken off",
    };
    SuiteForm {
        name: execution.state.name(),
        state: state.to_owned(),
        planned: standings.len(),
        complete,
        failed: standings.iter().flatten().count() - complete,
    }
}

/// Returns the state of an execution and of each of its runs, for programs.
pub(crate) fn status_form(execution: &Execution, standings: &[Option<Done>]) -> SuiteStatusForm {
    let state = &execution.state;
    let lives = execution.lives();
    let run = |(nth, done): (usize, &Option<Done>)| SuiteRunForm {
        cell: state.runs[nth].run.clone(),
        repetition: state.runs[nth].repetition,
        state: match done {
            Some(done) if done.failure.is_some() => "failed",
            Some(_) => "complete",
            None if lives && state.current == Some(nth) => "running",
            None => "to do",
        }
        .to_owned(),
        run: done.as_ref().map(|done| done.record.id.clone()),
        why: done.as_ref().and_then(|done| done.failure.clone()),
    };
    SuiteStatusForm {
        format_version: FORMAT_VERSION,
        suite: form(execution, standings),
        pid: lives.then(|| execution.holder()).flatten(),
        spent_s: state.worked_s,
        left_s: left_s(state, standings, 0.0),
        file: state.file.display().to_string(),
        log: execution.log().display().to_string(),
        runs: standings.iter().enumerate().map(run).collect(),
    }
}

/// Returns the state of an execution and of each of its runs, for people.
pub(crate) fn status(execution: &Execution, standings: &[Option<Done>]) -> String {
    let state = &execution.state;
    let holder = execution.lives().then(|| execution.holder());
    let how = match (&holder, state.end) {
        (Some(pid), _) => format!("running{}", pid.map_or_else(String::new, |pid| format!(" (process {pid})"))),
        (None, Some(end)) => end.words().to_owned(),
        (None, None) => format!("broken off; `pgdyno suite resume {}` goes on with it", state.name()),
    };
    let ended = standings.iter().flatten().count();
    let failed = standings.iter().flatten().filter(|done| done.failure.is_some()).count();
    let mut text = format!(
        "suite {}: {how}\n{ended} of {} runs ended, {failed} failed, {} spent{}\nfile {}, log {}\n",
        state.name(),
        state.runs.len(),
        units::duration(state.worked_s),
        left_s(state, standings, 0.0)
            .filter(|left| *left > 0.0)
            .map_or_else(String::new, |left| format!(", about {} left", units::duration(left))),
        state.file.display(),
        execution.log().display(),
    );
    for (nth, done) in standings.iter().enumerate() {
        let now = holder.is_some() && state.current == Some(nth);
        let ending = match done {
            Some(done) => ending(done),
            None if now => {
                last_line(&execution.run_log(nth)).map_or("running".to_owned(), |l| format!("running · {l}"))
            }
            None if state.end == Some(super::execution::End::Budget) => "not run: budget".to_owned(),
            None => "to do".to_owned(),
        };
        text += &format!("{}: {ending}\n", title(state, nth));
    }
    text
}
