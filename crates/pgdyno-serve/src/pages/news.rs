//! The data that a live page fetches every second: the state of the run, and new points of its charts.

use std::collections::BTreeMap;

use pgdyno_results::{
    GroupTimeline, IntervalLatency, IntervalRecord, LiveData, RecordMetric, RunRecord, SampleTable, read_latest,
};
use pgdyno_samples::{SampleColumn, SampleSource, machine, processes, waits};
use pgdyno_text::units;
use serde_json::{Map, Value, json};

use super::run;
use crate::ServedRun;

/// How much of a run a page shows at first.
const SPAN_S: f64 = 900.0;

/// Sources with charts.
const SOURCES: [SampleSource; 3] = [waits::SOURCE, machine::SOURCE, processes::SOURCE];

/// Returns the data of a run after `since_s`, in seconds since the clients started; without it, that of the last
/// minutes.
///
/// # Errors
/// A message, when a file cannot be read.
pub(crate) fn news(held: &ServedRun, goes_on: bool, since_s: Option<f64>) -> Result<Value, String> {
    let directory = held.path.parent().ok_or("a record without a directory")?;
    let read = |since_s| read_latest(directory, since_s, &SOURCES).map_err(|e| e.to_string());
    let since_s = match since_s {
        Some(since_s) => since_s,
        // The end is not known yet: no time is greater.
        None => read(f64::MAX)?.last.map_or(0.0, |last| last.end_s) - SPAN_S,
    };
    let latest = read(since_s)?;
    let record = &held.record;
    let (ramp_s, time_s) = record.plan.window();
    let planned_s = time_s.map(|time_s| ramp_s + time_s);
    // A later stage is known only by its groups.
    let ends = latest.groups.iter().flat_map(|group| &group.intervals).chain(&latest.last).map(|i| i.end_s);
    let until_s = ends.reduce(f64::max);
    let state = match (record.ended_at.is_some(), goes_on, until_s) {
        (true, ..) => "ended",
        (false, true, Some(_)) => "running",
        (false, true, None) => "preparing",
        (false, false, _) => "lost",
    };
    Ok(json!({
        "state": state,
        "status": record.status.name(),
        "reason": record.reason,
        "what": what(record),
        "phase": latest.last.as_ref().map(|last| &last.phase),
        "until_s": until_s,
        "planned_s": planned_s,
        "figures": figures(record, &latest, ["preparing", "running"].contains(&state)),
        "charts": charts(&latest),
        "report": run(&record.id),
    }))
}

/// How far back the last samples may lie.
const RECENT_S: f64 = 3.0;

/// Returns the last interval of a run, and its last samples.
///
/// # Errors
/// A message, when a file cannot be read.
pub(crate) fn last(held: &ServedRun) -> Result<LiveData, String> {
    let directory = held.path.parent().ok_or("a record without a directory")?;
    let read = |since_s| read_latest(directory, since_s, &SOURCES).map_err(|e| e.to_string());
    // The end is not known yet: no time is greater.
    let end_s = read(f64::MAX)?.last.map_or(0.0, |last| last.end_s);
    read(end_s - RECENT_S)
}

/// Returns the workload and the target.
fn what(record: &RunRecord) -> String {
    let plan = &record.plan;
    let clients = units::plural(plan.stage_clients().into(), "client");
    let scale = match plan.scale_name.as_str() {
        "" => String::new(),
        name => format!(", {name} {}", plan.size()),
    };
    format!("{}{scale}, {clients} on {}", plan.workload, plan.target)
}

/// A name and a value.
type Figure = (String, String);

/// Returns the main figures: those of the last interval while the run goes on, and then those of the whole window.
fn figures(record: &RunRecord, latest: &LiveData, goes_on: bool) -> Vec<Figure> {
    let mut figures = Vec::new();
    let latencies =
        |ns: [u64; 4]| ["p50 ms", "p95 ms", "p99 ms", "max ms"].map(str::to_owned).into_iter().zip(ns.map(units::ms));
    match (&latest.last, &record.summary) {
        (Some(last), _) if goes_on => {
            figures.push(("TPS".to_owned(), units::rate(last.committed as f64 / length(last))));
            figures.extend(last.response_latency_ns.iter().map(IntervalLatency::percentiles).flat_map(latencies));
            figures.push(("in flight".to_owned(), units::count(last.in_flight)));
        }
        (_, Some(summary)) if !goes_on => {
            figures.push(("TPS".to_owned(), units::rate(summary.tps)));
            for metric in RecordMetric::of_workload(record) {
                figures.extend(metric.value(record).map(|value| (metric.title().to_owned(), metric.listed(value))));
            }
            let latency = summary.response_latency_ns.as_ref().map(|l| [l.p50, l.p95, l.p99, l.max]);
            figures.extend(latency.into_iter().flat_map(latencies));
            figures.push(("failed".to_owned(), units::count(summary.failed)));
        }
        _ => {}
    }
    if goes_on {
        figures.extend(record.summary.as_ref().map(|summary| ("TPS, window".to_owned(), units::rate(summary.tps))));
        let table = latest.samples.of(machine::SOURCE);
        let last = |column| table.gauge(column).values.last().copied().flatten();
        let cpus = last(machine::BUSY_CPUS).zip(last(machine::CPUS).filter(|cpus| *cpus > 0.0));
        figures.extend(cpus.map(|(busy, cpus)| ("server's CPUs".to_owned(), units::percent(busy / cpus))));
    }
    figures
}

