//! A run over time, for charts: every interval of every phase, and the latencies of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{StoreError, io_error, malformed};
use crate::executions::{self, Execution};
use crate::hlog;
use crate::interval::{IntervalLatency, IntervalRecord};
use crate::layout::{GROUP_INTERVALS, INTERVALS, LATENCY, directory};
use crate::profile;
use crate::record::RunRecord;
use crate::store::{read_beside, read_text_beside};

/// A run interval by interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Directory of its files; absent if there is only the record.
    pub directory: Option<PathBuf>,
    /// All intervals, in their order.
    pub intervals: Vec<TimelineInterval>,
    /// The same by stage and group of clients, if they are kept by group. Later stages are only here.
    pub groups: Vec<GroupTimeline>,
    /// Each execution of its queries, by its start, if they are kept.
    pub executions: Vec<Execution>,
    /// Call stacks of the server's processes and how often each was seen, if the run has a profile.
    pub profile: Vec<(String, u64)>,
}

/// The intervals of one group of clients in one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupTimeline {
    /// The stage.
    pub stage: String,
    /// The group.
    pub group: String,
    /// All its intervals, in their order. CPU time is not known by group.
    pub intervals: Vec<TimelineInterval>,
}

/// An interval of any phase, from `intervals.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineInterval {
    /// `ramp`, `measure` or `drain`.
    pub phase: String,
    /// Start, since the clients began.
    pub start_s: f64,
    /// End, since the clients began.
    pub end_s: f64,
    /// Transactions whose work is committed.
    pub committed: u64,
    /// Transactions that failed for good.
    pub failed: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Arrivals that were skipped for being later than the latency limit.
    pub skipped: u64,
    /// Transactions above the latency limit.
    pub late: u64,
    /// Transactions in progress at the end.
    pub in_flight: u64,
    /// CPU time of the engine's threads, user and kernel.
    pub client_cpu_s: f64,
    /// p50, p95, p99 and maximum of the response times in nanoseconds; absent if no transaction ended.
    pub response_ns: Option<[u64; 4]>,
}

/// The latencies of one transaction in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyLine {
    /// The transaction.
    pub transaction: String,
    /// Whether these are response times beside the service times of another line.
    pub response: bool,
    /// Start of the interval, since the clients began.
    pub start_s: f64,
    /// Latencies in nanoseconds, ascending, to three digits, and their counts.
    pub counts: Vec<(u64, u64)>,
}

/// Reads the intervals of the run whose record is at `path`: beside the record, or in its run directory in `results`, or
/// from the record itself.
///
/// # Errors
/// When a file cannot be read or parsed.
pub fn read_timeline(path: &Path, record: &RunRecord, results: &Path) -> Result<Timeline, StoreError> {
    let Some(directory) = directory(path, record, results) else { return Ok(Timeline::of_record(record)) };
    let intervals = read_intervals(&directory)?;
    let file = directory.join(GROUP_INTERVALS);
    let groups = match read_text_beside(&directory, GROUP_INTERVALS) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        text => parse_groups(&text.map_err(io_error("read", &file))?).map_err(|why| malformed(&file, why))?,
    };
    let executions = executions::read(&directory)?;
    let profile = profile::read(&directory)?;
    Ok(Timeline { directory: Some(directory), intervals, groups, executions, profile })
}

/// Reads the intervals of the run in this directory.
///
/// # Errors
/// When `intervals.csv` cannot be read or parsed.
pub fn read_intervals(directory: &Path) -> Result<Vec<TimelineInterval>, StoreError> {
    let file = directory.join(INTERVALS);
    let text = read_text_beside(directory, INTERVALS).map_err(io_error("read", &file))?;
    parse(&text).map_err(|why| malformed(&file, why))
}

pub(crate) fn latency_line(line: hlog::Line) -> LatencyLine {
    let hlog::Line { tag, start_s, counts } = line;
    let (transaction, response) = match tag.strip_suffix(hlog::RESPONSE) {
        Some(name) => (name.to_owned(), true),
        None => (tag, false),
    };
    LatencyLine { transaction, response, start_s, counts }
}

