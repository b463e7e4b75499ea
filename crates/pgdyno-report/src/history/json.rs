//! For programs. Changes are in percent; latencies in nanoseconds; runs count from 0.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pgdyno_measure::change_points::Drift;
use pgdyno_results::Unit;
use pgdyno_text::TextStyle;
use serde::Serialize;

use super::{ChangedFact, Histories, History, HistoryChange, HistoryRun};
use crate::compare::FactDifference;
use crate::compare::json::{TimePartForm, time_part};
use crate::forms::{FORMAT_VERSION, LeftOut, left_out, write};

/// The history of a figure, as `pgdyno history --format json` prints it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct HistoriesForm<'a> {
    /// Version of this form.
    format_version: u32,
    /// `slower`, `faster`, `no-change` or `cannot-tell`.
    verdict: &'static str,
    /// Percentage of histories of equal runs that show no change.
    confidence_percent: f64,
    /// A slowdown within so many of the last runs makes the verdict.
    within: usize,
    /// Series of comparable runs, that of the newest run first.
    series: Vec<SeriesForm<'a>>,
    /// Runs that do not take part, and why.
    left_out: Vec<LeftOut<'a>>,
}

/// A series of comparable runs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SeriesForm<'a> {
    /// What its runs have in common.
    name: &'a str,
    /// Name of the metric.
    metric: &'a str,
    /// Its unit.
    unit: Unit,
    /// Words as those of the whole.
    verdict: &'static str,
    /// The change of the verdict, counted from 0; null without one.
    decisive: Option<usize>,
    /// Standard deviation from run to run within a level; null for too few runs.
    noise_percent: Option<f64>,
    /// The runs, oldest first.
    runs: Vec<RunForm<'a>>,
    /// The change points, oldest first.
    changes: Vec<ChangeForm<'a>>,
    /// Drifts, oldest first.
    drifts: Vec<DriftForm>,
}

/// A run of a series.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RunForm<'a> {
    /// Its name.
    id: &'a str,
    /// Its begin, UTC, RFC 3339.
    started_at: &'a str,
    /// Its labels.
    labels: &'a BTreeMap<String, String>,
    /// Its figure.
    value: f64,
    /// Geometric mean of the runs between two change points.
    level: f64,
}

/// A change point.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeForm<'a> {
    /// First run of the new level.
    at: usize,
    /// Name of the last run of the old level.
    before: &'a str,
    /// Name of the first run of the new level.
    after: &'a str,
    /// Earliest run that may be the first of the new level.
    earliest: usize,
    /// Latest run that may be it.
    latest: usize,
    /// Runs after it.
    runs_since: usize,
    /// `slower` or `faster`.
    is: &'static str,
    /// The change of the level.
    change_percent: f64,
    /// Both ends of its interval.
    interval_percent: [f64; 2],
    /// The chance that a history of equal runs ever shows so clear a change.
    chance: f64,
    /// In what the runs before and after differ.
    differences: Vec<DifferenceForm<'a>>,
    /// The facts that changed with the level: the same in the runs before, and the same in those after. The likeliest causes first.
    changed: Vec<ChangedForm<'a>>,
    /// The parts of the clients' time before and after, those that changed most first; empty where the runs have no account.
    difference_of_accounts: Vec<TimePartForm<'a>>,
}

/// A fact that changed with the level.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangedForm<'a> {
    /// The group of facts.
    group: &'static str,
    /// Its name.
    name: &'a str,
    /// Its value in the runs before.
    before: &'a str,
    /// Its value in the runs after.
    after: &'a str,
    /// The first run with it.
    at: usize,
}

/// A fact in which the runs before and after a change differ.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DifferenceForm<'a> {
    /// The group of facts.
    group: &'static str,
    /// Its name.
    name: &'a str,
    /// Its value before.
    before: String,
    /// Its value after.
    after: String,
}

/// A slow change of the level.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DriftForm {
    /// Its first run.
    from: usize,
    /// Its last run.
    to: usize,
    /// The change of the level from its first to its last run.
    change_percent: f64,
}

pub(super) fn render(histories: &Histories, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let form = HistoriesForm {
        format_version: FORMAT_VERSION,
        verdict: histories.verdict().name(),
        confidence_percent: (histories.confidence * 1e6).round() / 1e4,
        within: histories.within,
        series: histories.series.iter().map(series).collect(),
        left_out: left_out(&histories.left_out),
    };
    write(&form, out)
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn series(history: &History) -> SeriesForm<'_> {
    let drift = |drift: &Drift| DriftForm { from: drift.from, to: drift.to - 1, change_percent: percent(drift.ratio) };
    SeriesForm {
        name: &history.name,
        metric: history.metric.name(),
        unit: history.metric.unit(),
        verdict: history.verdict.name(),
        decisive: history.decisive,
        noise_percent: history.noise.map(|noise| noise * 100.0),
        runs: history.runs.iter().map(run).collect(),
        changes: history.changes.iter().map(|one| change(history, one)).collect(),
        drifts: history.drifts.iter().map(drift).collect(),
    }
}

fn run(run: &HistoryRun) -> RunForm<'_> {
    RunForm { id: &run.id, started_at: &run.started_at, labels: &run.labels, value: run.value, level: run.level }
}

fn change<'a>(history: &'a History, change: &'a HistoryChange) -> ChangeForm<'a> {
    ChangeForm {
        at: change.at,
        before: &history.runs[change.at - 1].id,
        after: &history.runs[change.at].id,
        earliest: change.places.0,
        latest: change.places.1,
        runs_since: history.runs_since(change),
        is: if change.is_slower { "slower" } else { "faster" },
        change_percent: percent(change.change.ratio),
        interval_percent: [percent(change.change.low), percent(change.change.high)],
        chance: change.chance,
        differences: change.differences.iter().map(difference).collect(),
        changed: change.changed.iter().map(changed).collect(),
        difference_of_accounts: change.clients_time.iter().map(time_part).collect(),
    }
}

fn changed(fact: &ChangedFact) -> ChangedForm<'_> {
    let ChangedFact { group, name, before, after, at } = fact;
    ChangedForm { group: group.name(), name, before, after, at: *at }
}

fn difference(one: &FactDifference) -> DifferenceForm<'_> {
    DifferenceForm {
        group: one.group.name(),
        name: &one.name,
        before: one.base.join(" or "),
        after: one.new.join(" or "),
    }
}
