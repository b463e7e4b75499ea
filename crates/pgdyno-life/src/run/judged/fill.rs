//! The figures of a record, from the counts of the clients and of the server.

use pgdyno_engine::GroupOutcome;
use pgdyno_measure::Totals;
use pgdyno_measure::stall::stalls;
use pgdyno_results::{
    AnalyticsServerRecord, CounterNames, RunRecord, ServerCountRecord, StageRecord, group_record, note_counts,
    note_metrics, note_stage_metrics, summarize,
};
use pgdyno_samples::{replication, statements};
use pgdyno_workload::{ServerCount, Stage, has_groups};

use super::evidence::Evidence;
use crate::drive::Driven;
use crate::record::ending::Ending;
use crate::record::run_files::RunFiles;
use crate::record::{analytics, fidelity, figures, query_costs, stalls as stall_texts, verdict};

/// Fills in the figures, and returns how the clients ended.
pub(super) fn fill(record: &mut RunRecord, evidence: &Evidence<'_>) -> Ending {
    let Evidence { drive, driven, series, after, .. } = *evidence;
    let names = &series.names;
    let outcome = &driven.outcome;
    let measured = &outcome.measured;
    let beside_ns = measured.workers.iter().map(|worker| worker.beside_ns).sum();
    summarize(record, measured, names, outcome.process.cpu_ns().saturating_sub(beside_ns));
    by_group(record, driven, names, &drive.stages);
    add_streams(record, evidence);
    let usual_ns = measured.part.all().service.quantile_ns(0.99).unwrap_or_default();
    let txns: Vec<&str> = names.txns.iter().map(|kind| kind.name.as_str()).collect();
    let mut ending = Ending {
        stalls: stalls(&series.pulses, usual_ns as f64 / 1e9),
        death: after.death.clone(),
        is_silent: after.is_silent,
        ..Ending::of(outcome, &txns)
    };
    record.readers.clone_from(&after.readers);
    figures::fill(record, outcome, measured, &series.tps);
    record.drivers.clone_from(&driven.drivers);
    by_server(record, evidence, &ending);
    note_metrics(record);
    // A null server answers anything: its answers are no transactions.
    if !record.plan.target.kind().is_null() {
        figures::judge(record, drive, measured);
    }
    ending.differing_count = compare_counts(record, evidence);
    represent(record, evidence);
    ending
}

/// Compares the statements of a fitted workload with the captured ones.
fn represent(record: &mut RunRecord, evidence: &Evidence<'_>) {
    let Some(file) = evidence.fidelity else { return };
    let files = evidence.files.and_then(std::result::Result::ok);
    match fidelity::of(file, record, files) {
        Ok(fidelity) => {
            record.warnings.extend(fidelity::too_low(&fidelity));
            record.fidelity = Some(fidelity);
        }
        Err(why) => record.warnings.push(fidelity::left_out(&why)),
    }
}

/// Fills in the figures by stage and group, if there are several.
fn by_group(record: &mut RunRecord, driven: &Driven, names: &CounterNames, stages: &[Stage]) {
    if !has_groups(stages) {
        return;
    }
    let outcome = &driven.outcome;
    let asked = &record.plan.percentiles;
    let later = outcome.later_stages.iter().map(|stage| (stage.phases(), &stage.groups));
    let outcomes = std::iter::once((outcome.phases(), &outcome.groups)).chain(later);
    let stage = |(stage, (phases, groups)): (&Stage, ([&Totals; 3], &Vec<GroupOutcome>))| {
        let alone = stage.groups.first().filter(|_| groups.is_empty());
        let alone = alone.map(|group| (group.name, stage.clients(record.plan.drive.clients), phases));
        let groups = groups.iter().map(|group| (group.name, group.clients, group.phases()));
        let groups = alone.into_iter().chain(groups);
        let groups = groups.map(|(name, clients, phases)| group_record(name, clients, phases, names, asked));
        let window_s = [phases[1].start_ns, phases[1].end_ns].map(|ns| ns as f64 / 1e9);
        StageRecord { name: stage.name.to_owned(), window_s: Some(window_s), groups: groups.collect() }
    };
    record.stages = stages.iter().zip(outcomes).map(stage).collect();
    note_stage_metrics(record, names);
}

/// Fills in the figures of streams of queries, if there are any.
fn add_streams(record: &mut RunRecord, evidence: &Evidence<'_>) {
    let Evidence { drive, driven, before, .. } = *evidence;
    let Some(kept) = &driven.kept else { return };
    record.analytics = analytics::analytics(drive, record, &driven.outcome, kept, before.rows);
    if let Some(analytics) = &mut record.analytics {
        analytics.repartitioned.clone_from(&before.repartitioned);
    }
}