fn length(interval: &IntervalRecord) -> f64 {
    interval.seconds().max(1e-9)
}

/// Values by name, at times.
type Rows = BTreeMap<Moment, Map<String, Value>>;

/// A time in microseconds, which can be sorted.
type Moment = i64;

fn moment(at_s: f64) -> Moment {
    (at_s * 1e6).round() as Moment
}

fn charts(latest: &LiveData) -> Vec<Value> {
    let intervals = &latest.intervals;
    let mut charts = vec![
        chart(
            "Throughput",
            "transactions/s",
            "lines",
            each(intervals, |i| vec![("TPS", i.committed as f64 / length(i))]),
        ),
        chart("Response time", "ms", "logarithmic", each(intervals, percentiles)),
        chart("Failures and retries", "a second", "lines", each(intervals, failures)),
        chart("Wait events of active sessions", "sessions", "areas", waits(latest.samples.of(waits::SOURCE))),
    ];
    let kinds = latest.samples.of(processes::SOURCE);
    let cpu = if kinds.is_empty() { machine(latest.samples.of(machine::SOURCE)) } else { by_kind(kinds) };
    charts.push(chart("CPU of the server's machine", "CPUs", "areas", cpu));
    if !latest.groups.is_empty() {
        let tps = by_group(&latest.groups, |i| Some(i.committed as f64 / length(i)));
        let p99 = by_group(&latest.groups, |i| i.response_latency_ns.map(|latency| latency.p99 as f64 / 1e6));
        charts.push(chart("Throughput by group", "transactions/s", "lines", tps));
        charts.push(chart("p99 by group", "ms", "logarithmic", p99));
    }
    charts
}

fn chart(title: &str, unit: &str, drawn: &str, rows: Rows) -> Value {
    let rows: Vec<Value> = rows.into_iter().map(|(at, values)| json!([at as f64 / 1e6, values])).collect();
    json!({ "title": title, "unit": unit, "drawn": drawn, "rows": rows })
}

