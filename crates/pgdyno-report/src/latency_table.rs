//! The table of latencies: columns, rows, and their alignment on a terminal.

use std::io::{self, Write};

use pgdyno_plan::Pace;
use pgdyno_results::{LatencyRecord, RunRecord, TransactionRecord};
use pgdyno_text::units::{count, ms, percent, rate};

use crate::Extent;

/// The percentiles in every report.
pub(crate) const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// The percentiles in a summary of one screen.
const FEW: [f64; 3] = [50.0, 95.0, 99.0];

/// Returns the percentiles in a record's report: the usual ones, and the requested ones.
fn percentiles(record: &RunRecord, extent: Extent) -> Vec<f64> {
    let mut all = if extent == Extent::Short { FEW.to_vec() } else { PERCENTILES.to_vec() };
    all.extend(&record.plan.percentiles);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Returns the headings of the columns of latencies.
pub(crate) fn latency_columns(record: &RunRecord, extent: Extent) -> Vec<String> {
    let counts: &[&str] = match extent {
        Extent::Short => &["share", "failed", "per s"],
        Extent::Full => &["share", "committed", "failed", "per s"],
    };
    let mut columns: Vec<_> = counts.iter().map(|name| (*name).to_owned()).collect();
    columns.extend(percentile_columns(record, extent));
    columns
}

/// Returns the headings of percentiles and the maximum.
pub(crate) fn percentile_columns(record: &RunRecord, extent: Extent) -> Vec<String> {
    let percentiles = percentiles(record, extent).into_iter().map(|p| format!("p{p} ms"));
    percentiles.chain(["max ms".to_owned()]).collect()
}

/// Returns a percentile of the latencies of `n` transactions in nanoseconds, if so many have it.
pub(crate) fn known(l: &LatencyRecord, percent: f64, n: u64) -> Option<u64> {
    l.percentile(percent).filter(|_| LatencyRecord::has_percentile(n, percent))
}

/// Returns the known percentiles and the maximum of the latencies of `n` transactions.
pub(crate) fn cells(record: &RunRecord, extent: Extent, l: Option<&LatencyRecord>, n: u64) -> Vec<String> {
    let cell = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), ms);
    let percentiles = percentiles(record, extent);
    let mut cells: Vec<_> = percentiles.iter().map(|p| cell(l.and_then(|l| known(l, *p, n)))).collect();
    cells.push(cell(l.map(|l| l.max)));
    cells
}

/// Returns true if response times count from a scheduled start before the first byte: with a rate, with think times, or
/// if clients wait for a connection.
pub(crate) fn is_scheduled(record: &RunRecord) -> bool {
    let lag = record.summary.as_ref().is_some_and(|summary| summary.schedule_lag_ns.is_some());
    lag || matches!(record.plan.drive.pace, Pace::Rate(_))
}

/// Returns one row for each kind of transaction, and one for all if there are several. If response times differ from
/// service times, a further row has the service times of all.
pub(crate) fn latency_rows(record: &RunRecord, extent: Extent) -> Vec<(String, Vec<String>)> {
    let Some(summary) = &record.summary else { return Vec::new() };
    let per_s = |n: u64| if summary.duration_s > 0.0 { rate(n as f64 / summary.duration_s) } else { "-".to_owned() };
    let row = |share: String, [committed, rolled_back, failed]: [u64; 3], l: Option<&LatencyRecord>| {
        let mut row = vec![share];
        row.extend((extent == Extent::Full).then(|| count(committed)));
        row.extend([count(failed), per_s(committed)]);
        row.extend(cells(record, extent, l, committed + rolled_back));
        row
    };
    // In a run with several stages, the later ones are in the table of groups. A script with weight 0 is not in the mix.
    let is_planned = |t: &TransactionRecord| record.stages.is_empty() && t.share_planned > 0.0;
    let is_of_stage = |t: &&TransactionRecord| is_planned(t) || t.committed + t.rolled_back + t.failed + t.skipped > 0;
    let mut rows: Vec<_> = record
        .transactions
        .iter()
        .filter(is_of_stage)
        .map(|t| {
            (
                t.name.clone(),
                row(percent(t.share), [t.committed, t.rolled_back, t.failed], t.response_latency_ns.as_ref()),
            )
        })
        .collect();
    if rows.len() > 1 {
        rows.push((
            "all".to_owned(),
            row(
                "100.0 %".to_owned(),
                [summary.committed, summary.rolled_back, summary.failed],
                summary.response_latency_ns.as_ref(),
            ),
        ));
    }
    if is_scheduled(record) {
        let mut service = vec![String::new(); if extent == Extent::Full { 4 } else { 3 }];
        let n = summary.committed + summary.rolled_back;
        service.extend(cells(record, extent, summary.service_latency_ns.as_ref(), n));
        rows.push(("service time".to_owned(), service));
    }
    rows
}

/// Writes rows below the headings of their columns; `first` is the heading of the rows' names.
pub(crate) fn aligned(
    first: &str,
    columns: &[String],
    rows: &[(String, Vec<String>)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(first.len());
    let width = |i: usize| {
        rows.iter().map(|(_, cells)| cells[i].chars().count()).max().unwrap_or(0).max(columns[i].chars().count())
    };
    let line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        let cells: String = cells.enumerate().map(|(i, cell)| format!("  {cell:>w$}", w = width(i))).collect();
        format!("  {name:<names$}{cells}")
    };
    writeln!(out, "{}", line(first, &mut columns.iter().map(String::as_str)))?;
    rows.iter().try_for_each(|(name, cells)| writeln!(out, "{}", line(name, &mut cells.iter().map(String::as_str))))
}
