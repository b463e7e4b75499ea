//! A scaling on the page: figures along an axis.

use std::collections::HashMap;

use pgdyno_results::{RecordMetric, Unit};
use serde_json::{Value, json};

use super::ReportRun;
use super::data::significant;
use super::markup::Html;
use crate::scaling::Scaling;

/// Percentiles in the chart of response times.
const PERCENTILES: [&str; 3] = ["p50", "p95", "p99"];

/// Returns the metrics of the charts: the scaling's own, and response times.
pub(super) fn metrics(scaling: &Scaling) -> Vec<Vec<RecordMetric>> {
    let own = &scaling.metric;
    let throughput = if own.is_latency() { RecordMetric::tps() } else { own.clone() };
    let mut percentiles: Vec<RecordMetric> = PERCENTILES.into_iter().filter_map(RecordMetric::common).collect();
    if own.is_latency() && !percentiles.contains(own) {
        percentiles.push(own.clone());
    }
    vec![vec![throughput], percentiles]
}

/// Sorts runs along the axis, and names each by its position: `clients 8`, and the second of several `clients 8 (2)`.
pub(super) fn name(scaling: &Scaling, runs: &mut [ReportRun]) {
    let place = |run: &ReportRun| {
        let label = scaling.axis.place(&run.record).map(|place| place.label).unwrap_or_default();
        (scaling.points.iter().position(|point| point.label == label), label)
    };
    runs.sort_by_cached_key(|run| place(run).0);
    let mut seen: HashMap<String, usize> = HashMap::new();
    for run in runs {
        let label = place(run).1;
        let nth = seen.entry(label.clone()).or_default();
        *nth += 1;
        let again = if *nth > 1 { format!(" ({nth})") } else { String::new() };
        run.name = format!("{} {label}{again}", scaling.axis.title());
    }
}

/// Returns a chart: lines over the same positions, with the minimum and the maximum of the runs at each.
pub(super) fn chart(title: &str, lines: &[Scaling]) -> Option<Value> {
    let first = lines.first()?;
    let is_latency = first.metric.is_latency();
    let is_ns = first.metric.unit() == Unit::Nanoseconds;
    let scale = if is_ns { 1e-6 } else { 1.0 };
    let scaled = |value: f64| significant(value * scale);
    let line = |line: &Scaling| {
        let points: Vec<Value> = line
            .points
            .iter()
            .map(|p| json!({ "label": p.label, "at": p.at, "mean": scaled(p.mean), "min": scaled(p.min), "max": scaled(p.max) }))
            .collect();
        json!({ "name": line.metric.name(), "points": points })
    };
    let proportion: Vec<Value> = first
        .points
        .iter()
        .map(|p| p.linear.map_or(Value::Null, |linear| scaled(linear * first.points[0].mean)))
        .collect();
    Some(json!({
        "title": title, "unit": if is_ns { "ms".to_owned() } else { first.metric.title().to_owned() },
        "axis": first.axis.title(), "logarithmic": is_latency,
        "lines": lines.iter().map(line).collect::<Vec<_>>(), "proportion": proportion,
    }))
}

/// Writes the table of the scaling, and what a reader must know before trusting it.
pub(super) fn table(scaling: &Scaling, html: &mut Html) {
    html.raw("<section>\n");
    let (titles, rows) = scaling.rows();
    let columns: Vec<_> = titles.into_iter().map(|title| (title, true)).collect();
    html.table(&columns, &rows).raw("<div id=\"growth\"></div>\n");
    for (run, why) in &scaling.left_out {
        html.raw("<p class=\"bad\"><b>left out</b>: ").text(&format!("{run} {why}")).raw("</p>\n");
    }
    html.list(scaling.notes.iter().map(String::as_str)).raw("</section>\n");
}
