//! The data of the charts, as compact JSON that the page's script reads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::{self, Mark};
use super::markup::SafeJson;
use super::{Chart, ReportRun};

/// Everything that is drawn.
pub(super) fn data(runs: &[ReportRun]) -> SafeJson {
    let mut axes = Axes::default();
    let charts = charts(runs, &mut axes);
    let of_runs = |of: fn(usize, &ReportRun) -> Vec<Value>| -> Vec<Value> {
        runs.iter().enumerate().flat_map(|(at, run)| of(at, run)).collect()
    };
    SafeJson::new(&json!({
        "runs": runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(),
        "phases": of_runs(|at, run| marks(at, &chart::phases(&run.timeline.intervals))),
        "marks": of_runs(|at, run| marks(at, &run.marks)),
        "charts": charts,
        "axes": axes.all,
        "heats": of_runs(heat),
        "curves": of_runs(curves),
    }))
}

/// Moments that several series share.
#[derive(Default)]
struct Axes {
    all: Vec<Value>,
    known: BTreeMap<String, usize>,
}

impl Axes {
    fn index(&mut self, seconds: &[f64]) -> usize {
        let axis: Value = seconds.iter().map(|s| round(*s, 1e3)).collect();
        let next = self.all.len();
        let index = *self.known.entry(axis.to_string()).or_insert(next);
        if index == next {
            self.all.push(axis);
        }
        index
    }
}

/// The charts of all runs; those with the same title are one.
fn charts(runs: &[ReportRun], axes: &mut Axes) -> Vec<Value> {
    let mut charts: Vec<(Chart, Vec<Value>)> = Vec::new();
    for (run, mut chart) in
        runs.iter().enumerate().flat_map(|(at, run)| chart::charts(run).into_iter().map(move |c| (at, c)))
    {
        let series: Vec<Value> = std::mem::take(&mut chart.series)
            .into_iter()
            .map(|s| {
                let values: Vec<Value> = s.values.iter().map(|v| v.map_or(Value::Null, significant)).collect();
                json!({ "run": run, "name": s.name, "axis": axes.index(&s.seconds), "values": values })
            })
            .collect();
        match charts.iter_mut().find(|(known, _)| known.title == chart.title) {
            Some((_, all)) => all.extend(series),
            None => charts.push((chart, series)),
        }
    }
    let value = |(c, series): (Chart, Vec<Value>)| {
        json!({
            "title": c.title, "note": c.note, "unit": c.unit, "logarithmic": c.logarithmic, "stacked": c.stacked,
            "series": series,
        })
    };
    charts.into_iter().map(value).collect()
}

fn marks(run: usize, marks: &[Mark]) -> Vec<Value> {
    let mark = |m: &Mark| {
        let until = m.until_s.map_or(Value::Null, |until| round(until, 1e3));
        json!({ "run": run, "text": m.text, "from": round(m.from_s, 1e3), "until": until })
    };
    marks.iter().map(mark).collect()
}

fn heat(run: usize, of: &ReportRun) -> Vec<Value> {
    let value = |heat: super::latencies::Heat| {
        let columns: Vec<_> =
            heat.columns.iter().map(|(from, until)| [round(*from, 1e3), round(*until, 1e3)]).collect();
        json!({
            "run": run, "columns": columns, "floor": heat.floor_ms, "ratio": heat.ratio, "cells": heat.cells,
        })
    };
    of.latencies.heat().map(value).into_iter().collect()
}

fn curves(run: usize, of: &ReportRun) -> Vec<Value> {
    let value = |curve: super::latencies::Curve| {
        let points: Vec<_> = curve.points.iter().map(|(nines, ms)| [round(*nines, 1e4), significant(*ms)]).collect();
        json!({ "run": run, "name": curve.name, "points": points })
    };
    of.latencies.curves().into_iter().map(value).collect()
}

/// A number without digits that nobody sees.
fn round(value: f64, parts: f64) -> Value {
    number((value * parts).round() / parts)
}

/// Four digits.
fn significant(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let parts = 10_f64.powi(3 - value.abs().log10().floor() as i32);
    // Of a power of ten that is no whole number the inverse is the exact one.
    number(if parts >= 1.0 { (value * parts).round() / parts } else { (value * parts).round() * (1.0 / parts).round() })
}

/// Whole numbers without a point; none for what is no number.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_one_sees() {
        let texts = [0.0, 0.0123456, 12.3456, 1234.56, 123_456.0, 99_999.0, -5.0].map(|v| significant(v).to_string());
        assert_eq!(texts, ["0", "0.01235", "12.35", "1235", "123500", "100000", "-5"]);
        assert_eq!(significant(f64::NAN), Value::Null);
        assert_eq!([round(1.23456, 1e3), round(2.0, 1e3)].map(|v| v.to_string()), ["1.235", "2"]);
    }

    #[test]
    fn moments_that_are_shared_are_written_once() {
        let mut axes = Axes::default();
        assert_eq!([axes.index(&[1.0, 2.0]), axes.index(&[1.0]), axes.index(&[1.0, 2.0])], [0, 1, 0]);
        assert_eq!(axes.all.len(), 2);
    }
}
