//! Metrics of a power stage and a throughput stage.

use pgdyno_workload::{Measured, Metric};

use super::stages::{POWER, THROUGHPUT};

/// Returns the metric of the power stage's times.
pub(crate) const fn geometric_mean(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    transactions: &'static [&'static str],
) -> Metric {
    let measured = Measured::GeometricMean(POWER);
    Metric { name, title, meaning, measured, transactions, counted: "queries", server_count: None }
}

/// Returns the metric of the power stage's length.
pub(crate) const fn set_time(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    transactions: &'static [&'static str],
) -> Metric {
    let measured = Measured::StageTime(POWER);
    Metric { name, title, meaning, measured, transactions, counted: "queries", server_count: None }
}

/// Returns the metric of the throughput stage.
pub(crate) const fn queries_per_hour(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    transactions: &'static [&'static str],
) -> Metric {
    let measured = Measured::PerHour(THROUGHPUT);
    Metric { name, title, meaning, measured, transactions, counted: "queries", server_count: None }
}
