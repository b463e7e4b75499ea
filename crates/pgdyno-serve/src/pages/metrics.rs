//! Figures of the runs in progress, and of the last complete run of each workload and target, for Prometheus. Source:
//! the OpenMetrics specification 1.0.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pgdyno_results::{IntervalLatency, LiveData, RecordMetric, RunRecord, Status, Unit};
use pgdyno_samples::machine;

use crate::run_source::Listed;

/// The media type of the text.
pub(crate) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A metric: its name, its unit at the end of the name, and what it means.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
}

const COMMITTED: Family = Family {
    name: "pgdyno_run_transactions_per_second",
    unit: "",
    help: "Committed transactions a second in the last interval of a run in progress.",
};
const FAILED: Family = Family {
    name: "pgdyno_run_failures_per_second",
    unit: "",
    help: "Failed transactions a second in the last interval of a run in progress.",
};
const RESPONSE: Family = Family {
    name: "pgdyno_run_response_time_seconds",
    unit: "seconds",
    help: "Response time in the last interval of a run in progress: quantiles and the maximum (1).",
};
const IN_FLIGHT: Family = Family {
    name: "pgdyno_run_transactions_in_flight",
    unit: "",
    help: "Transactions under way at the end of the last interval of a run in progress.",
};
const ELAPSED: Family = Family {
    name: "pgdyno_run_elapsed_seconds",
    unit: "seconds",
    help: "Time since the clients of a run in progress began.",
};
const BUSY: Family =
    Family { name: "pgdyno_run_server_busy_cpus", unit: "cpus", help: "CPUs in use on the machine of the server." };
const LAST: Family = Family {
    name: "pgdyno_last_run_metric",
    unit: "",
    help: "Figures of the last complete run of a workload on a target, by metric.",
};
const ENDED: Family = Family {
    name: "pgdyno_last_run_end_seconds",
    unit: "seconds",
    help: "When the last complete run of a workload on a target ended, as Unix time.",
};

const ALL: [&Family; 8] = [&COMMITTED, &FAILED, &RESPONSE, &IN_FLIGHT, &ELAPSED, &BUSY, &LAST, &ENDED];

/// A value of a family, with its labels.
struct Sample {
    family: &'static str,
    labels: Vec<(&'static str, String)>,
    value: f64,
}

/// Returns the text. `runs` are all runs, the latest first; `latest` reads the last interval and samples of one in progress.
pub(crate) fn metrics(runs: &[Listed], latest: impl Fn(&str) -> Option<LiveData>) -> String {
    let mut samples = Vec::new();
    let mut reported = BTreeSet::new();
    for run in runs {
        let Ok(record) = &run.record else { continue };
        if run.goes_on {
            samples.extend(latest(&run.id).map(|latest| in_progress(record, &latest)).unwrap_or_default());
        } else if record.status == Status::Complete
            && run.study().is_none()
            && reported.insert((record.plan.workload.clone(), record.plan.target.to_string()))
        {
            samples.extend(last(record));
        }
    }
    text(&samples)
}

fn text(samples: &[Sample]) -> String {
    let mut text = String::new();
    for family in ALL {
        let of: Vec<_> = samples.iter().filter(|sample| sample.family == family.name).collect();
        if of.is_empty() {
            continue;
        }
        text += &format!("# TYPE {} gauge\n", family.name);
        if !family.unit.is_empty() {
            text += &format!("# UNIT {} {}\n", family.name, family.unit);
        }
        text += &format!("# HELP {} {}\n", family.name, family.help);
        for Sample { labels, value, .. } in of {
            let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            // Writing into a string does not fail.
            let _ = writeln!(text, "{}{{{}}} {value}", family.name, labels.join(","));
        }
    }
    text + "# EOF\n"
}

/// Returns the value of a label between its quotes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the labels of all samples of a run.
fn labels(record: &RunRecord) -> Vec<(&'static str, String)> {
    vec![("workload", record.plan.workload.clone()), ("target", record.plan.target.to_string())]
}

fn in_progress(record: &RunRecord, latest: &LiveData) -> Vec<Sample> {
    let Some(last) = &latest.last else { return Vec::new() };
    let mut own = labels(record);
    own.push(("run", record.id.clone()));
    let sample = |family: &Family, value: f64| Sample { family: family.name, labels: own.clone(), value };
    let seconds = last.seconds().max(1e-9);
    let mut samples = vec![
        sample(&COMMITTED, last.committed as f64 / seconds),
        sample(&FAILED, last.failed as f64 / seconds),
        sample(&IN_FLIGHT, last.in_flight as f64),
        sample(&ELAPSED, last.end_s),
    ];
    let latencies = last.response_latency_ns.iter().flat_map(IntervalLatency::percentiles);
    for (quantile, ns) in ["0.5", "0.95", "0.99", "1"].into_iter().zip(latencies) {
        let mut of_quantile = sample(&RESPONSE, ns as f64 / 1e9);
        of_quantile.labels.push(("quantile", quantile.to_owned()));
        samples.push(of_quantile);
    }
    let busy = latest.samples.of(machine::SOURCE).gauge(machine::BUSY_CPUS).values.last().copied().flatten();
    samples.extend(busy.map(|cpus| sample(&BUSY, cpus)));
    samples
}

/// Returns the unit that Prometheus's users expect, and how many of it one of ours is: times are in seconds.
fn base(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::PerSecond => ("1/s", 1.0),
        Unit::PerMinute => ("1/min", 1.0),
        Unit::PerHour => ("1/h", 1.0),
        Unit::Seconds => ("s", 1.0),
        Unit::Nanoseconds => ("s", 1e-9),
        Unit::Percent => ("%", 1.0),
    }
}

