//! Readers of texts that are private otherwise, for the fuzz targets. No part of the interface.

use std::path::Path;

use crate::error::StoreError;
use crate::record::RunRecord;
use crate::samples::SampleTable;
use crate::timeline::{self, GroupTimeline, LatencyLine, TimelineInterval};
use crate::{hdr, hlog, series, store};

/// Hands each line of a `latency.hlog` over.
///
/// # Errors
/// In words.
pub fn latencies(log: &[u8], mut each: impl FnMut(LatencyLine)) -> Result<(), String> {
    hlog::read(log, |line| each(timeline::latency_line(line)))
}

/// Adds up the response times of each interval, as comparisons take them; how many intervals there are.
///
/// # Errors
/// In words.
pub fn responses(log: &[u8]) -> Result<usize, String> {
    Ok(series::responses(log)?.len())
}

/// What a serialized histogram has counted.
///
/// # Errors
/// In words.
pub fn histogram(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    hdr::counts(bytes)
}

/// The rows of an `intervals.csv`.
///
/// # Errors
/// In words.
pub fn timeline(text: &str) -> Result<Vec<TimelineInterval>, String> {
    timeline::parse(text)
}

/// The groups of an `intervals-by-group.csv`.
///
/// # Errors
/// In words.
pub fn groups(text: &str) -> Result<Vec<GroupTimeline>, String> {
    timeline::parse_groups(text)
}

/// A table of samples; `None` where it is none.
#[must_use]
pub fn samples(bytes: &[u8]) -> Option<SampleTable> {
    SampleTable::parse(bytes)
}

/// The record in the text of a `run.json`.
///
/// # Errors
/// When it is no record, or one of a newer format.
pub fn record(text: &str) -> Result<RunRecord, StoreError> {
    store::parse_record(Path::new("run.json"), text)
}
