//! The metrics: those of transactions and those of queries, each also alone. There is none of both together.

use pgdyno_workload::{Measured, Metric};

use super::{MIXED, QUERIES_ALONE, TRANSACTIONS_ALONE};
use crate::query_set::NAMES;
use crate::tproc_c::NOPM;

const NOPM_ALONE: Metric = Metric {
    name: "nopm-alone",
    title: "NOPM alone",
    meaning: "committed New-Orders a minute without queries beside them",
    measured: Measured::PerMinuteIn(TRANSACTIONS_ALONE),
    server_count: None,
    ..NOPM
};

/// Returns queries an hour of a stage.
const fn per_hour(name: &'static str, title: &'static str, meaning: &'static str, stage: &'static str) -> Metric {
    let measured = Measured::PerHourIn(stage);
    Metric { name, title, meaning, measured, transactions: &NAMES, counted: "queries", server_count: None }
}

/// Returns the geometric mean of the medians of a stage.
const fn median(name: &'static str, title: &'static str, meaning: &'static str, stage: &'static str) -> Metric {
    let measured = Measured::GeometricMeanOfMedians(stage);
    Metric { name, title, meaning, measured, transactions: &NAMES, counted: "queries", server_count: None }
}

const PER_HOUR: Metric = per_hour(
    "analytics-per-hour",
    "queries/h",
    "queries an hour of all streams, beside the transactions; only those that ended in the window",
    MIXED,
);
const MEDIAN: Metric = median(
    "analytics-time",
    "s geometric mean of medians",
    "geometric mean of the 22 queries' median times, beside the transactions",
    MIXED,
);
const PER_HOUR_ALONE: Metric = per_hour(
    "analytics-per-hour-alone",
    "queries/h alone",
    "queries an hour of all streams, without transactions; only those that ended in the window",
    QUERIES_ALONE,
);
const MEDIAN_ALONE: Metric = median(
    "analytics-time-alone",
    "s geometric mean of medians alone",
    "geometric mean of the 22 queries' median times, without transactions",
    QUERIES_ALONE,
);

pub(super) const TRANSACTIONS: &[Metric] = &[NOPM];
pub(super) const QUERIES: &[Metric] = &[PER_HOUR_ALONE, MEDIAN_ALONE];
pub(super) const BOTH: &[Metric] = &[NOPM, PER_HOUR, MEDIAN];
pub(super) const BOTH_AND_ALONE: &[Metric] = &[NOPM, PER_HOUR, MEDIAN, NOPM_ALONE, PER_HOUR_ALONE, MEDIAN_ALONE];