impl Timeline {
    /// Returns the intervals that a record holds itself.
    #[must_use]
    pub fn of_record(record: &RunRecord) -> Self {
        let intervals = record.intervals.iter().map(TimelineInterval::from).collect();
        Self { directory: None, intervals, ..Self::default() }
    }

    /// Calls `each` with each line of `latency.hlog`: those of an hour take much memory. There are none without that
    /// file.
    ///
    /// # Errors
    /// When the file cannot be read or parsed.
    pub fn each_latency(&self, mut each: impl FnMut(LatencyLine)) -> Result<(), StoreError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let file = directory.join(LATENCY);
        match read_beside(directory, LATENCY) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            bytes => hlog::read(&bytes.map_err(io_error("read", &file))?, |line| each(latency_line(line)))
                .map_err(|why| malformed(&file, why)),
        }
    }
}

impl From<&IntervalRecord> for TimelineInterval {
    fn from(i: &IntervalRecord) -> Self {
        Self {
            phase: i.phase.clone(),
            start_s: i.start_s,
            end_s: i.end_s,
            committed: i.committed,
            failed: i.failed,
            retries: i.retries,
            skipped: i.skipped,
            late: i.late,
            in_flight: i.in_flight,
            client_cpu_s: i.client_cpu_s,
            response_ns: i.response_latency_ns.map(|IntervalLatency { p50, p95, p99, max, .. }| [p50, p95, p99, max]),
        }
    }
}

/// The columns of the response times.
const RESPONSE: [&str; 4] =
    ["response_latency_ns_p50", "response_latency_ns_p95", "response_latency_ns_p99", "response_latency_ns_max"];

/// Returns the intervals in the text of `intervals.csv`. Skips a last line that is cut off, because the run was
/// killed.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn parse(text: &str) -> Result<Vec<TimelineInterval>, String> {
    rows(text, &[], |row| row.interval())
}

/// Returns the groups in the text of `intervals-by-group.csv`, in the order in which they first appear.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn parse_groups(text: &str) -> Result<Vec<GroupTimeline>, String> {
    let rows = rows(text, &["stage", "group"], |row| {
        let name = |column| Some(row.cells[*row.columns.get(column)?].to_owned());
        Some((name("stage")?, name("group")?, row.interval()?))
    })?;
    let mut groups: Vec<GroupTimeline> = Vec::new();
    for (stage, group, interval) in rows {
        match groups.iter_mut().find(|known| known.stage == stage && known.group == group) {
            Some(known) => known.intervals.push(interval),
            None => groups.push(GroupTimeline { stage, group, intervals: vec![interval] }),
        }
    }
    Ok(groups)
}

/// Reads each whole line; the table has `more` columns beside those of an interval.
fn rows<T>(text: &str, more: &[&str], read: impl Fn(&Row<'_>) -> Option<T>) -> Result<Vec<T>, String> {
    let mut lines = text.split_inclusive('\n');
    let header: Vec<&str> = lines.next().unwrap_or_default().trim_end().split(',').collect();
    let columns: BTreeMap<&str, usize> = header.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let needed = more.iter().chain(&["phase", "start_s", "end_s", "committed"]);
    if let Some(missing) = needed.into_iter().find(|name| !columns.contains_key(*name)) {
        return Err(format!("it has no column {missing}"));
    }
    let whole = lines.enumerate().filter(|(_, line)| line.ends_with('\n'));
    whole
        .map(|(nth, line)| {
            let cells: Vec<&str> = line.trim_end_matches(['\n', '\r']).split(',').collect();
            let row = Row { columns: &columns, cells: &cells };
            let fits = cells.len() == header.len();
            fits.then(|| read(&row)).flatten().ok_or_else(|| format!("line {} is none of its table", nth + 2))
        })
        .collect()
}

struct Row<'a> {
    columns: &'a BTreeMap<&'a str, usize>,
    cells: &'a [&'a str],
}

