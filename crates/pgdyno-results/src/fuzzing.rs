//! Private readers of texts, for the fuzz targets. Not part of the interface.

use std::path::Path;

use crate::error::StoreError;
use crate::interval::IntervalRecord;
use crate::record::RunRecord;
use crate::samples::SampleTable;
use crate::timeline::{self, GroupTimeline, LatencyLine};
use crate::{hdr, hlog, ledger, series, store};

/// Calls `each` with each line of a `latency.hlog`.
///
/// # Errors
/// Describes the first mistake.
pub fn latencies(log: &[u8], mut each: impl FnMut(LatencyLine)) -> Result<(), String> {
    hlog::read(log, |line| each(timeline::latency_line(line)))
}

/// Adds up the response times of each interval, as comparisons do. Returns the number of intervals.
///
/// # Errors
/// Describes the first mistake.
pub fn responses(log: &[u8]) -> Result<usize, String> {
    Ok(series::responses(log)?.len())
}

/// Returns the counts of a serialized histogram.
///
/// # Errors
/// Describes the first mistake.
pub fn histogram(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    hdr::counts(bytes)
}

/// Returns the rows of an `intervals.csv`.
///
/// # Errors
/// Describes the first mistake.
pub fn timeline(text: &str) -> Result<Vec<IntervalRecord>, String> {
    timeline::parse(text)
}

/// Returns the number of commits in a `ledger.csv`; `None` if the bytes are none.
#[must_use]
pub fn ledger(bytes: &[u8]) -> Option<usize> {
    ledger::parse(bytes).ok().map(|entries| entries.len())
}

/// Returns the groups of an `intervals-by-group.csv`.
///
/// # Errors
/// Describes the first mistake.
pub fn groups(text: &str) -> Result<Vec<GroupTimeline>, String> {
    timeline::parse_groups(text)
}

/// Returns a table of samples; `None` if the text is none.
#[must_use]
pub fn samples(bytes: &[u8]) -> Option<SampleTable> {
    SampleTable::parse(bytes)
}

/// Returns the record in the text of a `run.json`.
///
/// # Errors
/// When it is no record, or one of a newer format.
pub fn record(text: &str) -> Result<RunRecord, StoreError> {
    store::parse_record(Path::new("run.json"), text)
}
