//! The clients' time by transaction: the table that HammerDB calls a time profile.
//!
//! Times are service times in milliseconds, of the measured window only. `ratio` is the transaction's share of all
//! clients' time in that window; in the rest the clients were waiting or thinking.

use std::io::{self, Write};

use pgdyno_results::{LatencyRecord, RunRecord};
use pgdyno_text::TextStyle;
use pgdyno_text::units::{count, grouped, ms};

const COLUMNS: [&str; 10] =
    ["calls", "min ms", "avg ms", "max ms", "total ms", "p99 ms", "p95 ms", "p50 ms", "sd ms", "ratio %"];

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let Some(summary) = &record.summary else {
        return writeln!(out, "nothing was measured");
    };
    let all_ms = summary.duration_s * 1e3 * f64::from(record.plan.links());
    let mut rows: Vec<(&str, Vec<String>)> = record
        .transactions
        .iter()
        .map(|t| (t.name.as_str(), cells(t.committed + t.rolled_back, t.service_latency_ns.as_ref(), all_ms)))
        .collect();
    rows.push(("all", cells(summary.committed + summary.rolled_back, summary.service_latency_ns.as_ref(), all_ms)));
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("transaction".len());
    let width = |i: usize| rows.iter().map(|(_, cells)| cells[i].len()).max().unwrap_or(0).max(COLUMNS[i].len());
    let line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        let cells: String = cells.enumerate().map(|(i, cell)| format!("  {cell:>w$}", w = width(i))).collect();
        format!("{name:<first$}{cells}")
    };
    writeln!(out, "{}", line("transaction", &mut COLUMNS.into_iter()))?;
    for (name, cells) in &rows {
        writeln!(out, "{}", line(name, &mut cells.iter().map(String::as_str)))?;
    }
    Ok(())
}

fn cells(calls: u64, latency: Option<&LatencyRecord>, all_ms: f64) -> Vec<String> {
    let mut cells = vec![count(calls)];
    match latency {
        None => cells.extend(std::iter::repeat_n("-".to_owned(), COLUMNS.len() - 1)),
        Some(l) => {
            let total_ms = l.mean * calls as f64 / 1e6;
            let ratio = if all_ms > 0.0 { total_ms / all_ms * 100.0 } else { 0.0 };
            cells.extend([l.min, l.mean as u64, l.max].map(ms));
            cells.push(grouped(total_ms));
            cells.extend([l.p99, l.p95, l.p50, l.stddev as u64].map(ms));
            cells.push(format!("{ratio:.1}"));
        }
    }
    cells
}
