//! The block that sysbench prints at its end, for programs that read it.
//!
//! Latencies are response times: with a schedule they contain the wait for a client, as those of `sysbench --rate`; service
//! times follow in a block of their own. A thread of sysbench is a client. Source: sysbench 1.0.20.

use std::io::{self, Write};

use pgdyno_results::{LatencyRecord, RunRecord, Summary};
use pgdyno_text::TextStyle;

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let Some(summary) = &record.summary else {
        return writeln!(out, "nothing was measured");
    };
    let queries = Queries::of(record);
    let row = |name: &str, count: u64| format!("        {:<32} {count}", format!("{name}:"));
    writeln!(out, "SQL statistics:")?;
    writeln!(out, "    queries performed:")?;
    writeln!(out, "{}", row("read", queries.read))?;
    writeln!(out, "{}", row("write", queries.write))?;
    writeln!(out, "{}", row("other", queries.other))?;
    writeln!(out, "{}", row("total", queries.total()))?;
    let per_s = |name: &str, count: u64| {
        let rate = if summary.duration_s > 0.0 { count as f64 / summary.duration_s } else { 0.0 };
        format!("    {:<36} {count:<6} ({rate:.2} per sec.)", format!("{name}:"))
    };
    writeln!(out, "{}", per_s("transactions", summary.committed))?;
    writeln!(out, "{}", per_s("queries", queries.total()))?;
    writeln!(out, "{}", per_s("ignored errors", summary.failed + summary.retries))?;
    writeln!(out, "{}", per_s("reconnects", summary.reconnected))?;
    writeln!(out, "\nGeneral statistics:")?;
    writeln!(out, "    {:<36} {:.4}s", "total time:", summary.duration_s)?;
    writeln!(out, "    {:<36} {}", "total number of events:", summary.committed)?;
    latencies("Latency (ms):", summary, summary.response_latency_ns.as_ref(), out)?;
    if summary.response_latency_ns != summary.service_latency_ns {
        latencies("Service latency (ms):", summary, summary.service_latency_ns.as_ref(), out)?;
    }
    let Some(by_client) = &summary.by_client else { return Ok(()) };
    let row = |name: &str, mean: f64, stddev: f64| format!("    {name:<30} {mean:.4}/{stddev:.2}");
    writeln!(out, "\nThreads fairness:")?;
    writeln!(out, "{}", row("events (avg/stddev):", by_client.committed_mean, by_client.committed_stddev))?;
    writeln!(out, "{}", row("execution time (avg/stddev):", by_client.response_s_mean, by_client.response_s_stddev))
}

/// Statements that succeeded, by sysbench's kinds.
#[derive(Default)]
struct Queries {
    read: u64,
    write: u64,
    other: u64,
}

impl Queries {
    fn of(record: &RunRecord) -> Self {
        let mut queries = Self::default();
        for statement in &record.statements {
            let word = statement.sql.split_whitespace().next().unwrap_or_default().to_uppercase();
            let kind = match word.as_str() {
                "SELECT" => &mut queries.read,
                "INSERT" | "UPDATE" | "DELETE" => &mut queries.write,
                _ => &mut queries.other,
            };
            *kind += statement.executed;
        }
        queries
    }

    fn total(&self) -> u64 {
        self.read + self.write + self.other
    }
}

fn latencies(title: &str, summary: &Summary, latency: Option<&LatencyRecord>, out: &mut dyn Write) -> io::Result<()> {
    let Some(latency) = latency else { return Ok(()) };
    writeln!(out, "\n{title}")?;
    // Some that had not ended count with their age.
    let unended = summary.in_flight_at_end.as_ref().map_or(0, |in_flight| in_flight.counted);
    let sum_ns = latency.mean * (summary.committed + summary.rolled_back + unended) as f64;
    let rows = [
        ("min:", latency.min as f64),
        ("avg:", latency.mean),
        ("max:", latency.max as f64),
        ("95th percentile:", latency.p95 as f64),
        ("99th percentile:", latency.p99 as f64),
        ("sum:", sum_ns),
    ];
    rows.into_iter().try_for_each(|(name, ns)| writeln!(out, "         {name:<24} {:>19.2}", ns / 1e6))
}
