//! Runs held against runs: in what they differ, by how much their figures changed, and how sure that is. docs/compare.md
//! is the user's side of it, docs/adr/0008-comparisons.md the reasons.

pub(crate) mod account;
mod facts;
mod figures;
pub(crate) mod json;
mod markdown;
mod plans;
mod tasks;
mod text;
mod two_sides;
pub(crate) mod words;

use pgdyno_text::TextStyle;
use std::io::{self, Write};

use pgdyno_measure::compare::{Change, Held};
use pgdyno_results::{AbTime, RecordMetric, RunRecord, Series, Status};

pub use facts::{FactDifference, FactGroup};
pub(crate) use facts::{differences, settings, work};
pub(crate) use figures::{deviation, mean};
pub use plans::{PlanChange, Plans, changed_plans};
pub use tasks::{TaskChange, Tasks, task_times};

/// A run that is to take part.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Its record.
    pub record: RunRecord,
    /// Its intervals; empty where there are none to be had.
    pub series: Series,
}

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The name of the metric of the verdict; absent: the one that the runs are known by.
    pub metric: Option<String>,
    /// The share of intervals that are to hold the truth: 0.95.
    pub confidence: f64,
    /// The share by which NEW may be slower: 0.03.
    pub loss_max: Option<f64>,
    /// Give a verdict for runs of different work, too.
    pub anyway: bool,
    /// The standard deviation of a figure from run to run, relative, where it is known from elsewhere. Without it, one run of
    /// each side has no verdict.
    pub run_noise: Option<f64>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { metric: None, confidence: 0.95, loss_max: None, anyway: false, run_noise: None }
    }
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeVerdict {
    /// The whole interval is on the better side of no change.
    Faster,
    /// The whole interval is on the worse side.
    Slower,
    /// The interval holds no change.
    NoDifference,
    /// There is no interval.
    Undecided,
    /// The runs did different work.
    NotComparable,
}

impl ChangeVerdict {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference shown",
            Self::Undecided => "cannot tell",
            Self::NotComparable => "not comparable",
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedSide {
    /// The runs that take part.
    pub runs: Vec<String>,
    /// The runs that do not, and why.
    pub left_out: Vec<(String, String)>,
}

/// One figure of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Which.
    pub metric: RecordMetric,
    /// The base: the geometric mean of its runs.
    pub base: f64,
    /// The geometric mean of the other side.
    pub new: f64,
    /// The change, where it has an interval.
    pub change: Option<Change>,
    /// The verdict.
    pub verdict: ChangeVerdict,
}

/// A limit and whether it is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The share by which NEW may be slower.
    pub loss_max: f64,
    /// The verdict on it; absent without an interval, or without a verdict on the change.
    pub held: Option<Held>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// BASE and NEW.
    pub sides: [ComparedSide; 2],
    /// Facts in which the sides differ.
    pub differences: Vec<FactDifference>,
    /// The share of intervals that hold the truth.
    pub confidence: f64,
    /// The figures, the one of the verdict first.
    pub figures: Vec<Figure>,
    /// The tasks of a stage that does each a few times, such as the queries of a set.
    pub tasks: Tasks,
    /// The verdict, by the first figure alone; with a second one, by both.
    pub verdict: ChangeVerdict,
    /// The name of the other figure of the verdict, where runs have two sides: transactions and queries.
    pub other_side: Option<String>,
    /// The reason for a verdict that decides nothing; empty otherwise.
    pub reason: String,
    /// The limit, where one was given.
    pub limit: Option<Limit>,
    /// The parts of the clients' time of both sides, those that changed most first; empty where a run has no account.
    pub clients_time: Vec<AbTime>,
    /// Queries whose plans changed shape, where both sides have plans.
    pub plans: Option<Plans>,
    /// Notes for the reader of the verdict.
    pub notes: Vec<String>,
}

