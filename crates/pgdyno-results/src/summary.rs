//! From what the engine counted to the figures of the record. Formulas: docs/metrics.md.

use pgdyno_measure::{Latency, Totals, TxnPart};

use crate::record::{LatencyRecord, RunRecord, StatementRecord, Summary, TransactionRecord};

/// What the counters mean, in their order.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Name, weight, queries in each, whether it counts as New-Order.
    pub txns: Vec<(String, f64, u32, bool)>,
    /// Texts of the statements.
    pub statements: Vec<String>,
    /// Names of the failure classes.
    pub classes: Vec<&'static str>,
}

/// Fills in the summary, the transactions and the statements of `record` from the measured window.
pub fn summarize(record: &mut RunRecord, measured: &Totals, names: &Names, process_cpu_ns: u64) {
    let seconds = measured.seconds();
    let per_s = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let all = measured.part.all();
    let kinds = || measured.part.txns.iter().zip(&names.txns);
    let queries: f64 = kinds().map(|(t, (_, _, queries, _))| t.committed as f64 * f64::from(*queries)).sum();
    let new_orders: Option<u64> = names
        .txns
        .iter()
        .any(|(.., new_order)| *new_order)
        .then(|| kinds().filter(|(_, (.., new_order))| *new_order).map(|(t, _)| t.committed).sum());
    let completed = all.completed();
    record.summary = Some(Summary {
        tps: per_s(all.committed as f64),
        nopm: new_orders.map(|n| per_s(n as f64) * 60.0),
        tpm_client: per_s(completed as f64) * 60.0,
        qps: per_s(queries),
        committed: all.committed,
        rolled_back: all.rolled_back,
        failed: all.failures(),
        failed_by_class: names
            .classes
            .iter()
            .zip(all.failed)
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| ((*name).to_owned(), n))
            .collect(),
        retried: all.retried,
        retries: all.retries,
        skipped: all.skipped,
        late: all.late,
        connections_lost: measured.part.lost,
        reconnected: measured.part.reconnected,
        outage_s_max: (measured.part.reconnected > 0).then_some(measured.part.outage_ns_max as f64 / 1e9),
        duration_s: seconds,
        response_latency_ns: latency(all.response_or_service()),
        service_latency_ns: latency(&all.service),
        client_cpu_us_per_tx: (completed > 0).then(|| process_cpu_ns as f64 / 1e3 / completed as f64),
        ..Summary::default()
    });
    let weights: f64 = names.txns.iter().map(|(_, weight, ..)| weight).sum();
    record.transactions =
        kinds().map(|(txn, (name, weight, ..))| transaction(txn, name, weight / weights, completed)).collect();
    record.statements = measured
        .part
        .stmts
        .iter()
        .zip(&names.statements)
        .map(|(stmt, sql)| StatementRecord {
            sql: sql.clone(),
            executed: stmt.latency.count(),
            failed: stmt.failed,
            latency_ns: latency(&stmt.latency),
        })
        .collect();
}

fn transaction(txn: &TxnPart, name: &str, share_planned: f64, completed: u64) -> TransactionRecord {
    TransactionRecord {
        name: name.to_owned(),
        share_planned,
        share: if completed > 0 { txn.completed() as f64 / completed as f64 } else { 0.0 },
        committed: txn.committed,
        rolled_back: txn.rolled_back,
        failed: txn.failures(),
        retried: txn.retried,
        retries: txn.retries,
        skipped: txn.skipped,
        late: txn.late,
        response_latency_ns: latency(txn.response_or_service()),
        service_latency_ns: latency(&txn.service),
    }
}

fn latency(latency: &Latency) -> Option<LatencyRecord> {
    latency.percentiles().map(|p| LatencyRecord {
        mean: p.mean,
        stddev: p.stddev,
        min: p.min,
        p50: p.p50,
        p90: p.p90,
        p95: p.p95,
        p99: p.p99,
        p99_9: p.p99_9,
        max: p.max,
    })
}