fn each(intervals: &[IntervalRecord], values: impl Fn(&IntervalRecord) -> Vec<(&'static str, f64)>) -> Rows {
    let row = |i: &IntervalRecord| {
        let values = values(i).into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        (moment((i.start_s + i.end_s) / 2.0), values)
    };
    intervals.iter().map(row).collect()
}

/// Returns a value of each group of clients in each interval.
fn by_group(groups: &[GroupTimeline], value: impl Fn(&IntervalRecord) -> Option<f64>) -> Rows {
    let mut rows = Rows::new();
    for group in groups {
        for interval in &group.intervals {
            let values = rows.entry(moment((interval.start_s + interval.end_s) / 2.0)).or_default();
            values.extend(value(interval).map(|value| (group.group.clone(), json!(value))));
        }
    }
    rows
}

fn percentiles(interval: &IntervalRecord) -> Vec<(&'static str, f64)> {
    let named = |ns: [u64; 4]| ["p50", "p95", "p99", "max"].into_iter().zip(ns.map(|ns| ns as f64 / 1e6)).collect();
    interval.response_latency_ns.as_ref().map(IntervalLatency::percentiles).map(named).unwrap_or_default()
}

fn failures(interval: &IntervalRecord) -> Vec<(&'static str, f64)> {
    let counts = [("failed", interval.failed), ("retries", interval.retries), ("skipped", interval.skipped)];
    let seen = counts.into_iter().chain([("late", interval.late)]).filter(|(_, count)| *count > 0);
    seen.map(|(name, count)| (name, count as f64 / length(interval))).collect()
}

/// Returns sums of a source's rows by name, at each time. Skips rows without a name or a value.
fn sums(table: &SampleTable, named: impl Fn(&[String]) -> Option<(String, f64)>) -> Rows {
    let mut rows = Rows::new();
    for (at_s, row) in table.rows() {
        let values = rows.entry(moment(*at_s)).or_default();
        if let Some((name, value)) = named(row) {
            let sum = values.get(&name).and_then(Value::as_f64).unwrap_or_default();
            values.insert(name, json!(sum + value));
        }
    }
    rows
}

/// Returns average active sessions by wait event.
fn waits(table: &SampleTable) -> Rows {
    let number = |row: &[String], column| table.cell(row, column)?.parse::<f64>().ok();
    sums(table, |row| {
        let (kind, event) = (table.cell(row, waits::WAIT_EVENT_TYPE)?, table.cell(row, waits::WAIT_EVENT)?);
        let looks = number(row, waits::LOOKS).filter(|looks| *looks > 0.0)?;
        let name = if kind == event { kind.to_owned() } else { format!("{kind}: {event}") };
        Some((name, number(row, waits::SAMPLES)? / looks))
    })
}

/// Returns CPUs by kind of process.
fn by_kind(table: &SampleTable) -> Rows {
    sums(table, |row| {
        Some((table.cell(row, processes::KIND)?.to_owned(), table.cell(row, processes::CPUS)?.parse().ok()?))
    })
}

/// Returns CPUs by state, if processes are not visible.
fn machine(table: &SampleTable) -> Rows {
    let kinds = [machine::USER_CPUS, machine::SYSTEM_CPUS, machine::IOWAIT_CPUS, machine::STEAL_CPUS];
    let mut rows = Rows::new();
    for (at_s, row) in table.rows() {
        let value = |column| table.cell(row, column)?.parse::<f64>().ok();
        let named =
            |column: SampleColumn| Some((column.name.trim_end_matches("_cpus").to_owned(), json!(value(column)?)));
        rows.insert(moment(*at_s), kinds.into_iter().filter_map(named).collect());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{RunDir, SampleFiles, Status, read_record};
    use std::path::Path;

    fn held(directory: &Path) -> ServedRun {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let mut record = read_record(&fixture).unwrap();
        (record.ended_at, record.status, record.id) = (None, Status::Interrupted, "a".to_owned());
        ServedRun { path: directory.join("run.json"), record }
    }

    #[test]
    fn a_run_prepares_runs_and_ends_or_is_lost() {
        let results = tempfile::tempdir().unwrap();
        let directory = RunDir::create(results.path(), "a", &[], std::time::UNIX_EPOCH).unwrap();
        let mut run = held(directory.path());
        let state = |run: &ServedRun, goes_on| news(run, goes_on, None).unwrap()["state"].clone();
        assert_eq!((state(&run, true), state(&run, false)), (json!("preparing"), json!("lost")));
        let line = "0,measure,0.0,1.0,7,7,7,0,2,0,0,0,0,1,,,,,,1000000,2000000,3000000,4000000,0.5,\n";
        let path = directory.path().join("intervals.csv");
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + line).unwrap();
        assert_eq!((state(&run, true), state(&run, false)), (json!("running"), json!("lost")));
        let news = news(&run, true, Some(-5.0)).unwrap();
        assert_eq!(news["figures"][0], json!(["TPS", "7.00"]));
        assert_eq!(news["charts"][0]["rows"], json!([[0.5, { "TPS": 7.0 }]]));
        assert_eq!(news["charts"][1]["rows"], json!([[0.5, { "p50": 1.0, "p95": 2.0, "p99": 3.0, "max": 4.0 }]]));
        assert_eq!(news["charts"][2]["rows"], json!([[0.5, { "failed": 2.0 }]]));
        run.record.ended_at = Some("2026-01-01T00:00:00Z".to_owned());
        let tps = units::rate(run.record.summary.as_ref().unwrap().tps);
        assert_eq!(super::news(&run, false, None).unwrap()["figures"][0], json!(["TPS", tps]), "of the whole window");
        assert_eq!(state(&run, true), json!("ended"));
    }

    #[test]
    fn samples_become_sums_by_name() {
        let results = tempfile::tempdir().unwrap();
        let directory = RunDir::create(results.path(), "a", &[], std::time::UNIX_EPOCH).unwrap();
        let mut files = SampleFiles::of_run(directory.path());
        let row = |cells: &[&str]| cells.iter().map(|cell| Some((*cell).to_owned())).collect::<Vec<_>>();
        let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        let looks = [
            row(&["client backend", "CPU", "CPU", "30", "10"]),
            row(&["walwriter", "CPU", "CPU", "5", "10"]),
            row(&["client backend", "LWLock", "WALWrite", "20", "10"]),
        ];
        files.append("waits", 1.0, &columns, &looks);
        files.append("machine", 1.0, &["cpus", "busy_cpus", "user_cpus"], &[row(&["4", "3", "2.5"])]);
        let charts = |run: &ServedRun| news(run, true, None).unwrap()["charts"].clone();
        let run = held(directory.path());
        assert_eq!(charts(&run)[3]["rows"], json!([[1.0, { "CPU": 3.5, "LWLock: WALWrite": 2.0 }]]));
        assert_eq!(charts(&run)[4]["rows"], json!([[1.0, { "user": 2.5 }]]));
        assert_eq!(
            news(&run, true, None).unwrap()["figures"].as_array().unwrap().last(),
            Some(&json!(["server's CPUs", "75.0 %"]))
        );
        files.append("processes", 1.0, &["kind", "cpus", "count"], &[row(&["driver", "0.5", "1"])]);
        assert_eq!(charts(&run)[4]["rows"], json!([[1.0, { "driver": 0.5 }]]));
        assert_eq!(news(&run, true, Some(1.0)).unwrap()["charts"][4]["rows"], json!([]));
    }
}
