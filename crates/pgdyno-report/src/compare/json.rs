//! For programs. Changes are in percent; latencies in nanoseconds.

use std::io::{self, Write};

use pgdyno_measure::compare::Held;
use serde_json::{Value, json};

use super::{Comparison, Difference, Figure, Limit, PlanChange, Plans, Side, TaskChange};
use crate::Look;
use crate::metric::unit_in_json;

pub(super) fn render(comparison: &Comparison, _: Look, out: &mut dyn Write) -> io::Result<()> {
    let [base, new] = comparison.sides.each_ref().map(side);
    let value = json!({
        "verdict": comparison.verdict.name(),
        "reason": comparison.reason,
        "confidence_percent": (comparison.confidence * 1e6).round() / 1e4,
        "limit": comparison.limit.as_ref().map(limit),
        "base": base,
        "new": new,
        "figures": comparison.figures.iter().map(figure).collect::<Vec<_>>(),
        "tasks": comparison.tasks.list.iter().map(task).collect::<Vec<_>>(),
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "plans": comparison.plans.as_ref().map(plans),
        "notes": comparison.notes,
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// An end of an interval; none where it is open.
fn end(ratio: Option<f64>) -> Option<f64> {
    ratio.filter(|ratio| *ratio > 0.0 && ratio.is_finite()).map(percent)
}

fn side(side: &Side) -> Value {
    let left_out = |(run, why): &(String, String)| json!({ "run": run, "why": why });
    json!({ "runs": side.runs, "left_out": side.left_out.iter().map(left_out).collect::<Vec<_>>() })
}

fn figure(figure: &Figure) -> Value {
    json!({
        "metric": figure.metric.name(),
        "unit": unit_in_json(&figure.metric),
        "base": figure.base,
        "new": figure.new,
        "change_percent": percent(figure.new / figure.base),
        "change_percent_low": end(figure.change.map(|change| change.low)),
        "change_percent_high": end(figure.change.map(|change| change.high)),
        "verdict": figure.verdict.name(),
    })
}

fn task(task: &TaskChange) -> Value {
    json!({
        "name": task.name,
        "base_ns": task.base_ns,
        "new_ns": task.new_ns,
        "change_percent": percent(task.new_ns / task.base_ns),
        "change_percent_low": end(task.change.map(|change| change.low)),
        "change_percent_high": end(task.change.map(|change| change.high)),
        "verdict": task.verdict.name(),
    })
}

fn difference(difference: &Difference) -> Value {
    json!({
        "group": difference.group.name(),
        "name": difference.name,
        "base": difference.base,
        "new": difference.new,
        "different_work": difference.is_decisive,
    })
}

fn plans(plans: &Plans) -> Value {
    let change = |change: &PlanChange| {
        let [base, new] = change.seconds;
        json!({
            "query": change.query,
            "base_s": base,
            "new_s": new,
            "change_percent": change.ratio().map(percent),
            "changes": change.changes,
        })
    };
    json!({ "compared": plans.compared, "changed": plans.changed.iter().map(change).collect::<Vec<_>>() })
}

fn limit(limit: &Limit) -> Value {
    let (held, runs_needed) = match limit.held {
        Some(Held::Yes) => ("yes", None),
        Some(Held::No) => ("no", None),
        Some(Held::Unknown { runs }) => ("cannot tell", runs),
        None => ("cannot tell", None),
    };
    json!({ "slower_percent_max": limit.loss_max * 100.0, "held": held, "runs_needed_of_each": runs_needed })
}
