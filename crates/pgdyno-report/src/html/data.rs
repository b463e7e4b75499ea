//! The data of the charts, as compact JSON that the page's script reads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::{ChartPart, ChartSeries, Mark};
use super::markup::SafeJson;
use super::several::{self, Drawn};
use super::{ReportRun, drive, events};

/// Returns all data of the charts. `growth` are the charts of [`super::growth`].
pub(super) fn data(runs: &[ReportRun], growth: Vec<Value>) -> SafeJson {
    let mut axes = Axes::default();
    let charts: Vec<Value> = several::charts(runs).into_iter().map(|drawn| chart(drawn, &mut axes)).collect();
    let of_runs = |of: &dyn Fn(usize, &ReportRun) -> Vec<Value>| -> Vec<Value> {
        runs.iter().enumerate().flat_map(|(at, run)| of(at, run)).collect()
    };
    let drawn = several::drawn_runs(runs);
    let name = |run: &ReportRun| json!({ "name": run.name, "side": run.side.map(|side| side as usize) });
    SafeJson::new(&json!({
        "runs": runs.iter().map(name).collect::<Vec<_>>(),
        "first": ChartPart::Drive.title(),
        "phases": of_runs(&|at, run| marks(at, &drive::phases(&run.timeline.intervals))),
        "marks": of_runs(&|at, run| marks(at, &events::marks(run))),
        "charts": charts,
        "axes": axes.all,
        "heats": of_runs(&|at, run| if drawn.contains(&at) { heat(at, run) } else { Vec::new() }),
        "curves": of_runs(&curves),
        "growth": growth,
    }))
}

/// Time axes that several series share.
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

fn chart(drawn: Drawn, axes: &mut Axes) -> Value {
    let Drawn { chart: c, series, run } = drawn;
    let series: Vec<Value> = series.into_iter().map(|(run, series)| line(run, &series, axes)).collect();
    json!({
        "title": c.title, "note": c.note, "unit": c.unit, "part": c.part.title(), "logarithmic": c.logarithmic,
        "stacked": c.stacked, "wide": c.wide, "first": c.first, "run": run, "most": c.most, "series": series,
    })
}

fn line(run: usize, series: &ChartSeries, axes: &mut Axes) -> Value {
    let values: Vec<Value> = series.values.iter().map(|v| v.map_or(Value::Null, significant)).collect();
    let mut value = json!({ "run": run, "name": series.name, "axis": axes.index(&series.seconds), "values": values });
    if let Some(ink) = series.ink {
        value["ink"] = ink.0.into();
        value["shade"] = ink.1.into();
    }
    if series.over {
        value["over"] = true.into();
    }
    value
}

fn marks(run: usize, marks: &[Mark]) -> Vec<Value> {
    let mark = |m: &Mark| {
        let until = m.until_s.map_or(Value::Null, |until| round(until, 1e3));
        let kind = if m.kind.is_empty() { &m.text } else { &m.kind };
        json!({ "run": run, "kind": kind, "text": m.text, "from": round(m.from_s, 1e3), "until": until })
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

/// Returns a number without invisible digits.
fn round(value: f64, parts: f64) -> Value {
    number((value * parts).round() / parts)
}

/// Rounds to four digits.
pub(super) fn significant(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let parts = 10_f64.powi(3 - value.abs().log10().floor() as i32);
    // For a power of ten below 1 only its inverse is exact.
    number(if parts >= 1.0 { (value * parts).round() / parts } else { (value * parts).round() * (1.0 / parts).round() })
}

/// Returns whole numbers without a decimal point; null for NaN and infinities.
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
