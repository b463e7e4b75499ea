//! Computes the figures of the record from the engine's counts. Formulas: docs/measurement.md.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pgdyno_measure::in_flight::{lower_bounds, with_ages};
use pgdyno_measure::{ClientSpread, Digest, InFlight, Latency, StmtPart, Totals, TxnPart};
use pgdyno_plan::{Pace, Plan};
use pgdyno_workload::{Measured, Metric};

use crate::metric::{NOPM, common_records};
use crate::record::{
    ByClientRecord, GroupRecord, InFlightRecord, LatencyRecord, MetricRecord, PercentileRecord, RunRecord, StageRecord,
    StatementRecord, Summary, TransactionRecord, WorkloadMetricRecord,
};
use crate::warning::Warning;

/// Meaning of the counters, in their order.
#[derive(Clone, Debug, Default)]
pub struct CounterNames {
    /// The transactions.
    pub txns: Vec<TxnName>,
    /// Texts of the statements, and the transaction that each belongs to, if it is only one.
    pub statements: Vec<(String, Option<usize>)>,
    /// Statements whose executions count as queries, beside those of `txns`.
    pub counted_queries: Vec<usize>,
    /// Names of the failure classes.
    pub classes: Vec<&'static str>,
    /// Metrics of the workload, the headline first.
    pub metrics: &'static [Metric],
}

/// A kind of transaction.
#[derive(Clone, Debug, Default)]
pub struct TxnName {
    /// Its name.
    pub name: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: f64,
    /// Statements in each transaction that QPS counts.
    pub queries: u32,
}

impl Summary {
    /// Returns the transactions that ended: committed, rolled back on purpose, or failed.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.committed + self.rolled_back + self.failed
    }

    /// Returns true if clients of this plan wait for a schedule or for their think time: that they are idle says nothing then, and
    /// their time is that of the responses.
    #[must_use]
    pub fn is_paced(&self, plan: &Plan) -> bool {
        let own = plan.drive.connections.is_none();
        matches!(plan.drive.pace, Pace::Rate(_)) || (own && self.schedule_lag_ns.is_some())
    }

    /// Returns the arrivals of an open loop that have no response time: those that were skipped, or still waiting at the end.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.skipped + self.still_waiting
    }

    /// Returns the share of [`Summary::unanswered`] in all arrivals.
    #[must_use]
    pub fn unanswered_share(&self) -> f64 {
        let unanswered = self.unanswered();
        if unanswered > 0 { unanswered as f64 / (self.ended() + unanswered) as f64 } else { 0.0 }
    }

    /// Returns the share of failed transactions in those that ended.
    #[must_use]
    pub fn failed_share(&self) -> f64 {
        let ended = self.ended();
        if ended > 0 { self.failed as f64 / ended as f64 } else { 0.0 }
    }
}

/// Fills in the summary, the transactions and the statements of `record` from the measured window.
pub fn summarize(record: &mut RunRecord, measured: &Totals, names: &CounterNames, process_cpu_ns: u64) {
    let asked = record.plan.percentiles.clone();
    let of_workload: BTreeMap<String, MetricRecord> = names
        .metrics
        .iter()
        .enumerate()
        .filter(|(_, metric)| metric.measured == Measured::PerMinute)
        .map(|(nth, metric)| {
            (metric.name.to_owned(), workload_metric(metric, nth == 0, workload_value(metric, measured, names)))
        })
        .collect();
    let summary = summary(measured, names, &asked);
    let completed = summary.committed + summary.rolled_back;
    record.summary = Some(Summary {
        client_cpu_us_per_tx: (completed > 0).then(|| process_cpu_ns as f64 / 1e3 / completed as f64),
        ..summary
    });
    record.metrics = of_workload;
    note_metrics(record);
    record.transactions = transactions(measured, names, &asked).collect();
    record.statements = statements(measured, names, &asked).collect();
}

