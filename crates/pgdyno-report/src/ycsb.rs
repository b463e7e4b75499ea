//! The lines that YCSB prints at its end, for programs that read them.
//!
//! Names of transactions are in capitals, as YCSB's operations. Latencies are in microseconds. `[READ]` has service times; with
//! a schedule `[Intended-READ]` has response times, as `measurement.interval=both` of YCSB. Source: YCSB 0.17.

use std::io::{self, Write};

use pgdyno_results::{LatencyRecord, RunRecord, TransactionRecord};
use pgdyno_text::TextStyle;

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let Some(summary) = &record.summary else {
        return writeln!(out, "nothing was measured");
    };
    writeln!(out, "[OVERALL], RunTime(ms), {:.0}", summary.duration_s * 1e3)?;
    writeln!(out, "[OVERALL], Throughput(ops/sec), {}", summary.tps)?;
    record.transactions.iter().try_for_each(|transaction| lines(transaction, out))
}

fn lines(transaction: &TransactionRecord, out: &mut dyn Write) -> io::Result<()> {
    let name = transaction.name.to_uppercase();
    let done = transaction.committed + transaction.rolled_back;
    measured(&name, done, transaction.service_latency_ns.as_ref(), out)?;
    if done > 0 {
        writeln!(out, "[{name}], Return=OK, {done}")?;
    }
    if transaction.response_latency_ns != transaction.service_latency_ns {
        measured(&format!("Intended-{name}"), done, transaction.response_latency_ns.as_ref(), out)?;
    }
    match transaction.failed {
        0 => Ok(()),
        failed => {
            writeln!(out, "[{name}], Return=ERROR, {failed}")?;
            writeln!(out, "[{name}-FAILED], Operations, {failed}")
        }
    }
}

fn measured(name: &str, operations: u64, latency: Option<&LatencyRecord>, out: &mut dyn Write) -> io::Result<()> {
    let Some(latency) = latency else { return Ok(()) };
    let us = |ns: u64| ns / 1_000;
    writeln!(out, "[{name}], Operations, {operations}")?;
    writeln!(out, "[{name}], AverageLatency(us), {}", latency.mean / 1e3)?;
    writeln!(out, "[{name}], MinLatency(us), {}", us(latency.min))?;
    writeln!(out, "[{name}], MaxLatency(us), {}", us(latency.max))?;
    writeln!(out, "[{name}], 50thPercentileLatency(us), {}", us(latency.p50))?;
    writeln!(out, "[{name}], 95thPercentileLatency(us), {}", us(latency.p95))?;
    writeln!(out, "[{name}], 99thPercentileLatency(us), {}", us(latency.p99))
}
