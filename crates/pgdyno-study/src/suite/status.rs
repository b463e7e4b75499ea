//! The state of an execution, for people and for programs.

use pgdyno_report::forms::{FORMAT_VERSION, SuiteForm, SuiteRunForm, SuiteStatusForm};
use pgdyno_text::units;

use super::decider::left_s;
use super::execution::{End, SuiteExecution};
use super::standing::CompletedRun;
use super::view::{ending, last_line, title};

/// Returns the counts of an execution for programs.
pub fn counts(execution: &SuiteExecution, standings: &[Option<CompletedRun>]) -> SuiteForm {
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
pub fn form(execution: &SuiteExecution, standings: &[Option<CompletedRun>]) -> SuiteStatusForm {
    let state = &execution.state;
    let lives = execution.lives();
    let run = |(nth, done): (usize, &Option<CompletedRun>)| SuiteRunForm {
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
        suite: counts(execution, standings),
        pid: lives.then(|| execution.holder()).flatten(),
        spent_s: state.worked_s,
        left_s: left_s(&state.runs, standings, 0.0),
        file: state.file.display().to_string(),
        log: execution.log().display().to_string(),
        runs: standings.iter().enumerate().map(run).collect(),
    }
}

/// Returns the state of an execution and of each of its runs, for people.
pub fn text(execution: &SuiteExecution, standings: &[Option<CompletedRun>]) -> String {
    let state = &execution.state;
    let holder = execution.lives().then(|| execution.holder());
    let how = match (&holder, state.end) {
        (Some(pid), _) => format!("running{}", pid.map_or_else(String::new, |pid| format!(" (process {pid})"))),
        (None, Some(end)) => end.words().to_owned(),
        (None, None) => format!("broken off; `pgdyno suite resume {}` resumes it", state.name()),
    };
    let ended = standings.iter().flatten().count();
    let failed = standings.iter().flatten().filter(|done| done.failure.is_some()).count();
    let mut text = format!(
        "suite {}: {how}\n{ended} of {} runs ended, {failed} failed, {} spent{}\nfile {}, log {}\n",
        state.name(),
        state.runs.len(),
        units::duration(state.worked_s),
        left_s(&state.runs, standings, 0.0)
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
            None if state.end == Some(End::Budget) => "not run: budget".to_owned(),
            None => "to do".to_owned(),
        };
        text += &format!("{}: {ending}\n", title(state, nth));
    }
    text
}
