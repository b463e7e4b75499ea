//! `intervals.csv` and `results.csv`: one header, one line each, nothing to escape but text.

use pgdyno_measure::Interval;

use crate::record::RunRecord;

/// The header of `intervals.csv`.
pub(crate) const INTERVALS_HEADER: &str = "interval,phase,start_s,end_s,tps,started,committed,rolled_back,failed,retried,\
retries,skipped,late,in_flight,service_latency_ns_mean,service_latency_ns_p50,service_latency_ns_p95,\
service_latency_ns_p99,service_latency_ns_max,response_latency_ns_p50,response_latency_ns_p95,\
response_latency_ns_p99,response_latency_ns_max,client_cpu_s\n";

/// One line of `intervals.csv`.
pub(crate) fn interval_line(interval: &Interval) -> String {
    let all = interval.part.all();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let started: u64 = all.started;
    let mut line = format!(
        "{},{},{:.6},{:.6},{:.3},{started},{},{},{},{},{},{},{},{}",
        interval.index,
        interval.phase.name(),
        seconds(interval.start_ns),
        seconds(interval.end_ns),
        interval.tps(),
        all.committed,
        all.rolled_back,
        all.failures(),
        all.retried,
        all.retries,
        all.skipped,
        all.late,
        interval.in_flight,
    );
    match all.service.percentiles() {
        Some(p) => line += &format!(",{:.0},{},{},{},{}", p.mean, p.p50, p.p95, p.p99, p.max),
        None => line += ",,,,,",
    }
    match all.response_or_service().percentiles() {
        Some(p) => line += &format!(",{},{},{},{}", p.p50, p.p95, p.p99, p.max),
        None => line += ",,,,",
    }
    let cpu_ns: u64 = interval.workers.iter().map(pgdyno_measure::WorkerUsage::cpu_ns).sum();
    line += &format!(",{:.6}\n", seconds(cpu_ns));
    line
}

/// The header of `results.csv`.
pub(crate) const RESULTS_HEADER: &str = "id,started_at,status,exit_code,pgdyno_version,workload,scale_name,scale,target,\
server_version,clients,threads,mode,rate_per_s,duration_s,tps,nopm,tpm,tpm_client,qps,committed,rolled_back,failed,\
retries,skipped,response_latency_ns_p50,response_latency_ns_p95,response_latency_ns_p99,response_latency_ns_max,\
client_cpu_us_per_tx,warnings,plan_hash\n";

/// One line of `results.csv`.
pub(crate) fn result_line(record: &RunRecord) -> String {
    let plan = &record.plan;
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| format!("{n:.3}"));
    let count = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let summary = record.summary.as_ref();
    let latency = summary.and_then(|s| s.response_latency_ns.as_ref());
    let rate = match plan.pace {
        pgdyno_plan::Pace::ClosedLoop => None,
        pgdyno_plan::Pace::Rate { per_s, .. } => Some(per_s),
    };
    let fields = [
        record.id.clone(),
        record.started_at.clone(),
        record.status.name().to_owned(),
        record.exit_code.to_string(),
        record.pgdyno_version.clone(),
        plan.workload.clone(),
        plan.scale_name.clone(),
        plan.scale.to_string(),
        plan.target.clone(),
        record.server.as_ref().map_or_else(String::new, |s| s.version_num.to_string()),
        plan.clients.to_string(),
        plan.threads.to_string(),
        plan.mode.clone(),
        number(rate),
        number(summary.map(|s| s.duration_s)),
        number(summary.map(|s| s.tps)),
        number(summary.and_then(|s| s.nopm)),
        number(summary.and_then(|s| s.tpm)),
        number(summary.map(|s| s.tpm_client)),
        number(summary.map(|s| s.qps)),
        count(summary.map(|s| s.committed)),
        count(summary.map(|s| s.rolled_back)),
        count(summary.map(|s| s.failed)),
        count(summary.map(|s| s.retries)),
        count(summary.map(|s| s.skipped)),
        count(latency.map(|l| l.p50)),
        count(latency.map(|l| l.p95)),
        count(latency.map(|l| l.p99)),
        count(latency.map(|l| l.max)),
        number(summary.and_then(|s| s.client_cpu_us_per_tx)),
        record.warnings.len().to_string(),
        record.plan_hash.clone(),
    ];
    let mut line = fields.iter().map(|f| escape(f)).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

/// Quotes a field where RFC 4180 wants it.
fn escape(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_measure::{Phase, Recorder, WorkerUsage};

    fn columns(line: &str) -> usize {
        line.trim_end().split(',').count()
    }

    #[test]
    fn lines_have_as_many_columns_as_the_header() {
        let mut recorder = Recorder::new(1, 0, true);
        let interval = |part| Interval {
            index: 3,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: 1_000_000_000,
            part,
            in_flight: 0,
            workers: vec![WorkerUsage::default()],
        };
        let empty = interval_line(&interval(recorder.take()));
        recorder.started(0);
        recorder.completed(0, true, 1000, 2000, false);
        let full = interval_line(&interval(recorder.take()));
        assert_eq!(columns(&empty), columns(INTERVALS_HEADER));
        assert_eq!(columns(&full), columns(INTERVALS_HEADER));
        assert!(full.starts_with("3,measure,0.000000,1.000000,1.000,1,1,0,0"), "{full}");
    }

    #[test]
    fn text_with_a_comma_is_quoted() {
        assert_eq!(escape("host=a,b \"x\""), "\"host=a,b \"\"x\"\"\"");
    }
}
