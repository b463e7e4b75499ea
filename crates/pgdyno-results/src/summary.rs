//! From what the engine counted to the figures of the record. Formulas: docs/metrics.md.

use pgdyno_measure::{Latency, Totals, TxnPart};

use crate::record::{LatencyRecord, PercentileRecord, RunRecord, StatementRecord, Summary, TransactionRecord};

/// What the counters mean, in their order.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Name, weight, queries in each, whether it counts as New-Order.
    pub txns: Vec<(String, f64, u32, bool)>,
    /// Texts of the statements, and the transaction that each is a part of, where it is of one alone.
    pub statements: Vec<(String, Option<usize>)>,
    /// Statements that count as queries as often as they are executed, beside those of `txns`.
    pub counted_queries: Vec<usize>,
    /// Names of the failure classes.
    pub classes: Vec<&'static str>,
}

impl Summary {
    /// Transactions that ended: committed, rolled back as they were meant to be, or failed for good.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.committed + self.rolled_back + self.failed
    }

    /// Those that failed for good, of all that ended.
    #[must_use]
    pub fn failed_share(&self) -> f64 {
        let ended = self.ended();
        if ended > 0 { self.failed as f64 / ended as f64 } else { 0.0 }
    }
}

/// Fills in the summary, the transactions and the statements of `record` from the measured window.
pub fn summarize(record: &mut RunRecord, measured: &Totals, names: &Names, process_cpu_ns: u64) {
    let asked = record.plan.percentiles.clone();
    let latency = |latency: &Latency| latency_record(latency, &asked);
    let seconds = measured.seconds();
    let per_s = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let all = measured.part.all();
    let kinds = || measured.part.txns.iter().zip(&names.txns);
    let each: f64 = kinds().map(|(t, (_, _, queries, _))| t.committed as f64 * f64::from(*queries)).sum();
    let executed = |stmt: &usize| measured.part.stmts.get(*stmt).map_or(0, |s| s.latency.count());
    let queries = each + names.counted_queries.iter().map(executed).sum::<u64>() as f64;
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
        schedule_lag_ns: all.lag.as_ref().and_then(latency),
        connections_opened: (measured.part.connected > 0).then_some(measured.part.connected),
        connection_s_mean: (measured.part.connected > 0)
            .then(|| measured.part.connecting_ns as f64 / 1e9 / measured.part.connected as f64),
        client_cpu_us_per_tx: (completed > 0).then(|| process_cpu_ns as f64 / 1e3 / completed as f64),
        ..Summary::default()
    });
    let weights: f64 = names.txns.iter().map(|(_, weight, ..)| weight).sum();
    record.transactions =
        kinds().map(|(txn, (name, weight, ..))| transaction(txn, name, weight / weights, completed, &asked)).collect();
    record.statements = measured
        .part
        .stmts
        .iter()
        .zip(&names.statements)
        .map(|(stmt, (sql, txn))| StatementRecord {
            sql: sql.clone(),
            transaction: txn.and_then(|txn| names.txns.get(txn)).map(|(name, ..)| name.clone()),
            executed: stmt.latency.count(),
            failed: stmt.failed,
            retried: Some(stmt.retried),
            latency_ns: latency(&stmt.latency),
            latency_ns_mean: (stmt.latency.count() > 0 && !stmt.latency.has_histogram())
                .then(|| stmt.latency.mean_ns()),
        })
        .collect();
}

fn transaction(txn: &TxnPart, name: &str, share_planned: f64, completed: u64, asked: &[f64]) -> TransactionRecord {
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
        response_latency_ns: latency_record(txn.response_or_service(), asked),
        service_latency_ns: latency_record(&txn.service, asked),
        schedule_lag_ns: txn.lag.as_ref().and_then(|lag| latency_record(lag, asked)),
    }
}

fn latency_record(latency: &Latency, asked: &[f64]) -> Option<LatencyRecord> {
    latency.percentiles().map(|p| LatencyRecord {
        percentiles: asked
            .iter()
            .filter_map(|&percent| {
                let latency_ns = latency.quantile_ns(percent / 100.0)?;
                Some(PercentileRecord { percent, latency_ns })
            })
            .collect(),
        ..p.into()
    })
}
