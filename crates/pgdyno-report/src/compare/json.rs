//! For programs. Changes are in percent; latencies in nanoseconds.

use std::io::{self, Write};

use pgdyno_measure::compare::{Change, Held};
use pgdyno_results::AbTime;
use pgdyno_text::TextStyle;
use serde::Serialize;

use super::{ComparedSide, Comparison, FactDifference, Figure, Limit, PlanChange, Plans, TaskChange};
use crate::forms::{FORMAT_VERSION, LeftOut, left_out, write};
use crate::metric::unit_in_json;

/// A comparison of runs, as `pgdyno compare --format json` prints it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ComparisonForm<'a> {
    /// Version of this form.
    format_version: u32,
    /// `faster`, `slower`, `no difference shown`, `cannot tell` or `not comparable`.
    verdict: &'static str,
    /// The reason for a verdict that decides nothing; empty otherwise.
    reason: &'a str,
    /// Percentage of intervals that hold the truth.
    confidence_percent: f64,
    /// The limit of `--fail-if-slower`; null without one.
    limit: Option<LimitForm>,
    /// The runs of BASE.
    base: SideForm<'a>,
    /// The runs of NEW.
    new: SideForm<'a>,
    /// The figures, the one of the verdict first.
    figures: Vec<FigureForm<'a>>,
    /// The tasks of a stage that does each a few times, such as queries.
    tasks: Vec<TaskForm<'a>>,
    /// Facts in which the sides differ.
    differences: Vec<DifferenceForm<'a>>,
    /// The parts of the clients' time of both sides, those that changed most first; empty where a run has no account.
    difference_of_accounts: Vec<TimePartForm<'a>>,
    /// Queries whose plans changed; null unless both sides have plans.
    plans: Option<PlansForm<'a>>,
    /// Notes for the reader of the verdict.
    notes: &'a [String],
}

/// A limit and whether it is held.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LimitForm {
    /// How much slower NEW may be.
    slower_percent_max: f64,
    /// `yes`, `no` or `cannot tell`.
    held: &'static str,
    /// Runs of each side that would decide; null if not known.
    runs_needed_of_each: Option<u32>,
}

/// The runs of one side.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SideForm<'a> {
    /// Names of the runs that count.
    runs: &'a [String],
    /// Runs that do not, and why.
    left_out: Vec<LeftOut<'a>>,
}

/// A figure of both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FigureForm<'a> {
    /// Name of the metric.
    metric: &'a str,
    /// Its unit: `ns`, `s`, or the metric's own name.
    unit: &'a str,
    /// Geometric mean of the runs of BASE.
    base: f64,
    /// Geometric mean of the runs of NEW.
    new: f64,
    /// The change, its interval and the verdict.
    #[serde(flatten)]
    change: ChangeForm,
}

/// A change, its interval and the verdict.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeForm {
    /// The change from BASE to NEW; null where BASE is 0.
    change_percent: Option<f64>,
    /// Lower end of its interval; null if it is open or there is none.
    change_percent_low: Option<f64>,
    /// Upper end of its interval; null if it is open or there is none.
    change_percent_high: Option<f64>,
    /// Words as those of the whole.
    verdict: &'static str,
}

/// A task of both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TaskForm<'a> {
    /// Its name, such as `q7`.
    name: &'a str,
    /// Geometric mean of its time on BASE.
    base_ns: f64,
    /// Geometric mean of its time on NEW.
    new_ns: f64,
    /// The change, its interval and the verdict.
    #[serde(flatten)]
    change: ChangeForm,
}

/// A fact in which the sides differ.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DifferenceForm<'a> {
    /// `plan`, `server`, `settings` or another group of facts.
    group: &'static str,
    /// Its name.
    name: &'a str,
    /// Its values on BASE.
    base: &'a [String],
    /// Its values on NEW.
    new: &'a [String],
    /// Whether it makes the runs different work, which are not compared then.
    different_work: bool,
}

/// A part of the clients' time of both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct TimePartForm<'a> {
    /// Its name.
    part: &'a str,
    /// Its mean share in the runs of BASE, 0 to 1.
    base_share: f64,
    /// Its mean share in the runs of NEW, 0 to 1.
    new_share: f64,
    /// The time of a committed transaction that it takes in the runs of BASE, in nanoseconds.
    base_ns: f64,
    /// In the runs of NEW.
    new_ns: f64,
}