/// Returns the record of one group of clients. `phases` are the warm-up, the measured window and what ended after it;
/// `asked` are percentiles, in percent.
#[must_use]
pub fn group_record(
    name: &str,
    clients: u32,
    phases: [&Totals; 3],
    names: &CounterNames,
    asked: &[f64],
) -> GroupRecord {
    let [_, measured, _] = phases;
    let waiting = || phases.into_iter().map(|totals| &totals.part).filter(|part| part.still_waiting > 0);
    let is_its_own = |txn: &TransactionRecord| txn.committed + txn.rolled_back + txn.failed + txn.skipped > 0;
    GroupRecord {
        name: name.to_owned(),
        clients,
        summary: Summary {
            still_waiting: waiting().map(|part| part.still_waiting).sum(),
            still_waiting_s_max: waiting().map(|part| part.still_waiting_ns_max).max().map(|ns| ns as f64 / 1e9),
            ..summary(measured, names, asked)
        },
        transactions: transactions(measured, names, asked).filter(is_its_own).collect(),
        statements: statements(measured, names, asked).filter(|stmt| stmt.executed + stmt.failed > 0).collect(),
    }
}

fn per_second(measured: &Totals, count: f64) -> f64 {
    let seconds = measured.seconds();
    if seconds > 0.0 { count / seconds } else { 0.0 }
}

/// Returns the value of a workload's metric: what it counts, per minute.
fn workload_value(metric: &Metric, measured: &Totals, names: &CounterNames) -> f64 {
    let kinds = measured.part.txns.iter().zip(&names.txns);
    let counted = kinds.filter(|(_, kind)| metric.transactions.contains(&kind.name.as_str()));
    let committed: u64 = counted.map(|(txn, _)| txn.committed).sum();
    per_second(measured, committed as f64) * 60.0
}

/// Returns the figures that follow from the counters of a window alone.
fn summary(measured: &Totals, names: &CounterNames, asked: &[f64]) -> Summary {
    let latency = |latency: &Latency| latency_record(latency, asked);
    let per_s = |count| per_second(measured, count);
    let all = measured.part.all();
    let in_flight = || measured.part.in_flight.iter();
    let kinds = measured.part.txns.iter().zip(&names.txns);
    let each: f64 = kinds.map(|(t, kind)| t.committed as f64 * f64::from(kind.queries)).sum();
    let executed = |stmt: &usize| measured.part.stmts.get(*stmt).map_or(0, |s| s.latency.count());
    let queries = each + names.counted_queries.iter().map(executed).sum::<u64>() as f64;
    let nopm = names.metrics.iter().find(|metric| metric.name == NOPM);
    let completed = all.completed();
    Summary {
        tps: per_s(all.committed as f64),
        nopm: nopm.map(|metric| workload_value(metric, measured, names)),
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
        by_client: by_client(&measured.part.clients),
        duration_s: measured.seconds(),
        first_text_s: measured.part.first_text_ns.map(|ns| ns as f64 / 1e9),
        in_flight_at_end: in_flight_record(&all, &measured.part.in_flight),
        response_latency_ns: latency(&response_times(&all, in_flight())),
        service_latency_ns: latency(&service_times(&all, in_flight())),
        schedule_lag_ns: all.lag.as_ref().and_then(latency),
        connections_opened: (measured.part.connected > 0).then_some(measured.part.connected),
        connection_s_mean: (measured.part.connected > 0)
            .then(|| measured.part.connecting_ns as f64 / 1e9 / measured.part.connected as f64),
        ..Summary::default()
    }
}

fn by_client(spread: &ClientSpread) -> Option<ByClientRecord> {
    let (committed_mean, committed_stddev) = spread.committed_mean_stddev()?;
    let (response_ns_mean, response_ns_stddev) = spread.response_ns_mean_stddev()?;
    Some(ByClientRecord {
        clients: spread.clients,
        committed_mean,
        committed_stddev,
        response_s_mean: response_ns_mean / 1e9,
        response_s_stddev: response_ns_stddev / 1e9,
    })
}

