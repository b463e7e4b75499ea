//! A run over time, for charts: every interval of every phase, and the latencies of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{StoreError, io_error, malformed};
use crate::executions::{self, Execution};
use crate::hlog;
use crate::interval::{IntervalRecord, csv};
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
    pub intervals: Vec<IntervalRecord>,
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
    pub intervals: Vec<IntervalRecord>,
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
    let profile = profile::read_profile(&directory)?;
    Ok(Timeline { directory: Some(directory), intervals, groups, executions, profile })
}

/// Reads the intervals of the run in this directory.
///
/// # Errors
/// When `intervals.csv` cannot be read or parsed.
pub fn read_intervals(directory: &Path) -> Result<Vec<IntervalRecord>, StoreError> {
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
        Self { intervals: record.intervals.clone(), ..Self::default() }
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

/// Returns the intervals in the text of `intervals.csv`. Skips a last line that is cut off.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn parse(text: &str) -> Result<Vec<IntervalRecord>, String> {
    Ok(csv::parse(text, [])?.into_iter().map(|([], interval)| interval).collect())
}

/// Returns the groups in the text of `intervals-by-group.csv`, in the order in which they first appear.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn parse_groups(text: &str) -> Result<Vec<GroupTimeline>, String> {
    let mut groups: Vec<GroupTimeline> = Vec::new();
    let mut places = HashMap::new();
    for ([stage, group], interval) in csv::parse(text, csv::GROUP)? {
        let place = *places.entry((stage, group)).or_insert_with(|| {
            groups.push(GroupTimeline { stage: stage.to_owned(), group: group.to_owned(), intervals: Vec::new() });
            groups.len() - 1
        });
        groups[place].intervals.push(interval);
    }
    Ok(groups)
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
        let response = |i: &IntervalRecord| i.response_latency_ns.map(|latency| latency.percentiles());
        assert_eq!((response(&found[0]), response(&found[1])), (None, Some([1, 2, 3, 4])));
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
        assert_eq!(parse(&TABLE.replace("30,2", "30,x")).unwrap_err(), "line 3 does not fit the columns of its header");
        assert_eq!(
            parse(&TABLE.replace("30,2", "30,2,2")).unwrap_err(),
            "line 3 does not fit the columns of its header"
        );
    }

    #[test]
    fn response_times_are_distinguished_from_service_times_by_their_tag() {
        let line = |tag: &str| hlog::Line { tag: tag.to_owned(), start_s: 1.0, counts: vec![(5, 1)] };
        let names = ["a", "a.response"].map(|tag| latency_line(line(tag))).map(|l| (l.transaction, l.response));
        assert_eq!(names, [("a".to_owned(), false), ("a".to_owned(), true)]);
    }
}