/// Queries whose plans changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PlansForm<'a> {
    /// Queries that were compared.
    compared: usize,
    /// Those whose plan has another shape.
    changed: Vec<PlanChangeForm<'a>>,
}

/// A query whose plan has another shape.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PlanChangeForm<'a> {
    /// Its name.
    query: &'a str,
    /// Its time on BASE in seconds; null if not measured.
    base_s: Option<f64>,
    /// Its time on NEW in seconds; null if not measured.
    new_s: Option<f64>,
    /// The change of its time; null if not measured.
    change_percent: Option<f64>,
    /// What changed, in words.
    changes: &'a [String],
}

pub(super) fn render(comparison: &Comparison, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let [base, new] = comparison.sides.each_ref().map(side);
    let form = ComparisonForm {
        format_version: FORMAT_VERSION,
        verdict: comparison.verdict.name(),
        reason: &comparison.reason,
        confidence_percent: (comparison.confidence * 1e6).round() / 1e4,
        limit: comparison.limit.as_ref().map(limit),
        base,
        new,
        figures: comparison.figures.iter().map(figure).collect(),
        tasks: comparison.tasks.list.iter().map(task).collect(),
        differences: comparison.differences.iter().map(difference).collect(),
        difference_of_accounts: comparison.clients_time.iter().map(time_part).collect(),
        plans: comparison.plans.as_ref().map(plans),
        notes: &comparison.notes,
    };
    write(&form, out)
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// An end of an interval; none where it is open.
fn end(ratio: Option<f64>) -> Option<f64> {
    ratio.filter(|ratio| *ratio > 0.0 && ratio.is_finite()).map(percent)
}

fn side(side: &ComparedSide) -> SideForm<'_> {
    SideForm { runs: &side.runs, left_out: left_out(&side.left_out) }
}

fn change(base: f64, new: f64, change: Option<Change>, verdict: super::ChangeVerdict) -> ChangeForm {
    ChangeForm {
        change_percent: Some(percent(new / base)).filter(|percent| percent.is_finite()),
        change_percent_low: end(change.map(|change| change.low)),
        change_percent_high: end(change.map(|change| change.high)),
        verdict: verdict.name(),
    }
}

fn figure(figure: &Figure) -> FigureForm<'_> {
    FigureForm {
        metric: figure.metric.name(),
        unit: unit_in_json(&figure.metric),
        base: figure.base,
        new: figure.new,
        change: change(figure.base, figure.new, figure.change, figure.verdict),
    }
}

fn task(task: &TaskChange) -> TaskForm<'_> {
    TaskForm {
        name: &task.name,
        base_ns: task.base_ns,
        new_ns: task.new_ns,
        change: change(task.base_ns, task.new_ns, task.change, task.verdict),
    }
}

fn difference(difference: &FactDifference) -> DifferenceForm<'_> {
    DifferenceForm {
        group: difference.group.name(),
        name: &difference.name,
        base: &difference.base,
        new: &difference.new,
        different_work: difference.is_decisive,
    }
}

pub(crate) fn time_part(part: &AbTime) -> TimePartForm<'_> {
    let AbTime { name, a_share, b_share, a_ns, b_ns } = part;
    TimePartForm { part: name, base_share: *a_share, new_share: *b_share, base_ns: *a_ns, new_ns: *b_ns }
}

fn plans(plans: &Plans) -> PlansForm<'_> {
    PlansForm { compared: plans.compared, changed: plans.changed.iter().map(plan_change).collect() }
}

fn plan_change(change: &PlanChange) -> PlanChangeForm<'_> {
    let [base_s, new_s] = change.seconds;
    let change_percent = change.ratio().map(percent);
    PlanChangeForm { query: &change.query, base_s, new_s, change_percent, changes: &change.changes }
}

fn limit(limit: &Limit) -> LimitForm {
    let (held, runs_needed_of_each) = match limit.held {
        Some(Held::Yes) => ("yes", None),
        Some(Held::No) => ("no", None),
        Some(Held::Unknown { runs }) => ("cannot tell", runs),
        None => ("cannot tell", None),
    };
    LimitForm { slower_percent_max: limit.loss_max * 100.0, held, runs_needed_of_each }
}