fn statements<'a>(
    measured: &'a Totals,
    names: &'a CounterNames,
    asked: &'a [f64],
) -> impl Iterator<Item = StatementRecord> + 'a {
    measured.part.stmts.iter().zip(&names.statements).map(move |(stmt, (sql, txn))| StatementRecord {
        sql: sql.clone(),
        transaction: txn.and_then(|txn| names.txns.get(txn)).map(|kind| kind.name.clone()),
        executed: stmt.latency.count(),
        failed: stmt.failed,
        retried: Some(stmt.retried),
        latency_ns: latency_record(&stmt.latency, asked),
        latency_ns_mean: (stmt.latency.count() > 0 && !stmt.latency.has_histogram()).then(|| stmt.latency.mean_ns()),
        rows: stmt.rows.as_ref().map(|rows| rows.count),
        first_row_ns_mean: stmt
            .rows
            .as_ref()
            .and_then(|rows| (rows.answered > 0).then(|| rows.first_row_ns as f64 / rows.answered as f64)),
        rows_digest: digest(stmt, |digest| digest.unordered),
        rows_digest_ordered: digest(stmt, |digest| digest.ordered),
    })
}

fn transactions<'a>(
    measured: &'a Totals,
    names: &'a CounterNames,
    asked: &'a [f64],
) -> impl Iterator<Item = TransactionRecord> + 'a {
    let completed = measured.part.all().completed();
    let weights: f64 = names.txns.iter().map(|kind| kind.weight).sum();
    let kinds = measured.part.txns.iter().zip(&names.txns).enumerate();
    kinds.map(move |(nth, (txn, kind))| {
        let in_flight: Vec<_> = measured.part.in_flight.iter().copied().filter(|one| one.txn == nth).collect();
        transaction(txn, &in_flight, kind, kind.weight / weights, completed, asked)
    })
}

/// Returns the age that counts as response time: with a schedule since the intended start.
fn response_age(txn: &TxnPart, in_flight: &InFlight) -> u64 {
    if txn.response.is_some() { in_flight.response_ns } else { in_flight.service_ns }
}

/// Returns the response times, with the ages of what was in flight at the end of the window.
fn response_times<'a>(txn: &'a TxnPart, in_flight: impl Iterator<Item = &'a InFlight>) -> Cow<'a, Latency> {
    with_ages(txn.response_or_service(), in_flight.map(|one| response_age(txn, one)))
}

/// Returns the service times, with the ages of what was in flight at the end of the window.
fn service_times<'a>(txn: &'a TxnPart, in_flight: impl Iterator<Item = &'a InFlight>) -> Cow<'a, Latency> {
    with_ages(&txn.service, in_flight.map(|one| one.service_ns))
}

fn in_flight_record(all: &TxnPart, in_flight: &[InFlight]) -> Option<InFlightRecord> {
    let ages = || in_flight.iter().map(|one| response_age(all, one));
    let age_ns_max = ages().max()?;
    let is_lower_bound = lower_bounds(all.response_or_service());
    Some(InFlightRecord {
        transactions: in_flight.len() as u64,
        age_s_max: age_ns_max as f64 / 1e9,
        counted: ages().filter(|age_ns| is_lower_bound(*age_ns)).count() as u64,
    })
}

/// Updates the metrics of `record` from its summary, some of whose figures become known later than others.
pub fn note_metrics(record: &mut RunRecord) {
    let common: Vec<_> = common_records(record).collect();
    record.metrics.extend(common);
}

/// Adds the workload's metrics of stages, from the record's figures by stage. Warns of those that are left out because
/// a stage did not do all of its work.
pub fn note_stage_metrics(record: &mut RunRecord, names: &CounterNames) {
    let of_metric = |(nth, metric): (usize, &Metric)| {
        let value = stage_value(metric, record, names)?;
        Some((metric.name.to_owned(), workload_metric(metric, nth == 0, value)))
    };
    let found: Vec<_> = names.metrics.iter().enumerate().filter_map(of_metric).collect();
    record.metrics.extend(found);
    let of_stage = |stage: &StageRecord| {
        let is_of_stage =
            |metric: &&Metric| metric.measured.stage() == Some(&stage.name) && metric.measured.needs_whole_stage();
        let metrics: Vec<_> = names.metrics.iter().filter(is_of_stage).collect();
        let undone: Vec<_> = undone(stage, metrics.first()?, names).into_iter().map(str::to_owned).collect();
        let figures = metrics.iter().map(|metric| metric.name.to_owned()).collect();
        (!undone.is_empty()).then_some(Warning::StageNotWhole { stage: stage.name.clone(), undone, figures })
    };
    let warnings: Vec<_> = record.stages.iter().filter_map(of_stage).collect();
    record.warnings.extend(warnings);
}

