//! For programs; latencies are in nanoseconds.

use std::io::{self, Write};

use pgdyno_text::TextStyle;
use serde::Serialize;

use super::{Scaling, ScalingPoint};
use crate::forms::{FORMAT_VERSION, LeftOut, left_out, write};
use crate::metric::unit_in_json;

/// How a figure grows, as `pgdyno scaling --format json` prints it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ScalingForm<'a> {
    /// Version of this form.
    format_version: u32,
    /// What grows, such as `clients`.
    axis: &'a str,
    /// Name of the metric.
    metric: &'a str,
    /// Its unit: `ns`, `s`, or the metric's own name.
    unit: &'a str,
    /// The places of the axis in its order.
    points: Vec<PointForm<'a>>,
    /// Runs that do not take part, and why.
    left_out: Vec<LeftOut<'a>>,
    /// Notes for the reader.
    notes: &'a [String],
}

/// The runs at one place of the axis.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PointForm<'a> {
    /// The place as text.
    label: &'a str,
    /// The place as a number; null if it is none.
    value: Option<f64>,
    /// Number of runs.
    runs: usize,
    /// Geometric mean of their figures.
    mean: f64,
    /// Least of them.
    min: f64,
    /// Greatest of them.
    max: f64,
    /// Their standard deviation; null for one run.
    stddev: Option<f64>,
    /// The mean divided by that of the first point.
    ratio: f64,
    /// The ratio if the figure grew in proportion; null where that has no meaning.
    linear: Option<f64>,
    /// The ratio divided by the one in proportion; null where that has no meaning.
    efficiency: Option<f64>,
}

/// Writes it as JSON.
pub(super) fn render(scaling: &Scaling, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let form = ScalingForm {
        format_version: FORMAT_VERSION,
        axis: scaling.axis.title(),
        metric: scaling.metric.name(),
        unit: unit_in_json(&scaling.metric),
        points: scaling.points.iter().map(point).collect(),
        left_out: left_out(&scaling.left_out),
        notes: &scaling.notes,
    };
    write(&form, out)
}

fn point(point: &ScalingPoint) -> PointForm<'_> {
    PointForm {
        label: &point.label,
        value: point.at,
        runs: point.runs,
        mean: point.mean,
        min: point.min,
        max: point.max,
        stddev: point.stddev,
        ratio: point.ratio,
        linear: point.linear,
        efficiency: point.efficiency(),
    }
}
