//! `intervals.csv` and `intervals-by-group.csv`: a header, and a line for each interval, without escapes.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pgdyno_measure::Interval;
use pgdyno_workload::Stage;

use crate::error::{StoreError, io_error};
use crate::interval::IntervalRecord;

/// The columns of both files.
const COLUMNS: &str = "interval,phase,start_s,end_s,tps,started,committed,rolled_back,failed,retried,\
retries,skipped,late,in_flight,service_latency_ns_mean,service_latency_ns_p50,service_latency_ns_p95,\
service_latency_ns_p99,service_latency_ns_max,response_latency_ns_p50,response_latency_ns_p95,\
response_latency_ns_p99,response_latency_ns_max";

/// Returns one line, without its end, in [`COLUMNS`].
fn interval_line(i: &IntervalRecord) -> String {
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
    line
}

/// A file of intervals that is being written, in the columns of `intervals.csv`.
#[derive(Debug)]
pub struct IntervalsCsv {
    path: PathBuf,
    file: File,
    failure: Option<StoreError>,
}

impl IntervalsCsv {
    /// Creates or empties a file that the user named, and writes the header.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::begin(File::create(path).map_err(io_error("create", path))?, path)
    }

    /// Writes the header to a new file; `path` is its name in errors.
    pub(crate) fn begin(mut file: File, path: &Path) -> Result<Self, StoreError> {
        writeln!(file, "{COLUMNS},client_cpu_s").map_err(io_error("write", path))?;
        Ok(Self { path: path.to_owned(), file, failure: None })
    }

    /// Appends a finished interval. After a failure it writes no more lines, so that none is missing in between.
    pub fn interval(&mut self, interval: &IntervalRecord) {
        if self.failure.is_none() {
            let line = format!("{},{:.6}\n", interval_line(interval), interval.client_cpu_s);
            let written = self.file.write_all(line.as_bytes());
            self.failure = written.map_err(io_error("write", &self.path)).err();
        }
    }

    /// Returns the first failure to write an interval.
    #[must_use]
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }
}

/// The file of intervals by stage and group that is being written. CPU time is not known by group.
#[derive(Debug)]
pub(crate) struct GroupIntervalsCsv {
    file: File,
    /// The name of each stage, and those of its groups.
    names: Vec<(&'static str, Vec<&'static str>)>,
}

impl GroupIntervalsCsv {
    /// Writes the header to a new file; `path` is its name in errors.
    pub(crate) fn begin(mut file: File, path: &Path, stages: &[Stage]) -> Result<Self, StoreError> {
        writeln!(file, "stage,group,{COLUMNS}").map_err(io_error("write", path))?;
        let groups = |stage: &Stage| stage.groups.iter().map(|group| group.name).collect();
        Ok(Self { file, names: stages.iter().map(|stage| (stage.name, groups(stage))).collect() })
    }

    /// Appends a line for each group of a finished interval.
    pub(crate) fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        let Some((stage, groups)) = self.names.get(interval.stage) else { return Ok(()) };
        let records = if interval.groups.is_empty() {
            vec![IntervalRecord::from(interval)]
        } else {
            interval.groups.iter().map(|group| IntervalRecord::of_group(interval, group)).collect()
        };
        let lines = groups.iter().zip(&records).map(|(group, i)| format!("{stage},{group},{}\n", interval_line(i)));
        self.file.write_all(lines.collect::<String>().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_measure::{GroupInterval, Phase, Recorder, WorkerUsage};
    use pgdyno_workload::Group;

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
        assert_eq!(columns(&empty), columns(COLUMNS));
        assert_eq!(columns(&full), columns(COLUMNS));
        assert!(full.starts_with("3,measure,0.000000,1.000000,1.000,1,1,0,0"), "{full}");
    }
    #[test]
    fn each_group_of_a_stage_has_a_line() {
        let mut recorder = Recorder::new(1, 0, false);
        let mut part = |committed: u64| {
            for _ in 0..committed {
                recorder.started(0);
                recorder.completed(0, true, 1000, 1000, false);
            }
            recorder.take()
        };
        let interval = |stage, part, groups| Interval {
            index: stage as u64,
            stage,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: 2_000_000_000,
            part,
            in_flight: 0,
            workers: vec![],
            groups,
        };
        let groups = vec![GroupInterval { part: part(4), in_flight: 1 }, GroupInterval { part: part(6), in_flight: 2 }];
        let intervals = [interval(0, part(10), groups), interval(1, part(2), vec![])];
        let stages = [
            Stage::new("mix", vec![Group::new("writers"), Group::new("readers")]),
            Stage::new("each-once", vec![Group::new("queries")]),
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("groups.csv");
        let mut file = GroupIntervalsCsv::begin(File::create(&path).unwrap(), &path, &stages).unwrap();
        intervals.iter().for_each(|interval| file.interval(interval).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        let starts: Vec<_> = text.lines().map(|line| line.split(',').take(9).collect::<Vec<_>>().join(",")).collect();
        assert_eq!(
            starts,
            [
                "stage,group,interval,phase,start_s,end_s,tps,started,committed",
                "mix,writers,0,measure,0.000000,2.000000,2.000,4,4",
                "mix,readers,0,measure,0.000000,2.000000,3.000,6,6",
                "each-once,queries,1,measure,0.000000,2.000000,1.000,2,2",
            ]
        );
        assert!(text.lines().all(|line| columns(line) == columns(COLUMNS) + 2), "{text}");
    }
}
