//! Figures of the cloud's own monitoring, of the server in the measured window of a run.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::record::page;
use pgdyno_results::{MachineRecord, RunRecord, read_record, write_record};
use pgdyno_untrusted::CsvField;
use serde_json::Value;

use crate::bounded;
use crate::engine::LabServer;
use crate::lab_file::LabSize;
use crate::module::{CloudMetric, PointTime};
use crate::order::LabOrder;
use crate::sweep;

const TIMEOUT: Duration = Duration::from_secs(120);
/// Points of a metric that are read.
const POINTS_MAX: usize = 100_000;
/// The metric that becomes the server's CPU usage.
const CPU_PERCENT: &str = "cpu_percent";
/// The file of all points beside the record.
const FILE: &str = "cloud-metrics.csv";
/// Time of a point: every module asks for means of a minute.
const MINUTE: SignedDuration = SignedDuration::from_secs(60);
/// How long after the window the clouds' monitoring may still lack points of it.
const LATE: SignedDuration = SignedDuration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_secs(20);
/// How often a wait looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CloudPoint {
    at: Timestamp,
    value: f64,
}

/// The measured window.
#[derive(Clone, Copy, Debug)]
struct MeasuredWindow {
    start: Timestamp,
    end: Timestamp,
}

/// Asks the cloud for its figures of the run's window, and puts them beside its record, into it and on its page. What the cloud
/// does not answer is left out, with a note: the run is complete without it.
pub(crate) fn add(order: &LabOrder<'_>, size: &LabSize, server: &LabServer, path: &Path) -> Result<()> {
    let metrics = &order.lab.file.module.metrics;
    let mut record = read_record(path).or_fail(Code::Run)?;
    let (Some(window), false) = (MeasuredWindow::of(&record), metrics.is_empty()) else { return Ok(()) };
    let mut table = "metric,instance,at,value\n".to_owned();
    for metric in metrics {
        let figure = mean(order, server, metric, window, &mut table);
        let left_out = match figure {
            Ok(Some(mean)) => {
                if metric.name == CPU_PERCENT && record.server_machine.is_none() {
                    fill(&mut record, mean, server.cores);
                }
                continue;
            }
            Ok(None) => format!("no whole minute of it is in the measured window; all points are in {FILE}"),
            Err(why) => why,
        };
        order.events.note(&format!("{}: {} of the cloud's monitoring is left out: {left_out}", size.name, metric.name));
    }
    let Some(directory) = path.parent() else { return Ok(()) };
    std::fs::write(directory.join(FILE), table).or_fail(Code::Run)?;
    write_record(path, &record).or_fail(Code::Run)?;
    page::write_again(directory)
}

/// Puts the mean CPU usage into a record.
fn fill(record: &mut RunRecord, cpu_percent: f64, cpus: f64) {
    record.server_machine = Some(MachineRecord {
        seen_by: MachineRecord::CLOUD.to_owned(),
        cpus: Some(cpus),
        cpu_percent: Some(cpu_percent),
        busy_cpus: Some(cpu_percent / 100.0 * cpus),
        ..MachineRecord::default()
    });
    if let Some(summary) = &mut record.summary {
        summary.server_cpu_percent = Some(cpu_percent);
    }
}

/// Returns the mean of a metric in the window, over all nodes of the server by their CPUs, and adds all points to `table`. `None`
/// if no whole minute is in the window. Waits a little for points that the cloud has not yet.
fn mean(
    order: &LabOrder<'_>,
    server: &LabServer,
    metric: &CloudMetric,
    window: MeasuredWindow,
    table: &mut String,
) -> std::result::Result<Option<f64>, String> {
    let (mut sum, mut cores) = (0.0, 0.0);
    for node in server.monitored() {
        let minutes = window.minutes(metric.at);
        let points = loop {
            let points = points(order, &node.instance, metric, window)?;
            let has_all = window.inside(&points, metric.at).count() >= minutes;
            let is_late = Timestamp::now().duration_since(window.end) > LATE;
            if has_all || is_late || !pause(order) {
                break points;
            }
        };
        for point in &points {
            // Memory takes every line.
            let _ = writeln!(table, "{},{},{},{}", metric.name, CsvField(&node.instance), point.at, point.value);
        }
        let inside: Vec<f64> = window.inside(&points, metric.at).map(|point| point.value).collect();
        if inside.len() * 10 < minutes * 9 {
            return Err(format!("it has {} of the {minutes} minutes of the window", inside.len()));
        }
        if inside.is_empty() {
            return Ok(None);
        }
        sum += inside.iter().sum::<f64>() / inside.len() as f64 * node.cores;
        cores += node.cores;
    }
    Ok((cores > 0.0).then(|| sum / cores))
}

