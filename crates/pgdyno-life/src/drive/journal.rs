//! The log of every transaction, in the format of pgbench's `-l`: one file per engine thread, merged at the end. A run
//! that is killed leaves the files of its threads.

use std::path::{Path, PathBuf};

use pgdyno_engine::Observer;
use pgdyno_pgbench::log::{LogFiles, ThreadLog, TxLog};
use pgdyno_pgbench::stats::Accounting;
use pgdyno_plan::{Pace, Plan};
use pgdyno_workload::Rng;

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// Name of the log in the run directory.
const NAME: &str = "transactions.log";

/// The log of a run.
pub(crate) struct Journal {
    path: PathBuf,
    accounting: Accounting,
    files: LogFiles,
}

impl Journal {
    /// Returns a log in this directory.
    pub(crate) fn open(directory: &Path, plan: &Plan) -> Result<Self> {
        let accounting = Accounting {
            throttled: matches!(plan.drive.pace, Pace::Rate(_)),
            max_tries: plan.drive.max_tries,
            ..Accounting::default()
        };
        let part = |thread| directory.join(format!("{NAME}.{thread}"));
        let files = LogFiles::create((0..plan.drive.threads).map(part)).map_err(|(path, error)| {
            CommandError::new(Code::Start, format!("failed to create {}: {error}", path.display()))
        })?;
        Ok(Self { path: directory.join(NAME), accounting, files })
    }

    /// Returns the writer for one thread. `epoch_ns` is the time of day at which the run's time is 0.
    pub(crate) fn observer(&self, thread: usize, epoch_ns: u64) -> Box<dyn Observer> {
        let log = TxLog::raw(self.accounting, None);
        self.files.observer(thread, ThreadLog { log, sampler: Rng::new(0), keep_partial: false, epoch_ns })
    }

    /// Merges the files of the threads, ordered by the end of the transactions.
    pub(crate) fn close(self) -> std::result::Result<(), String> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let path = self.path.display();
            format!("the transactions could not be {what} {path}: {error}; parts of it are beside it")
        };
        if let Some(error) = self.files.take_error() {
            return Err(failed("written to", &error));
        }
        self.files.merge_into(&self.path, false).map_err(|error| failed("merged into", &error))
    }
}