fn last(record: &RunRecord) -> Vec<Sample> {
    let mut named = RecordMetric::of_workload(record);
    named.extend(
        ["tps", "p50", "p95", "p99"].iter().filter_map(|name| RecordMetric::named(name, std::iter::once(record))),
    );
    let mut samples = Vec::new();
    for metric in named {
        let (unit, scale) = base(metric.unit());
        let mut labels = labels(record);
        labels.extend([("metric", metric.name().to_owned()), ("unit", unit.to_owned())]);
        samples.extend(metric.value(record).map(|value| Sample { family: LAST.name, labels, value: value * scale }));
    }
    let ended = record.ended_at.as_ref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let ended = ended.map(|at| at.as_second() as f64);
    samples.extend(ended.map(|value| Sample { family: ENDED.name, labels: labels(record), value }));
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_stand_together_and_the_text_has_an_end() {
        let sample = |family: &Family, target: &str, value| Sample {
            family: family.name,
            labels: vec![("target", target.to_owned())],
            value,
        };
        let samples = [sample(&ELAPSED, "a\"b\\c", 1.5), sample(&COMMITTED, "db1", 10.0), sample(&ELAPSED, "db1", 2.0)];
        assert_eq!(
            text(&samples),
            "# TYPE pgdyno_run_transactions_per_second gauge\n\
             # HELP pgdyno_run_transactions_per_second Committed transactions a second in the last interval of a run in progress.\n\
             pgdyno_run_transactions_per_second{target=\"db1\"} 10\n\
             # TYPE pgdyno_run_elapsed_seconds gauge\n\
             # UNIT pgdyno_run_elapsed_seconds seconds\n\
             # HELP pgdyno_run_elapsed_seconds Time since the clients of a run in progress began.\n\
             pgdyno_run_elapsed_seconds{target=\"a\\\"b\\\\c\"} 1.5\n\
             pgdyno_run_elapsed_seconds{target=\"db1\"} 2\n# EOF\n"
        );
        assert_eq!(text(&[]), "# EOF\n");
    }

    #[test]
    fn units_are_the_ends_of_names() {
        assert!(ALL.iter().all(|family| family.name.ends_with(family.unit)));
    }
}