/// Waits before the cloud is asked again; returns false after Ctrl-C.
fn pause(order: &LabOrder<'_>) -> bool {
    let looks = POLL_INTERVAL.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        if order.interrupt.waits().is_interrupted() {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

impl MeasuredWindow {
    fn of(record: &RunRecord) -> Option<Self> {
        let start: Timestamp = record.measured_at.as_ref()?.parse().ok()?;
        let seconds = record.summary.as_ref()?.duration_s;
        let length = SignedDuration::try_from_secs_f64(seconds).ok()?;
        Some(Self { start, end: start.checked_add(length).ok()? })
    }

    /// Returns the points whose minute is wholly in the window.
    fn inside(self, points: &[CloudPoint], at: PointTime) -> impl Iterator<Item = &CloudPoint> {
        let (before, after) = at.reach();
        points.iter().filter(move |point| {
            point.at.checked_sub(before).is_ok_and(|from| from >= self.start)
                && point.at.checked_add(after).is_ok_and(|to| to <= self.end)
        })
    }

    /// Returns the number of points that are inside at least, wherever the cloud's minutes begin.
    fn minutes(self, at: PointTime) -> usize {
        let (before, after) = at.reach();
        let room = self.end.duration_since(self.start) - before - after;
        usize::try_from(room.as_secs().div_euclid(MINUTE.as_secs())).unwrap_or(0)
    }
}

impl PointTime {
    /// Returns how far before and after its time a point may reach.
    fn reach(self) -> (SignedDuration, SignedDuration) {
        match self {
            Self::Start => (SignedDuration::ZERO, MINUTE),
            Self::End => (MINUTE, SignedDuration::ZERO),
            Self::Unknown => (MINUTE, MINUTE),
        }
    }
}

fn points(
    order: &LabOrder<'_>,
    instance: &str,
    metric: &CloudMetric,
    window: MeasuredWindow,
) -> std::result::Result<Vec<CloudPoint>, String> {
    let whole = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let known = [
        ("instance".to_owned(), instance.to_owned()),
        ("start_rfc3339".to_owned(), whole(window.start)),
        // The point of the last minute may have a time after it.
        ("end_rfc3339".to_owned(), whole(window.end.checked_add(MINUTE).unwrap_or(window.end))),
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
    let number = value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))?;
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
            at: PointTime::Unknown,
        }
    }

    #[test]
    fn a_minute_counts_if_it_is_wholly_in_the_window() {
        let time = |text: &str| format!("2026-11-25T{text}Z").parse::<Timestamp>().unwrap();
        let window = MeasuredWindow { start: time("10:00:30"), end: time("10:04:10") };
        let of = |minute: u32| CloudPoint { at: time(&format!("10:{minute:02}:00")), value: f64::from(minute) };
        let points: Vec<_> = (0..6).map(of).collect();
        let inside = |at| window.inside(&points, at).map(|point| point.value).collect::<Vec<_>>();
        assert_eq!(inside(PointTime::Start), [1.0, 2.0, 3.0]);
        assert_eq!(inside(PointTime::End), [2.0, 3.0, 4.0]);
        assert_eq!(inside(PointTime::Unknown), [2.0, 3.0]);
        for at in [PointTime::Start, PointTime::End, PointTime::Unknown] {
            assert!(window.minutes(at) <= inside(at).len());
        }
        assert_eq!((window.minutes(PointTime::Start), window.minutes(PointTime::Unknown)), (2, 1));
        let short = MeasuredWindow { end: time("10:01:40"), ..window };
        assert_eq!((short.inside(&points, PointTime::Start).count(), short.minutes(PointTime::Start)), (0, 0));
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

        let aliyun = br#"{"Points": [{"timestamp": 1764064800000, "value": "90.25"}, {"timestamp": 1764064860.0, "value": "1e999"}]}"#;
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
