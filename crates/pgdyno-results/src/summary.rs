//! From what the engine counted to the figures of the record. Formulas: docs/metrics.md.

use std::collections::BTreeMap;

use pgdyno_measure::{Latency, Totals, TxnPart};
use pgdyno_workload::{Better, Metric, Unit};

use crate::metric::{NOPM, common_records};
use crate::record::{
    LatencyRecord, MetricRecord, PercentileRecord, RunRecord, StatementRecord, Summary, TransactionRecord,
    WorkloadMetricRecord,
};

/// What the counters mean, in their order.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The transactions.
    pub txns: Vec<TxnName>,
    /// Texts of the statements, and the transaction that each is a part of, where it is of one alone.
    pub statements: Vec<(String, Option<usize>)>,
    /// Statements that count as queries as often as they are executed, beside those of `txns`.
    pub counted_queries: Vec<usize>,
    /// Names of the failure classes.
    pub classes: Vec<&'static str>,
    /// Metrics that the workload declares, the one that its runs are known by first.
    pub metrics: &'static [Metric],
}

/// A kind of transaction.
#[derive(Clone, Debug, Default)]
pub struct TxnName {
    /// Its name.
    pub name: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: f64,
    /// Statements in each that QPS counts.
    pub queries: u32,
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
    let each: f64 = kinds().map(|(t, kind)| t.committed as f64 * f64::from(kind.queries)).sum();
    let executed = |stmt: &usize| measured.part.stmts.get(*stmt).map_or(0, |s| s.latency.count());
    let queries = each + names.counted_queries.iter().map(executed).sum::<u64>() as f64;
    let of_workload: BTreeMap<String, MetricRecord> = names
        .metrics
        .iter()
        .enumerate()
        .map(|(nth, metric)| {
            let counted = kinds().filter(|(_, kind)| metric.transactions.contains(&kind.name.as_str()));
            let committed: u64 = counted.map(|(txn, _)| txn.committed).sum();
            (metric.name.to_owned(), workload_metric(metric, nth == 0, per_s(committed as f64) * 60.0))
        })
        .collect();
    let completed = all.completed();
    record.summary = Some(Summary {
        tps: per_s(all.committed as f64),
        nopm: of_workload.get(NOPM).map(|metric| metric.value),
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
    record.metrics = of_workload;
    note_metrics(record);
    let weights: f64 = names.txns.iter().map(|kind| kind.weight).sum();
    record.transactions =
        kinds().map(|(txn, kind)| transaction(txn, &kind.name, kind.weight / weights, completed, &asked)).collect();
    record.statements = measured
        .part
        .stmts
        .iter()
        .zip(&names.statements)
        .map(|(stmt, (sql, txn))| StatementRecord {
            sql: sql.clone(),
            transaction: txn.and_then(|txn| names.txns.get(txn)).map(|kind| kind.name.clone()),
            executed: stmt.latency.count(),
            failed: stmt.failed,
            retried: Some(stmt.retried),
            latency_ns: latency(&stmt.latency),
            latency_ns_mean: (stmt.latency.count() > 0 && !stmt.latency.has_histogram())
                .then(|| stmt.latency.mean_ns()),
        })
        .collect();
}

/// Brings the metrics of `record` up to its summary. Some figures of a summary become known after the others.
pub fn note_metrics(record: &mut RunRecord) {
    let common: Vec<_> = common_records(record).collect();
    record.metrics.extend(common);
}

/// Notes how many of what a workload's metric counts the server's own tables have seen in the whole run, and the clients.
pub fn note_counts(record: &mut RunRecord, metric: &str, by_server: u64, by_client: u64) {
    if let Some(own) = record.metrics.get_mut(metric).and_then(|metric| metric.workload.as_mut()) {
        (own.by_server, own.by_client) = (Some(by_server), Some(by_client));
    }
    // Scripts of others read the names of 0.1.0.
    if let Some(summary) = record.summary.as_mut().filter(|_| metric == NOPM) {
        (summary.new_orders_by_server, summary.new_orders_by_client) = (Some(by_server), Some(by_client));
    }
}

fn workload_metric(metric: &Metric, headline: bool, value: f64) -> MetricRecord {
    MetricRecord {
        value,
        unit: Unit::PerMinute,
        better: Better::Higher,
        workload: Some(WorkloadMetricRecord {
            title: metric.title.to_owned(),
            meaning: metric.meaning.to_owned(),
            headline,
            transactions: metric.transactions.iter().map(|name| (*name).to_owned()).collect(),
            counted: metric.counted.to_owned(),
            by_server: None,
            by_client: None,
        }),
    }
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
