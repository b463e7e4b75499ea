//! How a figure grows with clients, CPUs, nodes or anything else in which runs differ, compared with growth in
//! proportion.

mod axis;
pub(crate) mod json;
pub(crate) mod svg;
mod table;

use pgdyno_text::TextStyle;
use std::io::{self, Write};

pub use axis::Axis;
use pgdyno_results::{RecordMetric, RunRecord, Status};

use crate::compare::{FactDifference, chosen, deviation, differences, mean};

/// Maximum number of facts that are named; the others are counted.
const FACTS_MAX: usize = 8;

/// A figure along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// What grows.
    pub axis: Axis,
    /// The figure.
    pub metric: RecordMetric,
    /// The points in the axis's order; at least one.
    pub points: Vec<ScalingPoint>,
    /// Runs that are left out, and why.
    pub left_out: Vec<(String, String)>,
    /// What a reader must know before trusting it.
    pub notes: Vec<String>,
}

/// The runs at one position of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingPoint {
    /// The position as text.
    pub label: String,
    /// The position as a number, if it is one.
    pub at: Option<f64>,
    /// The number of runs.
    pub runs: usize,
    /// The geometric mean of their figures, as comparisons have it.
    pub mean: f64,
    /// The least of them.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// Their standard deviation; absent for one run.
    pub stddev: Option<f64>,
    /// The mean divided by that of the first point.
    pub ratio: f64,
    /// The ratio if the figure grew in proportion; absent for positions that are no numbers, and for latencies.
    pub linear: Option<f64>,
}

impl ScalingPoint {
    /// Returns the ratio divided by the one in proportion.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        self.linear.map(|linear| self.ratio / linear)
    }
}

impl Scaling {
    /// Returns `NOPM by clients`.
    pub(crate) fn title(&self) -> String {
        table::title(self)
    }

    /// Returns the table: titles, and rows of cells.
    pub(crate) fn rows(&self) -> (Vec<&str>, Vec<Vec<String>>) {
        table::rows(self)
    }
}

/// Groups runs by their position on an axis.
///
/// # Errors
/// A message, when no run is left.
pub fn scaling(records: Vec<RunRecord>, axis: &Axis, metric: Option<&str>) -> Result<Scaling, String> {
    let (mut counted, mut left_out): (Vec<RunRecord>, Vec<_>) = (Vec::new(), Vec::new());
    for record in records {
        match refusal(&record, &counted) {
            Some(why) => left_out.push((record.id, why)),
            None => counted.push(record),
        }
    }
    let metric = chosen(metric, || counted.iter())?;
    let mut groups: Vec<(axis::AxisPoint, Vec<f64>)> = Vec::new();
    let mut placed = Vec::new();
    for record in counted {
        let value = metric.value(&record).ok_or_else(|| format!("has no {}", metric.name()));
        match (axis.place(&record), value) {
            (Ok(place), Ok(value)) => {
                match groups.iter_mut().find(|(known, _)| *known == place) {
                    Some((_, values)) => values.push(value),
                    None => groups.push((place, vec![value])),
                }
                placed.push(record);
            }
            (Err(why), _) | (_, Err(why)) => left_out.push((record.id, why)),
        }
    }
    if groups.is_empty() {
        let why: Vec<_> = left_out.iter().map(|(run, why)| format!("{run} {why}")).collect();
        return Err(format!("no run counts: {}", why.join("; ")));
    }
    // Positions that are no numbers stay in the given order.
    if groups.iter().all(|(place, _)| place.at.is_some()) {
        groups.sort_by(|(a, _), (b, _)| a.at.partial_cmp(&b.at).unwrap_or(std::cmp::Ordering::Equal));
    }
    let points = points(&groups, axis, &metric);
    let notes = notes(&placed, axis, &points);
    Ok(Scaling { axis: axis.clone(), metric, points, left_out, notes })
}

/// Returns why a run is left out.
fn refusal(record: &RunRecord, counted: &[RunRecord]) -> Option<String> {
    match record.status {
        Status::Complete => counted.iter().any(|other| other.id == record.id).then(|| "is named twice".to_owned()),
        status => {
            let why = record.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
            Some(format!("is {}{why}", status.name()))
        }
    }
}

fn points(groups: &[(axis::AxisPoint, Vec<f64>)], axis: &Axis, metric: &RecordMetric) -> Vec<ScalingPoint> {
    let numbers = axis.is_proportional() && groups.iter().all(|(place, _)| place.at.is_some()) && !metric.is_latency();
    let first = groups.first().map(|(place, values)| (place.at.unwrap_or(1.0), mean(values)));
    let (first_at, first_mean) = first.unwrap_or((1.0, 1.0));
    let point = |(place, values): &(axis::AxisPoint, Vec<f64>)| ScalingPoint {
        label: place.label.clone(),
        at: place.at,
        runs: values.len(),
        mean: mean(values),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(0.0, f64::max),
        stddev: deviation(values),
        ratio: mean(values) / first_mean,
        linear: place.at.filter(|_| numbers).map(|at| at / first_at),
    };
    groups.iter().map(point).collect()
}

fn notes(records: &[RunRecord], axis: &Axis, points: &[ScalingPoint]) -> Vec<String> {
    let mut notes = Vec::new();
    let scale_name = records.first().map_or("", |record| &record.plan.scale_name);
    let records: Vec<&RunRecord> = records.iter().collect();
    let others: Vec<FactDifference> =
        differences(&records, &[]).into_iter().filter(|difference| !axis.is_about(difference, scale_name)).collect();
    for (decisive, words) in
        [(true, "the runs did different work, beside the axis"), (false, "the runs differ in more than the axis")]
    {
        let named = |d: &FactDifference| format!("{} {} ({})", d.group.name(), d.name, d.base.join(", "));
        let names: Vec<_> = others.iter().filter(|d| d.is_decisive == decisive).map(named).collect();
        if !names.is_empty() {
            let more = names.len().saturating_sub(FACTS_MAX);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let names: Vec<_> = names.into_iter().take(FACTS_MAX).collect();
            notes.push(format!("{words}: {}{more}", names.join("; ")));
        }
    }
    if points.len() == 1 {
        notes.push("all runs are at one place of the axis: nothing grows".to_owned());
    }
    if points.iter().any(|point| point.runs == 1) {
        notes.push("a place with one run shows nothing of what differs from run to run".to_owned());
    }
    notes
}

/// Renders a scaling.
pub type RenderScaling = fn(&Scaling, TextStyle, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderScaling)] = &[
    ("text", table::text),
    ("markdown", table::markdown),
    ("csv", table::csv),
    ("json", json::render),
    ("svg", svg::render),
];
