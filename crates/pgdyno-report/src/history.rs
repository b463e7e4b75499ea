//! The history of a metric: comparable runs, oldest first, and where the level changed. docs/history.md is the user's side of it,
//! docs/adr/0018-change-points.md the reasons.

mod changed;
mod csv;
pub(crate) mod json;
mod markdown;
mod series;
mod text;

use pgdyno_text::TextStyle;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use pgdyno_measure::change_points::{ChangePoint, Changes, Drift, RUNS_MIN, change_points};
use pgdyno_measure::compare::{Change, Direction};
use pgdyno_results::{AbTime, RecordMetric, RunRecord};

use crate::compare::{FactDifference, chosen, differences};
use changed::ChangeWindow;
use series::{Grouped, grouped};

/// The label by which runs are named, unless another one is given.
const LABEL: &str = "commit";

/// The default of [`HistoryOptions::within`].
pub const WITHIN: usize = 20;

/// Options of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryOptions {
    /// The name of the metric; absent: the one that the runs of a series are known by.
    pub metric: Option<String>,
    /// The share of histories of equal runs that show no change: 0.95.
    pub confidence: f64,
    /// A slowdown within so many of the last runs makes the verdict.
    pub within: usize,
    /// A slowdown by less than this share makes no verdict: 0.02.
    pub margin: f64,
    /// The label by which runs are named, where they have it.
    pub label: Option<String>,
    /// Slices of A/B experiments take part, too.
    pub slices: bool,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { metric: None, confidence: 0.95, within: WITHIN, margin: 0.0, label: None, slices: false }
    }
}

/// What the last runs of a history show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryVerdict {
    /// A slowdown that nothing has made good since.
    Slower,
    /// A change, and no such slowdown.
    Faster,
    /// No change.
    NoChange,
    /// Too few runs to decide.
    Undecided,
}

impl HistoryVerdict {
    /// In words, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoChange => "no-change",
            Self::Undecided => "cannot-tell",
        }
    }
}

/// A run of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// Its id.
    pub id: String,
    /// Its name for readers: its label with the label's name, or the end of its id.
    pub name: String,
    /// Its begin, UTC, RFC 3339.
    pub started_at: String,
    /// Its figure, in the unit of the metric.
    pub value: f64,
    /// The level around it: the geometric mean of the runs between two change points.
    pub level: f64,
    /// Its own labels.
    pub labels: BTreeMap<String, String>,
}

/// A change point.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryChange {
    /// The first run of the new level, counted from 0.
    pub at: usize,
    /// The earliest and the latest run that may be that.
    pub places: (usize, usize),
    /// The change of the level.
    pub change: Change,
    /// The chance that a history of equal runs ever shows so clear a change.
    pub chance: f64,
    /// True if it is a change to the worse.
    pub is_slower: bool,
    /// In what the first run of the new level differs from the last one of the old.
    pub differences: Vec<FactDifference>,
    /// The facts that changed with the level, the likeliest causes first.
    pub changed: Vec<ChangedFact>,
    /// The parts of the clients' time before and after, those that changed most first; empty where the runs have no account.
    pub clients_time: Vec<AbTime>,
}

/// The history of one series of comparable runs.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// What its runs have in common: workload, size, load, target.
    pub name: String,
    /// The metric.
    pub metric: RecordMetric,
    /// The runs, oldest first.
    pub runs: Vec<HistoryRun>,
    /// The change points, oldest first.
    pub changes: Vec<HistoryChange>,
    /// Drifts, oldest first.
    pub drifts: Vec<Drift>,
    /// The standard deviation from run to run within a level, relative; absent for too few runs.
    pub noise: Option<f64>,
    /// What the last runs show.
    pub verdict: HistoryVerdict,
    /// The change point that the verdict is about.
    pub decisive: Option<usize>,
}

impl History {
    /// Returns how many runs came after the first one of a change.
    #[must_use]
    pub fn runs_since(&self, change: &HistoryChange) -> usize {
        self.runs.len() - 1 - change.at
    }

