//! The files of `--log`.

use std::path::PathBuf;

use pgdyno_engine::Observer;
use pgdyno_workloads::scripted::Scripted;

use super::accounting;
use crate::log::{Aggregator, DEFAULT_PREFIX, LogFiles, ThreadLog, TxLog, file_name};
use crate::messages::{ExitReason, system_text};
use crate::options::{LogOptions, RunOptions};
use crate::stats::Accounting;

/// The log of a run.
pub(super) struct Journal {
    log: LogOptions,
    accounting: Accounting,
    files: LogFiles,
}

impl Journal {
    /// Creates the files.
    pub(super) fn open(log: &LogOptions, options: &RunOptions) -> Result<Self, ExitReason> {
        let prefix = if log.prefix.is_empty() { DEFAULT_PREFIX.into() } else { log.prefix.to_string_lossy() };
        let paths = (0..options.threads).map(|t| PathBuf::from(file_name(&prefix, std::process::id(), t)));
        let files = LogFiles::create(paths).map_err(|(path, error)| {
            ExitReason::error(format!("could not open logfile \"{}\": {}", path.display(), system_text(&error)))
        })?;
        Ok(Self { log: log.clone(), accounting: accounting(options), files })
    }

    /// Returns the writer for the log of one thread.
    pub(super) fn observer(&self, thread: usize, epoch_ns: u64, workload: &Scripted) -> Box<dyn Observer> {
        let start_us = (epoch_ns / 1000).cast_signed();
        let log = match self.log.aggregate_interval_s {
            Some(seconds) => TxLog::aggregate(Aggregator::new(self.accounting, seconds, start_us)),
            None => TxLog::raw(self.accounting, self.log.sampling_rate),
        };
        let sampler = workload.sampler(thread);
        self.files.observer(thread, ThreadLog { log, sampler, keep_partial: self.log.merge, epoch_ns })
    }

    /// Merges the files into the first one, if that was requested.
    pub(super) fn close(self) -> Result<(), ExitReason> {
        if let Some(error) = self.files.take_error() {
            return Err(ExitReason::error(format!("could not write to the log file: {}", system_text(&error))));
        }
        let Some(first) = self.files.paths().next().filter(|_| self.log.merge).map(PathBuf::from) else {
            return Ok(());
        };
        self.files.merge_into(&first, self.log.aggregate_interval_s.is_some()).map_err(|error| {
            ExitReason::error(format!("could not merge the log files into \"{}\": {error}", first.display()))
        })
    }
}
