//! `intervals.csv`: a header, and a line each; nothing to escape.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{StoreError, io_error};
use crate::interval::IntervalRecord;

/// The header of `intervals.csv`.
pub(crate) const INTERVALS_HEADER: &str = "interval,phase,start_s,end_s,tps,started,committed,rolled_back,failed,retried,\
retries,skipped,late,in_flight,service_latency_ns_mean,service_latency_ns_p50,service_latency_ns_p95,\
service_latency_ns_p99,service_latency_ns_max,response_latency_ns_p50,response_latency_ns_p95,\
response_latency_ns_p99,response_latency_ns_max,client_cpu_s\n";

/// One line of `intervals.csv`.
pub(crate) fn interval_line(i: &IntervalRecord) -> String {
    let mut line = format!(
        "{},{},{:.6},{:.6},{:.3},{},{},{},{},{},{},{},{},{}",
        i.interval,
        i.phase,
        i.start_s,
        i.end_s,
        i.tps,
        i.started,
        i.committed,
        i.rolled_back,
        i.failed,
        i.retried,
        i.retries,
        i.skipped,
        i.late,
        i.in_flight,
    );
    match &i.service_latency_ns {
        Some(l) => line += &format!(",{:.0},{},{},{},{}", l.mean, l.p50, l.p95, l.p99, l.max),
        None => line += ",,,,,",
    }
    match &i.response_latency_ns {
        Some(l) => line += &format!(",{},{},{},{}", l.p50, l.p95, l.p99, l.max),
        None => line += ",,,,",
    }
    line += &format!(",{:.6}\n", i.client_cpu_s);
    line
}

/// A file of intervals while it is written: the series of a run, in the columns of `intervals.csv`.
#[derive(Debug)]
pub struct IntervalsCsv {
    path: PathBuf,
    file: File,
    failure: Option<StoreError>,
}

impl IntervalsCsv {
    /// Makes the file, or empties it, and writes the header.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::create(path).map_err(io_error("create", path))?;
        file.write_all(INTERVALS_HEADER.as_bytes()).map_err(io_error("write", path))?;
        Ok(Self { path: path.to_owned(), file, failure: None })
    }

    /// Appends a finished interval. After a failure there are no more lines, so that none is missing in between.
    pub fn interval(&mut self, interval: &IntervalRecord) {
        if self.failure.is_none() {
            let written = self.file.write_all(interval_line(interval).as_bytes());
            self.failure = written.map_err(io_error("write", &self.path)).err();
        }
    }

    /// The failure to write an interval, if there was one.
    #[must_use]
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_measure::{Interval, Phase, Recorder, WorkerUsage};

    fn columns(line: &str) -> usize {
        line.trim_end().split(',').count()
    }

    #[test]
    fn lines_have_as_many_columns_as_the_header() {
        let mut recorder = Recorder::new(1, 0, true);
        let interval = |part| Interval {
            index: 3,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: 1_000_000_000,
            part,
            in_flight: 0,
            workers: vec![WorkerUsage::default()],
            groups: vec![],
        };
        let empty = interval_line(&IntervalRecord::from(&interval(recorder.take())));
        recorder.started(0);
        recorder.completed(0, true, 1000, 2000, false);
        let full = interval_line(&IntervalRecord::from(&interval(recorder.take())));
        assert_eq!(columns(&empty), columns(INTERVALS_HEADER));
        assert_eq!(columns(&full), columns(INTERVALS_HEADER));
        assert!(full.starts_with("3,measure,0.000000,1.000000,1.000,1,1,0,0"), "{full}");
    }
}