    /// Returns the runs of the levels before and after a change, as ranges.
    #[must_use]
    pub fn around(&self, nth: usize) -> [std::ops::Range<usize>; 2] {
        let at = self.changes[nth].at;
        let before = nth.checked_sub(1).map_or(0, |before| self.changes[before].at);
        let after = self.changes.get(nth + 1).map_or(self.runs.len(), |after| after.at);
        [before..at, at..after]
    }
}

/// The histories of all series of some runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histories {
    /// The series, that of the newest run first.
    pub series: Vec<History>,
    /// The runs that do not take part, and why.
    pub left_out: Vec<(String, String)>,
    /// The share of histories of equal runs that show no change.
    pub confidence: f64,
    /// A slowdown within so many of the last runs makes the verdict.
    pub within: usize,
}

impl Histories {
    /// Returns the verdict of all: slower if one is, undecided if all are.
    #[must_use]
    pub fn verdict(&self) -> HistoryVerdict {
        let has = |verdict| self.series.iter().any(|history| history.verdict == verdict);
        [HistoryVerdict::Slower, HistoryVerdict::Faster, HistoryVerdict::NoChange]
            .into_iter()
            .find(|v| has(*v))
            .unwrap_or(HistoryVerdict::Undecided)
    }
}

/// Returns the histories of these runs, in any order.
///
/// # Errors
/// In words, where no run has a metric of that name.
pub fn histories(records: &[&RunRecord], options: &HistoryOptions) -> Result<Histories, String> {
    let Grouped { series, mut left_out } = grouped(records, options.slices);
    if let Some(name) = options.metric.as_deref().filter(|_| !records.is_empty()) {
        chosen(Some(name), || records.iter().copied())?;
    }
    let mut found = Vec::new();
    for (name, mut runs) in series {
        let all = || runs.iter().copied();
        let metric = match &options.metric {
            Some(name) => RecordMetric::named(name, all()),
            None => Some(RecordMetric::headline(all())),
        };
        runs.retain(|run| {
            let has = metric.as_ref().is_some_and(|metric| metric.value(run).is_some());
            if !has {
                let name = metric.as_ref().map_or(options.metric.as_deref().unwrap_or_default(), RecordMetric::name);
                left_out.push((run.id.clone(), format!("without {name}")));
            }
            has
        });
        if let Some(metric) = metric.filter(|_| !runs.is_empty()) {
            found.push(history(name, metric, &runs, options));
        }
    }
    Ok(Histories { series: found, left_out, confidence: options.confidence, within: options.within })
}

fn history(name: String, metric: RecordMetric, records: &[&RunRecord], options: &HistoryOptions) -> History {
    let values: Vec<f64> = records.iter().filter_map(|record| metric.value(record)).collect();
    let changes = change_points(&values, options.confidence);
    let mut found = changes.clone().unwrap_or_default();
    let names: Vec<_> = records.iter().map(|record| name_of(record, options.label.as_deref())).collect();
    between_names(&mut found, &names);
    let run = |(nth, record): (usize, &&RunRecord)| HistoryRun {
        id: record.id.clone(),
        name: names[nth].clone(),
        started_at: record.started_at.clone(),
        value: values[nth],
        level: found.levels.get(nth).copied().unwrap_or(values[nth]),
        labels: record.labels.clone(),
    };
    let change = |(nth, point): (usize, &ChangePoint)| {
        let [before, after] = levels(&found.points, nth, records.len());
        let label = options.label.as_deref().unwrap_or(LABEL);
        let places = (point.earliest.min(point.at), point.latest.max(point.at));
        let window = ChangeWindow { records, before, after, places, label };
        HistoryChange {
            at: point.at,
            places: (point.earliest, point.latest),
            change: point.change,
            chance: point.chance,
            is_slower: (point.change.ratio < 1.0) != metric.is_latency(),
            differences: differences(&[records[point.at - 1]], &[records[point.at]]),
            changed: window.changed(),
            clients_time: window.accounts(),
        }
    };
    let mut history = History {
        name,
        runs: records.iter().enumerate().map(run).collect(),
        changes: found.points.iter().enumerate().map(change).collect(),
        drifts: found.drifts,
        noise: changes.map(|changes| changes.noise),
        verdict: HistoryVerdict::Undecided,
        decisive: None,
        metric,
    };
    if history.noise.is_some() {
        (history.verdict, history.decisive) = judged(&history, options);
    }
    history
}

