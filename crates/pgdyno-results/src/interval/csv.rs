//! Intervals as CSV, without escapes: `intervals.csv` and `intervals-by-group.csv`, written and parsed by their columns.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pgdyno_measure::Interval;
use pgdyno_workload::Stage;

use super::IntervalRecord;
use super::columns::{INTERVAL_COLUMNS, IntervalColumn};
use crate::error::{StoreError, io_error};

/// The columns of `intervals-by-group.csv` before those of an interval.
pub(crate) const GROUP: [&str; 2] = ["stage", "group"];

/// Returns the columns that are known by group.
fn by_group() -> impl Iterator<Item = &'static IntervalColumn> {
    INTERVAL_COLUMNS.iter().filter(|column| column.is_by_group)
}

/// Returns a line without its end: the names of the columns.
fn header(columns: impl Iterator<Item = &'static IntervalColumn>) -> String {
    columns.map(|column| column.name).collect::<Vec<_>>().join(",")
}

/// Returns a line without its end: the cells of an interval.
fn line(columns: impl Iterator<Item = &'static IntervalColumn>, interval: &IntervalRecord) -> String {
    columns.map(|column| column.text(interval)).collect::<Vec<_>>().join(",")
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
        writeln!(file, "{}", header(INTERVAL_COLUMNS.iter())).map_err(io_error("write", path))?;
        Ok(Self { path: path.to_owned(), file, failure: None })
    }

    /// Appends a finished interval. After a failure it writes no more lines, so that none is missing in between.
    pub fn interval(&mut self, interval: &IntervalRecord) {
        if self.failure.is_none() {
            let written = self.file.write_all((line(INTERVAL_COLUMNS.iter(), interval) + "\n").as_bytes());
            self.failure = written.map_err(io_error("write", &self.path)).err();
        }
    }

    /// Returns the first failure to write an interval.
    #[must_use]
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }
}

/// The file of intervals by stage and group that is being written.
#[derive(Debug)]
pub(crate) struct GroupIntervalsCsv {
    file: File,
    /// The name of each stage, and those of its groups.
    names: Vec<(&'static str, Vec<&'static str>)>,
}

impl GroupIntervalsCsv {
    /// Writes the header to a new file; `path` is its name in errors.
    pub(crate) fn begin(mut file: File, path: &Path, stages: &[Stage]) -> Result<Self, StoreError> {
        writeln!(file, "{},{}", GROUP.join(","), header(by_group())).map_err(io_error("write", path))?;
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
        let lines = groups.iter().zip(&records).map(|(group, i)| format!("{stage},{group},{}\n", line(by_group(), i)));
        self.file.write_all(lines.collect::<String>().as_bytes())
    }
}

/// Returns the rows of a text: the cells of `others`, which are columns beside those of an interval, and the interval. Columns
/// that the table lacks or that are unknown are left out. Skips a last line that is cut off, because the run was killed.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn parse<'a, const N: usize>(
    text: &'a str,
    others: [&str; N],
) -> Result<Vec<([&'a str; N], IntervalRecord)>, String> {
    let mut lines = text.split_inclusive('\n');
    let header: Vec<&str> = lines.next().unwrap_or_default().trim_end().split(',').collect();
    let required = INTERVAL_COLUMNS.iter().filter(|column| column.is_required).map(|column| column.name);
    if let Some(missing) = others.into_iter().chain(required).find(|name| !header.contains(name)) {
        return Err(format!("it has no column {missing}"));
    }
    let places = others.map(|name| header.iter().position(|found| *found == name).unwrap_or_default());
    let columns: Vec<Option<&IntervalColumn>> =
        header.iter().map(|name| INTERVAL_COLUMNS.iter().find(|column| column.name == *name)).collect();
    let read = |line: &'a str| {
        let cells: Vec<&str> = line.trim_end_matches(['\n', '\r']).split(',').collect();
        if cells.len() != columns.len() {
            return None;
        }
        let mut interval = IntervalRecord::default();
        for (column, cell) in columns.iter().zip(&cells) {
            column.map_or(Some(()), |column| column.read(cell, &mut interval))?;
        }
        Some((places.map(|place| cells[place]), interval))
    };
    let whole = lines.enumerate().filter(|(_, line)| line.ends_with('\n'));
    whole
        .map(|(nth, line)| read(line).ok_or_else(|| format!("line {} does not fit the columns of its header", nth + 2)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_measure::{GroupInterval, Phase, Recorder};
    use pgdyno_workload::Group;

    use crate::interval::IntervalLatency;

    const HEADER: &str = "interval,phase,start_s,end_s,tps,started,committed,rolled_back,failed,retried,retries,skipped,late,\
        in_flight,service_latency_ns_mean,service_latency_ns_p50,service_latency_ns_p95,service_latency_ns_p99,\
        service_latency_ns_max,response_latency_ns_p50,response_latency_ns_p95,response_latency_ns_p99,\
        response_latency_ns_max,client_cpu_s,offered_per_s";

    /// Returns an interval with another value in every column.
    fn full() -> IntervalRecord {
        let latency = |from| IntervalLatency { mean: None, p50: from, p95: from + 1, p99: from + 2, max: from + 3 };
        IntervalRecord {
            interval: 3,
            phase: "measure".to_owned(),
            start_s: 4.000_000_9,
            end_s: 1.0 / 3.0,
            tps: 1234.5678,
            started: 5,
            committed: 6,
            rolled_back: 7,
            failed: 8,
            retried: 9,
            retries: 10,
            skipped: 11,
            late: 12,
            in_flight: 13,
            service_latency_ns: Some(IntervalLatency { mean: Some(14.6), ..latency(16) }),
            response_latency_ns: Some(latency(20)),
            client_cpu_s: 24.25,
            offered_per_s: Some(25.5),
            ..IntervalRecord::default()
        }
    }

    fn written(interval: &IntervalRecord) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("intervals.csv");
        IntervalsCsv::create(&path).unwrap().interval(interval);
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn programs_of_others_find_the_columns_as_they_always_were() {
        let cells =
            "3,measure,4.000001,0.333333,1234.568,5,6,7,8,9,10,11,12,13,15,16,17,18,19,20,21,22,23,24.250000,25.500";
        assert_eq!(written(&full()), format!("{HEADER}\n{cells}\n"));
        let empty = IntervalRecord { phase: "drain".to_owned(), ..IntervalRecord::default() };
        let cells = "0,drain,0.000000,0.000000,0.000,0,0,0,0,0,0,0,0,0,,,,,,,,,,0.000000,";
        assert_eq!(written(&empty), format!("{HEADER}\n{cells}\n"));
    }

    #[test]
    fn every_column_reads_back_into_its_own_field() {
        let [([], read)] = parse(&written(&full()), []).unwrap().try_into().unwrap();
        let mut rounded = full();
        (rounded.start_s, rounded.end_s, rounded.tps) = (4.000_001, 0.333_333, 1234.568);
        rounded.service_latency_ns.as_mut().unwrap().mean = Some(15.0);
        assert_eq!(read, rounded);
        let [([], empty)] = parse(&written(&IntervalRecord::default()), []).unwrap().try_into().unwrap();
        assert_eq!(empty, IntervalRecord::default(), "a latency that was not measured is absent, and not 0 ns");
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
        let cells = |line: &str| line.split(',').count();
        assert!(text.lines().all(|line| cells(line) == INTERVAL_COLUMNS.len()), "{text}");
        let header = text.lines().next().unwrap();
        assert_eq!(header, format!("stage,group,{}", HEADER.trim_end_matches(",client_cpu_s,offered_per_s")));
    }
}
