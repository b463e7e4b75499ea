//! The files of a log: one for each engine thread, so that none waits for another. They may be merged at the end.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_engine::{Observer, Tick, TxEnd, TxOutcome};
use pgdyno_wire::ErrorClass;
use pgdyno_workload::Rng;

use super::{TxLog, merge_aggregates, merge_raw};
use crate::transaction::{TransactionError, TransactionOutcome, TxRecord};

/// Lines are written in blocks of this size.
const PIECE_BYTES: usize = 64 << 10;

/// The files, and the first error while they were written.
#[derive(Debug)]
pub struct LogFiles {
    files: Vec<(PathBuf, Arc<File>)>,
    error: Arc<Mutex<Option<io::Error>>>,
}

/// The log of one thread.
#[derive(Debug)]
pub struct ThreadLog {
    /// Its format.
    pub log: TxLog,
    /// The random stream that selects the transactions of a sampled log.
    pub sampler: Rng,
    /// Whether the last interval of an aggregated log is written although it is incomplete.
    pub keep_partial: bool,
    /// The time of day at which the run's time is 0, in nanoseconds since 1970.
    pub epoch_ns: u64,
}

impl LogFiles {
    /// Creates the files, one for each thread.
    ///
    /// # Errors
    /// The error of the first file that cannot be created.
    pub fn create(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, (PathBuf, io::Error)> {
        let create = |path: PathBuf| match File::create(&path) {
            Ok(file) => Ok((path, Arc::new(file))),
            Err(error) => Err((path, error)),
        };
        Ok(Self { files: paths.into_iter().map(create).collect::<Result<_, _>>()?, error: Arc::default() })
    }

    /// Returns the writer for the log of one thread.
    #[must_use]
    pub fn observer(&self, thread: usize, log: ThreadLog) -> Box<dyn Observer> {
        Box::new(Writer {
            log,
            lines: Vec::with_capacity(PIECE_BYTES + 1024),
            file: Arc::clone(&self.files[thread].1),
            error: Arc::clone(&self.error),
        })
    }

    /// Returns the first error while the files were written.
    pub fn take_error(&self) -> Option<io::Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the files in the order of their threads.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Merges the files into `path`, which may be one of them: raw ones by the ends of the transactions, aggregated
    /// ones by interval.
    ///
    /// # Errors
    /// The files then stay unchanged.
    pub fn merge_into(self, path: &Path, aggregated: bool) -> Result<(), Box<dyn Error>> {
        let mut merged = path.as_os_str().to_owned();
        merged.push(".merged");
        let merged = PathBuf::from(merged);
        let inputs = self.paths().map(|part| File::open(part).map(BufReader::new)).collect::<io::Result<Vec<_>>>()?;
        let mut out = BufWriter::new(File::create(&merged)?);
        if aggregated {
            merge_aggregates(inputs, &mut out)?;
        } else {
            merge_raw(inputs, &mut out)?;
        }
        out.into_inner()?;
        std::fs::rename(&merged, path)?;
        for part in self.paths().filter(|part| *part != path) {
            std::fs::remove_file(part)?;
        }
        Ok(())
    }
}

struct Writer {
    log: ThreadLog,
    lines: Vec<u8>,
    file: Arc<File>,
    error: Arc<Mutex<Option<io::Error>>>,
}

impl Writer {
    fn write(&mut self) {
        if let Err(error) = (&*self.file).write_all(&self.lines) {
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        self.lines.clear();
    }

    fn epoch_us(&self, tick: Tick) -> i64 {
        ((self.log.epoch_ns + tick.0) / 1000).cast_signed()
    }
}

impl Observer for Writer {
    fn transaction(&mut self, end: &TxEnd) {
        let us = |from: Tick, to: Tick| (to.0 / 1000).saturating_sub(from.0 / 1000) as f64;
        let record = TxRecord {
            client: end.client,
            number: end.number,
            script: end.txn as u32,
            end_epoch_us: self.epoch_us(end.end),
            latency_us: us(end.intended, end.end),
            lag_us: us(end.intended, end.begun),
            outcome: match end.outcome {
                TxOutcome::Completed => TransactionOutcome::Ok,
                TxOutcome::Skipped => TransactionOutcome::Skipped,
                TxOutcome::Failed(ErrorClass::Serialization) => {
                    TransactionOutcome::Failed(TransactionError::Serialization)
                }
                TxOutcome::Failed(ErrorClass::Deadlock) => TransactionOutcome::Failed(TransactionError::Deadlock),
                TxOutcome::Failed(_) => TransactionOutcome::Failed(TransactionError::Other),
            },
            tries: end.tries,
        };
        let Self { log: ThreadLog { log, sampler, .. }, lines, .. } = self;
        log.record(&record, || sampler.unit(), lines);
        if lines.len() >= PIECE_BYTES {
            self.write();
        }
    }

    fn finish(&mut self, end: Tick) {
        let end_us = self.epoch_us(end);
        self.log.log.finish(end_us, self.log.keep_partial, &mut self.lines);
        self.write();
    }
}
