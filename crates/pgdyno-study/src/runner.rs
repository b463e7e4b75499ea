//! Carries out one run of a study: an order and a place become a record.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_results::{RECORD, RunRecord, list_runs, read_record};

use crate::process::{self, Exit};
use crate::run::{Runner, StudyRun};
use crate::study::{Step, Stopped};

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code of its process; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended its process.
    pub signal: Option<i32>,
    /// Whether it was ended because it exceeded its time limit.
    pub is_late: bool,
    /// The path of its record, and the record; none if the run did not start one.
    pub record: Option<(PathBuf, RunRecord)>,
}

impl Runner<'_> {
    /// Carries out a run and waits for its end. `on_poll` is called while it goes on, with the time since it began.
    ///
    /// # Errors
    /// When the process cannot be started, or the results cannot be read.
    pub fn run(&self, run: &StudyRun<'_>, on_poll: &dyn Fn(Duration)) -> Result<Ended> {
        let before = names(self.results).or_fail(Code::Start)?;
        let Exit { status, is_late } = process::carry_out(self, run, on_poll)?;
        // An earlier attempt may have left a record of this place.
        let is_new = |path: &PathBuf| path.file_name().is_none_or(|name| !before.contains(name));
        let mut found = records_of(list_runs(self.results).or_fail(Code::Start)?.into_iter().filter(is_new).collect());
        let record = found.find(|(_, record)| record.plan.suite.as_ref() == Some(run.place));
        Ok(Ended { code: status.code(), signal: status.signal(), is_late, record })
    }

    /// Carries out a run whose figures a study needs, and returns its run directory and its record. `failed` begins the message
    /// for a run without a record that `is_usable`.
    pub(crate) fn record(
        &self,
        run: &StudyRun<'_>,
        is_usable: fn(&RunRecord) -> bool,
        failed: &str,
    ) -> Step<(PathBuf, RunRecord)> {
        self.usable(run, self.run(run, &|_| ())?, is_usable, failed)
    }

    /// Returns the same of a run that has ended.
    pub(crate) fn usable(
        &self,
        run: &StudyRun<'_>,
        ended: Ended,
        is_usable: fn(&RunRecord) -> bool,
        failed: &str,
    ) -> Step<(PathBuf, RunRecord)> {
        if self.interrupt.stop.is_requested() {
            return Err(Stopped::Interrupted);
        }
        match ended.record {
            Some((path, record)) if is_usable(&record) => Ok((path, record)),
            record => {
                let reason = record.and_then(|(_, record)| record.reason);
                Err(failure(failed, reason, ended.code, run.log).into())
            }
        }
    }
}

/// Returns the failure of a run that cannot be used, by the reason in its record or the last error in its log; `what` begins the
/// sentence.
fn failure(what: &str, reason: Option<String>, code: Option<i32>, log: &Path) -> CommandError {
    let output = fs::read_to_string(log).unwrap_or_default();
    let last = || output.lines().rev().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned);
    let why = reason.or_else(last).unwrap_or_default();
    CommandError::new(Code::of_failed_run(code), format!("{what}: {why}"))
        .hint(format!("its output is in {}", log.display()))
}

/// Returns the names in a directory; none if it does not exist yet.
fn names(directory: &Path) -> io::Result<BTreeSet<OsString>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    }
}

/// Returns the records in `results` and their paths, the newest first. Skips records that cannot be read.
///
/// # Errors
/// When the directory cannot be read.
pub fn records(results: &Path) -> Result<impl Iterator<Item = (PathBuf, RunRecord)>> {
    Ok(records_of(list_runs(results).or_fail(Code::Start)?))
}

/// Returns the records of these run directories, the last one first.
fn records_of(runs: Vec<PathBuf>) -> impl Iterator<Item = (PathBuf, RunRecord)> {
    runs.into_iter().rev().filter_map(|path| read_record(&path.join(RECORD)).ok().map(|record| (path, record)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_figures_fails_as_its_process_did() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("run.log");
        fs::write(&log, "error: the first\nerror: the hook failed\nprogress\n").unwrap();
        let hook = failure("the run has no figures", None, Some(13), &log);
        assert_eq!((hook.code(), hook.text().as_str()), (Code::Hook, "the run has no figures: the hook failed"));
        assert!(hook.remedy().is_some_and(|hint| hint.contains("run.log")));
        let recorded = failure("the run has no figures", Some("no server".to_owned()), None, &log);
        assert_eq!((recorded.code(), recorded.text().as_str()), (Code::Run, "the run has no figures: no server"));
    }
}
