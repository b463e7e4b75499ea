//! One line for each kind of transaction, and one for all of them together; the same for each group of clients.

use std::io::{self, Write};

use pgdyno_results::table::quoted;
use pgdyno_results::{LatencyRecord, RunRecord, Summary, TransactionRecord};
use pgdyno_text::TextStyle;

use crate::latency_table::PERCENTILES;

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let by_group = if record.stages.is_empty() { "" } else { ",stage,group" };
    writeln!(
        out,
        "id,transaction,share,committed,rolled_back,failed,retried,retries,skipped,late,per_s,{},{}{}{by_group}",
        latency_header("response"),
        latency_header("service"),
        asked_header(record)
    )?;
    let Some(summary) = &record.summary else { return Ok(()) };
    let nothing = if record.stages.is_empty() { "" } else { ",," };
    lines(record, &record.transactions, summary, nothing, out)?;
    for stage in &record.stages {
        for group in &stage.groups {
            let names = format!(",{},{}", quoted(&stage.name), quoted(&group.name));
            lines(record, &group.transactions, &group.summary, &names, out)?;
        }
    }
    Ok(())
}

/// Writes a line for each kind of transaction, and one for all of them; `names` are the cells of stage and group.
fn lines(
    record: &RunRecord,
    transactions: &[TransactionRecord],
    summary: &Summary,
    names: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let per_s = |n: u64| if summary.duration_s > 0.0 { n as f64 / summary.duration_s } else { 0.0 };
    for t in transactions {
        writeln!(
            out,
            "{},{},{:.6},{},{},{},{},{},{},{},{:.3},{},{}{}{names}",
            quoted(&record.id),
            // The name of a script may contain any character.
            quoted(&t.name),
            t.share,
            t.committed,
            t.rolled_back,
            t.failed,
            t.retried,
            t.retries,
            t.skipped,
            t.late,
            per_s(t.committed),
            latency(t.response_latency_ns.as_ref()),
            latency(t.service_latency_ns.as_ref()),
            asked(record, [t.response_latency_ns.as_ref(), t.service_latency_ns.as_ref()]),
        )?;
    }
    writeln!(
        out,
        "{},all,1.000000,{},{},{},{},{},{},{},{:.3},{},{}{}{names}",
        quoted(&record.id),
        summary.committed,
        summary.rolled_back,
        summary.failed,
        summary.retried,
        summary.retries,
        summary.skipped,
        summary.late,
        summary.tps,
        latency(summary.response_latency_ns.as_ref()),
        latency(summary.service_latency_ns.as_ref()),
        asked(record, [summary.response_latency_ns.as_ref(), summary.service_latency_ns.as_ref()]),
    )
}

/// Returns the requested percentiles that are not among the usual ones. They are the last columns, so that no column
/// moves.
fn unusual(record: &RunRecord) -> impl Iterator<Item = f64> {
    record.plan.percentiles.iter().copied().filter(|p| !PERCENTILES.contains(p))
}

fn asked_header(record: &RunRecord) -> String {
    let name = |kind: &str, p: f64| format!(",{kind}_latency_ns_p{}", p.to_string().replace('.', "_"));
    ["response", "service"].iter().flat_map(|kind| unusual(record).map(|p| name(kind, p))).collect()
}

fn asked(record: &RunRecord, latencies: [Option<&LatencyRecord>; 2]) -> String {
    let cell = |ns: Option<u64>| ns.map_or_else(|| ",".to_owned(), |ns| format!(",{ns}"));
    let cells = latencies.iter().flat_map(|l| unusual(record).map(|p| cell(l.and_then(|l| l.percentile(p)))));
    cells.collect()
}

fn latency_header(kind: &str) -> String {
    ["mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max"].map(|p| format!("{kind}_latency_ns_{p}")).join(",")
}

fn latency(latency: Option<&LatencyRecord>) -> String {
    latency.map_or_else(
        || ",".repeat(7),
        |l| format!("{:.0},{},{},{},{},{},{},{}", l.mean, l.min, l.p50, l.p90, l.p95, l.p99, l.p99_9, l.max),
    )
}