/// Returns the runs of the levels before and after a change point, of `runs` in all.
fn levels(points: &[ChangePoint], nth: usize, runs: usize) -> [Range<usize>; 2] {
    let before = nth.checked_sub(1).map_or(0, |before| points[before].at);
    let after = points.get(nth + 1).map_or(runs, |after| after.at);
    [before..points[nth].at, points[nth].at..after]
}

/// Moves a change point that is between two runs of the same commit to the nearest place between two commits, if it may be there:
/// a commit is the likelier cause.
fn between_names(found: &mut Changes, names: &[String]) {
    for nth in 0..found.points.len() {
        let ChangePoint { at, earliest, latest, .. } = found.points[nth];
        let [before, after] = levels(&found.points, nth, names.len());
        let places = earliest.max(before.start + 1)..=latest.min(after.end - 1);
        let is_between = |place: &usize| names[place - 1] != names[*place];
        let Some(place) = places.filter(is_between).min_by_key(|place| place.abs_diff(at)) else { continue };
        let (old, new) = (found.levels[at - 1], found.levels[at]);
        if let Some(levels) = found.levels.get_mut(place..at) {
            levels.fill(new);
        }
        if let Some(levels) = found.levels.get_mut(at..place) {
            levels.fill(old);
        }
        found.points[nth].at = place;
    }
}

/// Returns the verdict, and the change point that it is about.
fn judged(history: &History, options: &HistoryOptions) -> (HistoryVerdict, Option<usize>) {
    let first = history.runs.len().saturating_sub(options.within);
    let recent = || (0..history.changes.len()).rev().filter(|nth| history.changes[*nth].at >= first);
    let is_unmended = |nth: &usize| {
        let change = &history.changes[*nth];
        let is_large = (change.change.ratio - 1.0).abs() >= options.margin;
        change.is_slower && is_large && !is_made_good(history, *nth, options.confidence)
    };
    match (recent().find(is_unmended), recent().next()) {
        (Some(slower), _) => (HistoryVerdict::Slower, Some(slower)),
        (None, Some(nth)) if !history.changes[nth].is_slower => (HistoryVerdict::Faster, Some(nth)),
        _ => (HistoryVerdict::NoChange, None),
    }
}

/// Returns true if later changes have brought the level back: the last runs are not shown to be worse than those before the slowdown.
fn is_made_good(history: &History, nth: usize, confidence: f64) -> bool {
    let values = |runs: std::ops::Range<usize>| history.runs[runs].iter().map(|run| run.value).collect::<Vec<_>>();
    let last = history.changes.len() - 1;
    if nth == last {
        return false;
    }
    let ([before, _], [_, now]) = (history.around(nth), history.around(last));
    let change = Change::of_runs(&values(before), &values(now), confidence);
    let worse = if history.metric.is_latency() { Direction::Up } else { Direction::Down };
    change.is_none_or(|change| change.direction() != worse)
}

/// Returns the name of a run for readers: a label if it has it, else the end of its id.
fn name_of(record: &RunRecord, label: Option<&str>) -> String {
    let label = label.unwrap_or(LABEL);
    let end = || record.id.rsplit('-').next().unwrap_or(&record.id).to_owned();
    record.label(label).map_or_else(end, |value| format!("{label} {value}"))
}

/// How many more runs a history needs before it can show a change.
fn runs_missing(history: &History) -> usize {
    RUNS_MIN.saturating_sub(history.runs.len())
}

/// Returns the run of the same series that began last before the run `id`.
#[must_use]
pub fn before(records: &[&RunRecord], id: &str) -> Option<String> {
    let Grouped { series, .. } = grouped(records, true);
    let (runs, at) = series.iter().find_map(|(_, runs)| Some((runs, runs.iter().position(|run| run.id == id)?)))?;
    Some(runs[at.checked_sub(1)?].id.clone())
}

/// Renders histories.
pub type RenderHistory = fn(&Histories, TextStyle, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderHistory)] =
    &[("text", text::render), ("json", json::render), ("csv", csv::render), ("markdown", markdown::render)];

pub use changed::ChangedFact;
pub use text::{change_lines, drift_text, headline, left_out};

#[cfg(test)]
mod tests;