/// Returns the planned kinds of transactions of a metric that were not done: each client of a group must have committed
/// each of them as often as every other one, and none may have failed.
fn undone<'a>(stage: &StageRecord, metric: &Metric, names: &'a CounterNames) -> Vec<&'a str> {
    let is_counted = |name: &str| metric.transactions.is_empty() || metric.transactions.contains(&name);
    let is_done_by = |group: &GroupRecord, txn: &TransactionRecord| {
        let most = group.transactions.iter().map(|txn| txn.committed).max().unwrap_or_default();
        txn.failed == 0 && txn.committed == most && most.is_multiple_of(u64::from(group.clients.max(1)))
    };
    let is_done = |kind: &TxnName| {
        let mut by_group = stage
            .groups
            .iter()
            .filter_map(|group| Some((group, group.transactions.iter().find(|txn| txn.name == kind.name)?)))
            .peekable();
        by_group.peek().is_some() && by_group.all(|(group, txn)| is_done_by(group, txn))
    };
    let planned = names.txns.iter().filter(|kind| kind.weight > 0.0 && is_counted(&kind.name));
    planned.filter(|kind| !is_done(kind)).map(|kind| kind.name.as_str()).collect()
}

/// Returns the times of a kind of transaction: those of its only statement if there is one, without what the session sends before it,
/// and without the age of one that has not ended.
fn times<'a>(group: &'a GroupRecord, txn: &'a TransactionRecord) -> Option<&'a LatencyRecord> {
    let is_whole = |statement: &&StatementRecord| {
        statement.transaction.as_ref() == Some(&txn.name) && statement.executed == txn.committed
    };
    let statement = group.statements.iter().find(is_whole).and_then(|statement| statement.latency_ns.as_ref());
    statement.or(txn.service_latency_ns.as_ref())
}

/// Returns the value of a metric of a stage; `None` if the stage did not do all of its work.
fn stage_value(metric: &Metric, record: &RunRecord, names: &CounterNames) -> Option<f64> {
    let name = metric.measured.stage()?;
    let stage = record.stages.iter().find(|stage| stage.name == name)?;
    let group = stage.groups.first()?;
    let seconds = stage.groups.iter().map(|group| group.summary.duration_s).fold(0.0, f64::max);
    if seconds <= 0.0 || metric.measured.needs_whole_stage() && !undone(stage, metric, names).is_empty() {
        return None;
    }
    // TPC-H counts from the first character of the first text (clauses 5.3.6 and 5.3.7): what the driver takes before is not the server's.
    let before_s = stage.groups.iter().filter_map(|group| group.summary.first_text_s).fold(f64::INFINITY, f64::min);
    let from_first_text_s = if before_s < seconds { seconds - before_s } else { seconds };
    let all = || stage.groups.iter().flat_map(|group| group.transactions.iter().map(move |txn| (group, txn)));
    let counted = || all().filter(|(_, txn)| metric.transactions.contains(&&*txn.name));
    let per_s = || counted().map(|(_, txn)| txn.committed).sum::<u64>() as f64 / seconds;
    match metric.measured {
        Measured::PerMinuteIn(_) => Some(per_s() * 60.0),
        Measured::PerHourIn(_) => Some(per_s() * 3600.0),
        Measured::GeometricMeanOfMedians(_) => {
            let ended = counted().filter(|(_, txn)| txn.committed > 0);
            let medians: Vec<f64> =
                ended.filter_map(|(group, txn)| Some((times(group, txn)?.p50 as f64 / 1e9).ln())).collect();
            let is_whole = medians.len() == metric.transactions.len();
            is_whole.then(|| (medians.iter().sum::<f64>() / medians.len() as f64).exp())
        }
        Measured::GeometricMean(_) => {
            let of = |name: &&str| group.transactions.iter().find(|txn| txn.name == **name);
            let mean_s = |name| Some(times(group, of(name)?)?.mean / 1e9);
            let means: Vec<f64> = metric.transactions.iter().filter_map(mean_s).collect();
            let mean = means.iter().map(|mean| mean.ln()).sum::<f64>() / means.len() as f64;
            (means.len() == metric.transactions.len()).then(|| mean.exp())
        }
        Measured::PerHour(_) => Some(group.summary.committed as f64 / from_first_text_s * 3600.0),
        // Of a stage that repeats its work, the mean.
        Measured::StageTime(_) | Measured::PerMinute => {
            let committed = group.transactions.iter().map(|txn| txn.committed).max()?;
            Some(from_first_text_s * f64::from(group.clients.max(1)) / committed.max(1) as f64)
        }
    }
}