/// Compares.
///
/// # Errors
/// In words, where a side has no run left that counts, or a run does not have the metric.
pub fn compare(base: Vec<ComparedRun>, new: Vec<ComparedRun>, options: &CompareOptions) -> Result<Comparison, String> {
    let (mut base, left_out_of_base) = sort_out(base);
    let (mut new, left_out_of_new) = sort_out(new);
    for (name, side, left_out) in [("BASE", &base, &left_out_of_base), ("NEW", &new, &left_out_of_new)] {
        if side.is_empty() {
            let why: Vec<_> = left_out.iter().map(|(run, why)| format!("{run} {why}")).collect();
            return Err(format!("{name} has no run that counts: {}", why.join("; ")));
        }
    }
    let records = || base.iter().chain(&new).map(|run| &run.record);
    let metric = chosen(options.metric.as_deref(), records)?;
    if let Some(without) = records().find(|record| metric.value(record).is_none()) {
        return Err(format!("{} has no {}", without.id, metric.name()));
    }
    let side = |runs: &[ComparedRun]| runs.iter().map(|run| run.record.clone()).collect::<Vec<_>>();
    let (base_records, new_records) = (side(&base), side(&new));
    let differences = differences(&base_records.iter().collect::<Vec<_>>(), &new_records.iter().collect::<Vec<_>>());
    let decisive: Vec<_> = differences.iter().filter(|d| d.is_decisive).map(words::difference).collect();
    let is_comparable = decisive.is_empty() || options.anyway;
    let mut figures = figures::figures(&mut base, &mut new, metric.clone(), options);
    if !is_comparable {
        figures.iter_mut().for_each(|figure| figure.verdict = ChangeVerdict::NotComparable);
    }
    let both = two_sides::judge(&figures, base.iter().chain(&new).map(|run| &run.record), options);
    let verdict = match &both {
        Some(both) => both.verdict,
        None => figures.first().map_or(ChangeVerdict::Undecided, |figure| figure.verdict),
    };
    let reason = match (verdict, &both) {
        (ChangeVerdict::NotComparable, _) => decisive.join("; "),
        (ChangeVerdict::Undecided, Some(both)) if !both.reason.is_empty() => both.reason.clone(),
        (ChangeVerdict::Undecided, _) => figures::no_interval(&base, &new, options),
        _ => String::new(),
    };
    let judged = figures.first().filter(|figure| is_comparable && figure.verdict != ChangeVerdict::Undecided);
    let change = judged.and_then(|figure| figure.change);
    let limit = options.loss_max.map(|loss_max| {
        let tried = base.len().max(new.len());
        let held = |change, metric| figures::held(&change, metric, loss_max, options.confidence, tried);
        let first = change.map(|change| held(change, &metric));
        let held = match &both {
            None => first,
            // Both sides must hold it.
            Some(both) => {
                let other = figures.iter().find(|figure| figure.metric.name() == both.other);
                let other = other.and_then(|figure| Some(held(figure.change?, &figure.metric)));
                first.zip(other).map(|(first, other)| two_sides::worse(first, other))
            }
        };
        Limit { loss_max, held }
    });
    let clients_time = account::changes(&base_records, &new_records);
    let plans = plans::changes(&base_records, &new_records);
    let tasks = tasks::tasks(&base, &new, options, is_comparable);
    let other_side = both.map(|both| both.other);
    let mut notes = words::notes(&base, &new, &figures, !decisive.is_empty() && options.anyway, options);
    if other_side.is_some() {
        notes.retain(|note| !note.starts_with(words::BY_ONE));
        notes.push(two_sides::NOTE.to_owned());
    }
    notes.extend(tasks::note(&tasks, [base.len(), new.len()], options));
    notes.extend(plans::missing(&base_records, &new_records));
    notes.extend(words::answers(&base_records, &new_records));
    let side = |runs: &[ComparedRun], left_out| ComparedSide {
        runs: runs.iter().map(|run| run.record.id.clone()).collect(),
        left_out,
    };
    let sides = [side(&base, left_out_of_base), side(&new, left_out_of_new)];
    let confidence = options.confidence;
    Ok(Comparison {
        sides,
        differences,
        confidence,
        figures,
        tasks,
        verdict,
        other_side,
        reason,
        limit,
        clients_time,
        plans,
        notes,
    })
}

/// The metric of this name, or the one that all of these runs are known by.
///
/// # Errors
/// In words, where no run has a metric of this name.
pub(crate) fn chosen<'a, R>(name: Option<&str>, records: impl Fn() -> R) -> Result<RecordMetric, String>
where
    R: Iterator<Item = &'a RunRecord>,
{
    match name {
        None => Ok(RecordMetric::headline(records())),
        Some(name) => {
            let named = RecordMetric::named(name, records());
            let why = match named {
                Some(metric) if metric.is_judged() => return Ok(metric),
                Some(_) => format!("more of '{name}' is neither better nor worse"),
                None => format!("the runs have no metric '{name}'"),
            };
            let known = RecordMetric::comparable(RecordMetric::of_workloads(records()));
            let known = known.map(|metric| metric.name().to_owned()).collect::<Vec<_>>().join(", ");
            Err(format!("{why}; the metrics are {known}"))
        }
    }
}

/// Returns true if a run can take part: it is complete, and committed something.
#[must_use]
pub fn counts(record: &RunRecord) -> bool {
    record.status == Status::Complete && record.summary.as_ref().is_some_and(|summary| summary.committed > 0)
}

/// Runs that count, and runs that do not, with the reason.
fn sort_out(runs: Vec<ComparedRun>) -> (Vec<ComparedRun>, Vec<(String, String)>) {
    let (mut counted, mut left_out): (Vec<ComparedRun>, Vec<_>) = (Vec::new(), Vec::new());
    for run in runs {
        let record = &run.record;
        let why = match record.status {
            Status::Complete if !counts(record) => "committed nothing".to_owned(),
            Status::Complete if counted.iter().any(|other| other.record.id == record.id) => "is named twice".to_owned(),
            Status::Complete => {
                counted.push(run);
                continue;
            }
            status => {
                let why = record.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
                format!("is {}{why}", status.name())
            }
        };
        left_out.push((record.id.clone(), why));
    }
    (counted, left_out)
}

/// Renders a comparison.
pub type RenderComparison = fn(&Comparison, TextStyle, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderComparison)] =
    &[("text", text::render), ("markdown", markdown::render), ("json", json::render)];