impl Row<'_> {
    fn interval(&self) -> Option<TimelineInterval> {
        let response = RESPONSE.map(|name| self.number(name));
        let [Some(p50), Some(p95), Some(p99), Some(max)] = response else { return None };
        let seen = self.columns.get(RESPONSE[3]).is_some_and(|at| !self.cells[*at].is_empty());
        Some(TimelineInterval {
            phase: self.cells[*self.columns.get("phase")?].to_owned(),
            start_s: self.number("start_s")?,
            end_s: self.number("end_s")?,
            committed: self.number("committed")?,
            failed: self.number("failed")?,
            retries: self.number("retries")?,
            skipped: self.number("skipped")?,
            late: self.number("late")?,
            in_flight: self.number("in_flight")?,
            client_cpu_s: self.number("client_cpu_s")?,
            response_ns: seen.then_some([p50, p95, p99, max]),
        })
    }

    /// Returns a cell as a number; zero if there is no such column, or the cell is empty.
    fn number<N: std::str::FromStr + Default>(&self, column: &str) -> Option<N> {
        match self.columns.get(column).map(|at| self.cells[*at]) {
            None | Some("") => Some(N::default()),
            Some(cell) => cell.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "phase,start_s,end_s,committed,in_flight,response_latency_ns_p50,response_latency_ns_p95,\
        response_latency_ns_p99,response_latency_ns_max,client_cpu_s\n\
        ramp,0.0,1.0,0,1,,,,,0.1\nmeasure,1.0,2.5,30,2,1,2,3,4,0.2\nmeasure,2.5,3.";

    #[test]
    fn all_phases_read_back_and_what_was_cut_off_is_left_out() {
        let found = parse(TABLE).unwrap();
        assert_eq!(found.iter().map(|i| i.phase.as_str()).collect::<Vec<_>>(), ["ramp", "measure"]);
        assert_eq!((found[0].response_ns, found[1].response_ns), (None, Some([1, 2, 3, 4])));
        let second = &found[1];
        let facts = (second.start_s, second.end_s, second.committed, second.in_flight, second.client_cpu_s);
        assert_eq!(facts, (1.0, 2.5, 30, 2, 0.2));
        assert_eq!(second.failed, 0, "a column that an old file has not");
    }

    #[test]
    fn groups_are_distinguished_by_stage_and_name() {
        let text = "stage,group,phase,start_s,end_s,committed\nmix,w,measure,0,1,5\nmix,r,measure,0,1,7\n\
            mix,w,measure,1,2,6\nonce,w,measure,2,3,1\nonce,w,mea";
        let groups = parse_groups(text).unwrap();
        let facts: Vec<_> = groups
            .iter()
            .map(|g| (g.stage.as_str(), g.group.as_str(), g.intervals.iter().map(|i| i.committed).collect::<Vec<_>>()))
            .collect();
        assert_eq!(facts, [("mix", "w", vec![5, 6]), ("mix", "r", vec![7]), ("once", "w", vec![1])]);
        assert_eq!(parse_groups(TABLE).unwrap_err(), "it has no column stage");
    }

    #[test]
    fn what_is_no_such_table_is_reported() {
        assert_eq!(parse("").unwrap_err(), "it has no column phase");
        assert_eq!(parse(&TABLE.replace("30,2", "30,x")).unwrap_err(), "line 3 is none of its table");
        assert_eq!(parse(&TABLE.replace("30,2", "30,2,2")).unwrap_err(), "line 3 is none of its table");
    }

    #[test]
    fn response_times_are_distinguished_from_service_times_by_their_tag() {
        let line = |tag: &str| hlog::Line { tag: tag.to_owned(), start_s: 1.0, counts: vec![(5, 1)] };
        let names = ["a", "a.response"].map(|tag| latency_line(line(tag))).map(|l| (l.transaction, l.response));
        assert_eq!(names, [("a".to_owned(), false), ("a".to_owned(), true)]);
    }
}