/// Fills in what the server and its machine counted in the window.
fn by_server(record: &mut RunRecord, evidence: &Evidence<'_>, ending: &Ending) {
    let Evidence { drive, driven, .. } = *evidence;
    let plan = &record.plan;
    let is_own = plan.scripts.is_empty() && plan.directory.is_none();
    // Each parallel worker of a query has a transaction, and each statement where the workload has no blocks.
    let has_blocks =
        plan.params.get("skip_trx").is_none_or(|value| value == "false") && !plan.workload.starts_with("ycsb");
    let is_transactional = !drive.is_analytic && record.analytics.is_none();
    let is_one_each = is_own && has_blocks && is_transactional;
    let Some(summary) = &mut record.summary else { return };
    summary.server_cpu_percent = record.server_machine.as_ref().and_then(|machine| machine.cpu_percent);
    match verdict::tpm(driven, summary.tpm_client, is_one_each) {
        Ok(tpm) => summary.tpm = tpm,
        Err(warning) => record.warnings.push(warning),
    }
    summary.stalled_s = (!ending.stalls.is_empty()).then(|| stall_texts::seconds(&ending.stalls));
    if let Some(work) = &driven.window {
        summary.cache_hit_ratio = work.hit_ratio();
        // A session that ended early did not report its count of reads.
        let is_whole = summary.connections_lost == 0 && summary.connections_opened.is_none();
        let reads = driven.disk_reads.as_ref().filter(|_| is_whole);
        summary.os_cache_hit_ratio = reads.and_then(|reads| work.os_hit_ratio(reads));
        summary.wal_bytes = work.wal_bytes;
    }
}

/// Why the server's tables count fewer than clients after a fault.
const LOST_BY_FAULT: &str = "the fault cost transactions that were acknowledged";

/// Returns why a count of the server differs from that of the clients: after a fault it may be too low.
fn if_different(record: &RunRecord, [by_server, by_client]: [u64; 2], usual: &'static str) -> &'static str {
    if record.has_fault() && by_server < by_client { LOST_BY_FAULT } else { usual }
}

/// Compares what the server's tables counted during the run with the clients' counts. Returns the first difference that is more
/// than uncertain.
fn compare_counts(record: &mut RunRecord, evidence: &Evidence<'_>) -> Option<String> {
    let Evidence { drive, driven, before, after, .. } = *evidence;
    let counted =
        |nth: usize| Some(after.counts.get(nth)?.as_ref()?.saturating_sub(*before.counts.get(nth)?.as_ref()?));
    let mut different = None;
    let metrics = drive.metrics;
    for (nth, metric) in metrics.iter().enumerate() {
        let Some(by_server) = counted(nth) else { continue };
        let by_client = committed(evidence, metric.transactions);
        note_counts(record, metric.name, by_server, by_client);
        let counts = [by_server, by_client];
        let why = if_different(record, counts, ServerCount::OTHER_PROGRAM);
        let why = difference(metric.counted, counts, why, driven);
        different = different.or(why);
    }
    for (nth, count) in drive.server_counts().into_iter().enumerate() {
        let Some(by_server) = counted(metrics.len() + nth) else { continue };
        let by_client = committed(evidence, count.transactions);
        let counted = count.counted.to_owned();
        record.server_counts.push(ServerCountRecord { counted, by_client, by_server });
        let counts = [by_server, by_client];
        let why = difference(count.counted, counts, if_different(record, counts, count.if_different), driven);
        different = different.or(why);
    }
    different
}

/// Returns how many of these transactions were committed in the whole run.
fn committed(evidence: &Evidence<'_>, transactions: &[&str]) -> u64 {
    let kinds = evidence.drive.txns();
    evidence
        .driven
        .outcome
        .phases_by_group()
        .flatten()
        .flat_map(|totals| totals.part.txns.iter().zip(&kinds))
        .filter(|(_, kind)| transactions.contains(&kind.name))
        .map(|(txn, _)| txn.committed)
        .sum()
}

/// Returns that the server's tables and the client counted another number of transactions.
fn difference(counted: &str, [by_server, by_client]: [u64; 2], if_different: &str, driven: &Driven) -> Option<String> {
    // A cancelled transaction may have committed just before.
    let unknown = driven.outcome.cancelled_in_flight as u64 + driven.outcome.measured.part.lost;
    (by_server.abs_diff(by_client) > unknown)
        .then(|| format!("the server's tables count {by_server} {counted} and the client {by_client}: {if_different}"))
}

/// Adds what the other server of the queries said, and what each query cost.
pub(super) fn add_after(record: &mut RunRecord, evidence: &Evidence<'_>) {
    let Evidence { drive, driven, files, after, .. } = *evidence;
    let files: Option<&RunFiles> = files.and_then(std::result::Result::ok);
    if let (Some(server), Some(analytics)) = (&after.analytics_server, &mut record.analytics) {
        let replay = files.map(|files| files.samples.of(replication::SOURCE).gauge(replication::REPLAY_LAG_S));
        let lag = replay.and_then(|replay| replay.max(0.0, f64::INFINITY));
        analytics.server = Some(AnalyticsServerRecord { replay_lag_s_max: lag, ..server.clone() });
    }
    if let (Some(kept), Some(files), true) = (&driven.kept, files, after.counts_queries) {
        let counted = files.samples.of(statements::SOURCE);
        let nothing = query_costs::QueryIds::default();
        let ids = after.query_ids.as_ref().unwrap_or(&nothing);
        record.query_costs = query_costs::of(&drive.explained, ids, counted, &kept.executions);
    }
}
