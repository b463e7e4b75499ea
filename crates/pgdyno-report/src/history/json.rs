//! For programs. Changes are in percent; latencies in nanoseconds; runs count from 0.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Histories, History, HistoryChange, HistoryRun};
use crate::Look;

pub(super) fn render(histories: &Histories, _: Look, out: &mut dyn Write) -> io::Result<()> {
    let left_out = |(run, why): &(String, String)| json!({ "run": run, "why": why });
    let value = json!({
        "verdict": histories.verdict().name(),
        "confidence_percent": (histories.confidence * 1e6).round() / 1e4,
        "within": histories.within,
        "series": histories.series.iter().map(series).collect::<Vec<_>>(),
        "left_out": histories.left_out.iter().map(left_out).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn series(history: &History) -> Value {
    let drift = |drift: &pgdyno_measure::change_points::Drift| json!({ "from": drift.from, "to": drift.to - 1, "change_percent": percent(drift.ratio) });
    json!({
        "name": history.name,
        "metric": history.metric.name(),
        "unit": history.metric.unit(),
        "verdict": history.verdict.name(),
        "decisive": history.decisive,
        "noise_percent": history.noise.map(|noise| noise * 100.0),
        "runs": history.runs.iter().map(run).collect::<Vec<_>>(),
        "changes": history.changes.iter().map(|one| change(history, one)).collect::<Vec<_>>(),
        "drifts": history.drifts.iter().map(drift).collect::<Vec<_>>(),
    })
}

fn run(run: &HistoryRun) -> Value {
    json!({
        "id": run.id,
        "started_at": run.started_at,
        "labels": run.labels,
        "value": run.value,
        "level": run.level,
    })
}

fn change(history: &History, change: &HistoryChange) -> Value {
    let difference = |one: &crate::compare::Difference| json!({ "group": one.group.name(), "name": one.name, "before": one.base.join(" or "), "after": one.new.join(" or ") });
    json!({
        "at": change.at,
        "before": history.runs[change.at - 1].id,
        "after": history.runs[change.at].id,
        "earliest": change.places.0,
        "latest": change.places.1,
        "runs_since": history.runs_since(change),
        "is": if change.is_slower { "slower" } else { "faster" },
        "change_percent": percent(change.change.ratio),
        "interval_percent": [percent(change.change.low), percent(change.change.high)],
        "chance": change.chance,
        "differences": change.differences.iter().map(difference).collect::<Vec<_>>(),
    })
}
