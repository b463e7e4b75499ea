//! Figures of the cloud's own monitoring, of the server in the measured window of a run.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_results::{MachineRecord, RunRecord, read_record, write_record};
use serde_json::Value;

use crate::bounded;
use crate::engine::LabServer;
use crate::lab_file::LabSize;
use crate::module::CloudMetric;
use crate::order::LabOrder;
use crate::sweep;

const TIMEOUT: Duration = Duration::from_secs(120);
/// Points of a metric that are read.
const POINTS_MAX: usize = 100_000;
/// The metric that becomes the server's CPU usage.
const CPU_PERCENT: &str = "cpu_percent";
/// Who sampled the machine, in the record.
const SOURCE: &str = "cloud";
/// The file of all points beside the record.
const FILE: &str = "cloud-metrics.csv";

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CloudPoint {
    at: Timestamp,
    value: f64,
}

/// Asks the cloud for its figures of the run's window, and puts them beside its record and into it. What the cloud does not
/// answer is left out, with a note: the run is complete without it.
pub(crate) fn add(order: &LabOrder<'_>, size: &LabSize, server: &LabServer, path: &Path) -> Result<()> {
    let metrics = &order.lab.file.module.metrics;
    let mut record = read_record(path).or_fail(Code::Run)?;
    let (Some((start, end)), false) = (window(&record), metrics.is_empty()) else { return Ok(()) };
    let mut table = "metric,at,value\n".to_owned();
    for metric in metrics {
        match points(order, server, metric, (start, end)) {
            Ok(points) => {
                for point in &points {
                    table += &format!("{},{},{}\n", metric.name, point.at, point.value);
                }
                let inside: Vec<_> = points.iter().filter(|point| point.at > start && point.at <= end).collect();
                let mean = inside.iter().map(|point| point.value).sum::<f64>() / inside.len() as f64;
                if metric.name == CPU_PERCENT && !inside.is_empty() && record.server_machine.is_none() {
                    record.server_machine = Some(machine(mean, server.cores));
                }
            }
            Err(why) => order.events.note(&format!("{}: the cloud gives no {}: {why}", size.name, metric.name)),
        }
    }
    if let Some(directory) = path.parent() {
        std::fs::write(directory.join(FILE), table).or_fail(Code::Run)?;
    }
    write_record(path, &record).or_fail(Code::Run)
}

fn machine(cpu_percent: f64, cpus: f64) -> MachineRecord {
    MachineRecord {
        seen_by: SOURCE.to_owned(),
        cpus: Some(cpus),
        cpu_percent: Some(cpu_percent),
        busy_cpus: Some(cpu_percent / 100.0 * cpus),
        ..MachineRecord::default()
    }
}

/// Returns the measured window.
fn window(record: &RunRecord) -> Option<(Timestamp, Timestamp)> {
    let start: Timestamp = record.measured_at.as_ref()?.parse().ok()?;
    let seconds = record.summary.as_ref()?.duration_s;
    let length = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Some((start, start.checked_add(length).ok()?))
}

fn points(
    order: &LabOrder<'_>,
    server: &LabServer,
    metric: &CloudMetric,
    (start, end): (Timestamp, Timestamp),
) -> std::result::Result<Vec<CloudPoint>, String> {
    let whole = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let instance = server.instance.clone().unwrap_or_else(|| server.host.clone());
    let known = [
        ("instance".to_owned(), instance),
        ("start_rfc3339".to_owned(), whole(start)),
        // The point of the last minute is written after it.
        ("end_rfc3339".to_owned(), whole(end.checked_add(SignedDuration::from_secs(60)).unwrap_or(end))),
    ];
    let argv = sweep::filled(&metric.command, &known).and_then(|words| sweep::words(&words, &order.lab.file));
    let argv = argv.map_err(|error| error.text())?;
    let (program, args) = argv.split_first().ok_or("there is no command for it")?;
    let mut command = Command::new(program);
    command.args(args);
    let printed = bounded::run(command, TIMEOUT).map_err(|error| format!("{program}: {error}"))?;
    if !printed.is_success {
        return Err(printed.said);
    }
    parse(&printed.stdout, metric)
}

/// Returns the points in the answer of a cloud, in the order of their times. Points without a value are none.
fn parse(answer: &[u8], metric: &CloudMetric) -> std::result::Result<Vec<CloudPoint>, String> {
    let answer: Value = serde_json::from_slice(answer).map_err(|error| format!("its answer is no JSON: {error}"))?;
    let list = answer.pointer(&metric.points).and_then(Value::as_array).ok_or("its answer has no points")?;
    let point = |item: &Value| {
        let at = item.pointer(&metric.time).and_then(time)?;
        let value = item.pointer(&metric.value)?;
        let value = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        value.is_finite().then_some(CloudPoint { at, value: value * metric.scale })
    };
    let mut points: Vec<_> = list.iter().take(POINTS_MAX).filter_map(point).collect();
    points.sort_by_key(|point| point.at);
    Ok(points)
}

/// Reads a time: RFC 3339, or Unix time in seconds or milliseconds.
fn time(value: &Value) -> Option<Timestamp> {
    if let Some(text) = value.as_str() {
        return text.parse().ok();
    }
    let number = value.as_i64()?;
    if number > 100_000_000_000 {
        Timestamp::from_millisecond(number).ok()
    } else {
        Timestamp::from_second(number).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(points: &str, time: &str, value: &str, scale: f64) -> CloudMetric {
        let text = |text: &str| text.to_owned();
        CloudMetric {
            name: text(CPU_PERCENT),
            command: Vec::new(),
            points: text(points),
            time: text(time),
            value: text(value),
            scale,
        }
    }

    #[test]
    fn answers_of_every_cloud_are_read() {
        let monitoring = br#"{"timeSeries": [{"points": [
            {"interval": {"endTime": "2026-11-25T10:01:00Z"}, "value": {"doubleValue": 0.93}},
            {"interval": {"endTime": "2026-11-25T10:00:00Z"}, "value": {"doubleValue": 0.87}}]}]}"#;
        let of = metric("/timeSeries/0/points", "/interval/endTime", "/value/doubleValue", 100.0);
        let found = parse(monitoring, &of).unwrap();
        assert_eq!(found.iter().map(|point| point.value.round() as i64).collect::<Vec<_>>(), [87, 93]);

        let azure = br#"{"value": [{"timeseries": [{"data": [
            {"timeStamp": "2026-11-25T10:00:00Z", "average": 88.5}, {"timeStamp": "2026-11-25T10:01:00Z", "average": null}]}]}]}"#;
        let of = metric("/value/0/timeseries/0/data", "/timeStamp", "/average", 1.0);
        assert_eq!(parse(azure, &of).unwrap().len(), 1);

        let aliyun = br#"{"Points": [{"timestamp": 1764064800000, "value": "90.25"}, {"timestamp": 1764064860, "value": "1e999"}]}"#;
        let of = metric("/Points", "/timestamp", "/value", 1.0);
        let found = parse(aliyun, &of).unwrap();
        assert_eq!((found.len(), found[0].at.to_string().as_str()), (1, "2025-11-25T10:00:00Z"));
    }

    #[test]
    fn answers_without_points_say_so() {
        let of = metric("/timeSeries/0/points", "/t", "/v", 1.0);
        assert!(parse(b"{}", &of).unwrap_err().contains("no points"));
        assert!(parse(b"<html>", &of).unwrap_err().contains("no JSON"));
        assert_eq!(parse(br#"{"timeSeries": [{"points": [1, "x", {"t": {}, "v": []}]}]}"#, &of).unwrap(), []);
    }
}
