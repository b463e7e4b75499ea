//! Converts the engine's counters to pgbench's.

use pgdyno_engine::RunOutcome;
use pgdyno_measure::{Latency, ThreadCounts, TxnPart};
use pgdyno_wire::ErrorClass;
use pgdyno_workloads::scripted::Scripted;

use super::accounting;
use super::setup::SetUp;
use crate::options::{BenchmarkEnd, RunOptions};
use crate::report::{
    LatencyPercentiles, Quantiles, Reconnects, RunLength, RunReport, ScriptQuantiles, ScriptReport, Warmup,
};
use crate::stats::{CommandStats, Moments, Stats};

fn moments(latency: &Latency) -> Moments {
    Moments {
        count: latency.count(),
        min_us: latency.min_ns() as f64 / 1e3,
        max_us: latency.max_ns() as f64 / 1e3,
        sum_us: latency.sum_ns() as f64 / 1e3,
        sum2_us2: latency.sum_squares_ns2() / 1e6,
    }
}

/// Returns the statistics of one script. Transactions in which a client was aborted are not counted, as in pgbench.
pub(super) fn stats(txn: &TxnPart, options: &RunOptions) -> Stats {
    let failed = |class: ErrorClass| txn.failed[class as usize];
    let others = [ErrorClass::Canceled, ErrorClass::Data, ErrorClass::Resources, ErrorClass::Other];
    Stats {
        transactions: txn.completed(),
        skipped: txn.skipped,
        retries: txn.retries,
        retried: txn.retried,
        serialization_failures: failed(ErrorClass::Serialization),
        deadlock_failures: failed(ErrorClass::Deadlock),
        other_failures: if options.continue_on_error { others.into_iter().map(failed).sum() } else { 0 }
            + if options.reconnect_s.is_some() { failed(ErrorClass::Connection) } else { 0 },
        latency: moments(txn.response_or_service()),
        lag: txn.lag.as_ref().map(moments).unwrap_or_default(),
        late: txn.late,
    }
}

pub(super) fn report(options: &RunOptions, set_up: &SetUp, workload: &Scripted, outcome: &RunOutcome) -> RunReport {
    let accounting = accounting(options);
    let counted = outcome.measured.and(&outcome.drain);
    let part = &counted.part;
    // pgbench forgets a transaction that fails when the time is up.
    let in_time = &outcome.measured.part;
    let mut total = Stats::default();
    let mut scripts = Vec::new();
    for (index, (script, source)) in workload.scripts().iter().zip(&workload.spec().scripts).enumerate() {
        let of = |part: &ThreadCounts| part.txns.get(index).map(|txn| stats(txn, options)).unwrap_or_default();
        let stats = Stats {
            serialization_failures: of(in_time).serialization_failures,
            deadlock_failures: of(in_time).deadlock_failures,
            other_failures: of(in_time).other_failures,
            ..of(part)
        };
        total.merge(&stats);
        let first = workload.first_statement(index);
        let commands = script.commands.iter().enumerate().map(|(n, command)| {
            let (stmt, failing) = (part.stmts.get(first + n), in_time.stmts.get(first + n));
            CommandStats {
                text: command.label(),
                latency: stmt.map(|s| moments(&s.latency)).unwrap_or_default(),
                failures: failing.map_or(0, |s| s.failed.saturating_sub(s.retried)),
                retries: stmt.map_or(0, |s| s.retried),
            }
        });
        scripts.push(ScriptReport {
            name: source.name.clone(),
            weight: u64::from(source.weight),
            stats,
            commands: commands.collect(),
        });
    }
    let connection_ns = if options.connect_per_transaction {
        outcome.phases().iter().map(|phase| phase.part.connecting_ns).sum()
    } else {
        outcome.connect_ns
    };
    RunReport {
        accounting,
        scale: set_up.scale,
        partitions: set_up.partitions,
        query_mode: options.protocol,
        clients: options.clients,
        threads: options.threads,
        length: match options.limit {
            BenchmarkEnd::Transactions(n) => RunLength::Transactions(n),
            BenchmarkEnd::Seconds(s) => RunLength::Seconds(s),
        },
        progress: options.progress_s.is_some(),
        connect: options.connect_per_transaction,
        per_command: options.report_per_command,
        duration_us: counted.end_ns.saturating_sub(counted.start_ns) / 1000,
        connection_us: connection_ns / 1000,
        total,
        scripts,
        warmup: options.warmup_s.map(|seconds| Warmup { seconds, transactions: outcome.ramp.part.all().completed() }),
        reconnects: options.reconnect_s.map(|_| {
            let all = outcome.phases().map(|phase| &phase.part);
            Reconnects {
                lost: all.iter().map(|part| part.lost).sum(),
                longest_outage_us: all.iter().map(|part| part.outage_ns_max).max().unwrap_or_default() / 1000,
            }
        }),
        percentiles: options.latency_percentiles.as_ref().map(|percents| percentiles(percents, workload, part)),
    }
}

fn percentiles(percents: &[f64], workload: &Scripted, part: &ThreadCounts) -> LatencyPercentiles {
    let scripts = workload.scripts().iter().enumerate().map(|(index, script)| {
        let first = workload.first_statement(index);
        ScriptQuantiles {
            transactions: part.txns.get(index).and_then(|t| Quantiles::of(t.response_or_service(), percents)),
            commands: (first..first + script.commands.len())
                .map(|n| part.stmts.get(n).and_then(|s| Quantiles::of(&s.latency, percents)))
                .collect(),
        }
    });
    LatencyPercentiles {
        percents: percents.to_vec(),
        total: Quantiles::of(part.all().response_or_service(), percents),
        scripts: scripts.collect(),
    }
}