/// Notes the counts of a workload's metric over the whole run, by the server's own tables and by the clients.
pub fn note_counts(record: &mut RunRecord, metric: &str, by_server: u64, by_client: u64) {
    if let Some(own) = record.metrics.get_mut(metric).and_then(|metric| metric.workload.as_mut()) {
        (own.by_server, own.by_client) = (Some(by_server), Some(by_client));
    }
    // Other programs read the names of 0.1.0.
    if let Some(summary) = record.summary.as_mut().filter(|_| metric == NOPM) {
        (summary.new_orders_by_server, summary.new_orders_by_client) = (Some(by_server), Some(by_client));
    }
}

fn workload_metric(metric: &Metric, headline: bool, value: f64) -> MetricRecord {
    let (unit, better) = metric.measured.unit();
    MetricRecord {
        value,
        unit,
        better,
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

fn transaction(
    txn: &TxnPart,
    in_flight: &[InFlight],
    kind: &TxnName,
    share_planned: f64,
    completed: u64,
    asked: &[f64],
) -> TransactionRecord {
    TransactionRecord {
        name: kind.name.clone(),
        share_planned,
        share: if completed > 0 { txn.completed() as f64 / completed as f64 } else { 0.0 },
        committed: txn.committed,
        rolled_back: txn.rolled_back,
        failed: txn.failures(),
        retried: txn.retried,
        retries: txn.retries,
        skipped: txn.skipped,
        late: txn.late,
        response_latency_ns: latency_record(&response_times(txn, in_flight.iter()), asked),
        service_latency_ns: latency_record(&service_times(txn, in_flight.iter()), asked),
        schedule_lag_ns: txn.lag.as_ref().and_then(|lag| latency_record(lag, asked)),
    }
}

fn digest(stmt: &StmtPart, part: fn(Digest) -> u64) -> Option<String> {
    stmt.rows.as_ref().and_then(|rows| rows.digest).map(|digest| format!("{:016x}", part(digest)))
}

/// Returns the figures of a distribution; `None` if it is empty. `asked` are percentiles, in percent.
#[must_use]
pub fn latency_record(latency: &Latency, asked: &[f64]) -> Option<LatencyRecord> {
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

#[cfg(test)]
mod tests {
    use pgdyno_measure::{Interval, Phase, Recorder};

    use super::*;

    /// The metrics of a stage with two transactions of 2 and 8 s by one client; `failed` of them failed beside.
    fn stage_metrics(failed: u64) -> (Vec<(String, f64)>, Vec<String>) {
        let metric = |name, measured| Metric {
            name,
            title: name,
            meaning: name,
            measured,
            transactions: &["q1", "q2"],
            counted: "queries",
            server_count: None,
        };
        let metrics = [
            metric("mean", Measured::GeometricMean("power")),
            metric("time", Measured::StageTime("power")),
            metric("hour", Measured::PerHour("power")),
            metric("other", Measured::PerHour("throughput")),
        ];
        let kind = |name: &str| TxnName { name: name.to_owned(), weight: 1.0, queries: 1 };
        let names = CounterNames {
            txns: vec![kind("q1"), kind("q2")],
            metrics: Box::leak(Box::new(metrics)),
            ..CounterNames::default()
        };
        let txn = |name: &str, failed: u64| TransactionRecord {
            name: name.to_owned(),
            committed: 1 - failed,
            failed,
            ..TransactionRecord::default()
        };
        let statement = |name: &str, seconds: f64| StatementRecord {
            transaction: Some(name.to_owned()),
            executed: 1,
            latency_ns: Some(LatencyRecord { mean: seconds * 1e9, ..LatencyRecord::default() }),
            ..StatementRecord::default()
        };
        let group = GroupRecord {
            name: "power".to_owned(),
            clients: 1,
            summary: Summary { duration_s: 10.0, committed: 2 - failed, ..Summary::default() },
            transactions: vec![txn("q1", 0), txn("q2", failed)],
            statements: vec![statement("q1", 2.0), statement("q2", 8.0)],
        };
        let [mut record, _] = crate::fixture::all();
        record.metrics.clear();
        record.warnings.clear();
        record.stages = vec![StageRecord { name: "power".to_owned(), groups: vec![group], ..StageRecord::default() }];
        note_stage_metrics(&mut record, &names);
        let found = record.metrics.iter().map(|(name, metric)| (name.clone(), metric.value)).collect();
        (found, record.warnings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_stage_has_metrics_if_all_of_its_work_is_done() {
        let (found, warnings) = stage_metrics(0);
        let [(_, hour), (_, mean), (_, time)] = &found[..] else { panic!("{found:?}") };
        assert!((mean - 4.0).abs() < 1e-9 && (time - 10.0).abs() < 1e-9 && (hour - 720.0).abs() < 1e-9, "{found:?}");
        assert!(warnings.is_empty());
        let (found, warnings) = stage_metrics(1);
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(warnings, ["not every client of stage power ended q2: mean and time and hour are left out"]);
    }

    #[test]
    fn a_group_has_its_own_figures_and_transactions() {
        let mut recorder = Recorder::new(2, 2, true);
        for _ in 0..6 {
            recorder.started(1);
            recorder.completed(1, true, 1_000_000, 3_000_000, false);
        }
        recorder.still_waiting(2, 500_000_000);
        recorder.statement(0, 1_000_000);
        recorder.rows(
            0,
            &pgdyno_measure::StatementRows {
                count: 7,
                digest: Some(Digest { unordered: 10, ordered: 1 << 63 }),
                ..Default::default()
            },
        );
        let (mut measured, nothing) = (Totals::default(), Totals::default());
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: 2_000_000_000,
            part: recorder.take(),
            in_flight: 0,
            workers: vec![],
            groups: vec![],
        };
        measured.add(&interval, 0);
        let txn = |name: &str| TxnName { name: name.to_owned(), weight: 1.0, queries: 2 };
        let statements = vec![("SELECT".to_owned(), Some(1)), ("UPDATE".to_owned(), Some(0))];
        let names = CounterNames { txns: vec![txn("write"), txn("read")], statements, ..CounterNames::default() };
        let record = group_record("readers", 4, [&nothing, &measured, &nothing], &names, &[50.0]);
        assert_eq!((record.name.as_str(), record.clients), ("readers", 4));
        let summary = &record.summary;
        assert_eq!((summary.tps, summary.qps, summary.committed, summary.duration_s), (3.0, 6.0, 6, 2.0));
        assert_eq!((summary.still_waiting, summary.still_waiting_s_max), (2, Some(0.5)));
        let latency = |latency: &Option<LatencyRecord>| latency.as_ref().map(|l| l.percentiles[0].latency_ns / 100_000);
        assert_eq!((latency(&summary.response_latency_ns), latency(&summary.service_latency_ns)), (Some(30), Some(10)));
        let transactions: Vec<_> = record.transactions.iter().map(|txn| (txn.name.as_str(), txn.committed)).collect();
        assert_eq!(transactions, [("read", 6)], "a group's record has no transactions of others");
        let [statement] = &record.statements[..] else { panic!("{:?}", record.statements) };
        assert_eq!((statement.sql.as_str(), statement.rows), ("SELECT", Some(7)));
        assert_eq!(statement.rows_digest.as_deref(), Some("000000000000000a"));
        assert_eq!(statement.rows_digest_ordered.as_deref(), Some("8000000000000000"));
    }
}
