//! The sentences and rows of an experiment, the same in every format.

use pgdyno_measure::ab::UNITS_MIN;
use pgdyno_results::{AbFigure, AbPlanChange, AbRecord, AbStatement, AbTask, AbTimePart, AbVerdict, RecordMetric};
use pgdyno_text::brief::percent;
use pgdyno_text::units::{duration, ms, plain_plural, rate, us};
use pgdyno_text::wrap::one_line;

use super::functions::{self, FunctionTime};
use crate::compare::words::{share, signed};
use crate::difference::{self, bare, signed_ms};
use crate::metric::value_text;

/// From this ratio on, a change is said as a ratio.
const RATIO_MIN: f64 = 1.5;

/// The heading of the rows of [`parts`].
pub(crate) const PARTS: &str = "share of the clients' time, and time in each transaction";

/// Rows of the clients' time at most.
const PARTS_MAX: usize = 5;

/// A part whose share changes by less than this has not moved.
const MOVED_MIN: f64 = 0.05;

/// Functions at most.
const FUNCTIONS_MAX: usize = 3;

/// Characters of a function's name at most.
const NAME_MAX: usize = 32;

/// The heading of the rows of [`statements`].
pub(crate) const STATEMENTS: &str = "time of statements in each transaction, ms";

/// Rows of statements at most.
const STATEMENTS_MAX: usize = 5;

/// A statement whose time changes by less than this share of a transaction has not moved.
const STATEMENT_MOVED_MIN: f64 = 0.05;

/// Characters of a statement in a row, beside three numbers and an interval in 80 columns.
const STATEMENT_COLUMNS: usize = 26;

/// Plans that are named.
const PLANS_MAX: usize = 3;

/// Characters of a statement before its plans.
const PLAN_COLUMNS: usize = 60;

/// A row of the table of both sides.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) change: String,
}

impl Row {
    pub(crate) fn heading() -> Self {
        let [name, a, b, change] = ["", "A", "B", "change"].map(str::to_owned);
        Self { name, a, b, change }
    }
}

pub(crate) fn ratio_of(percent: f64) -> f64 {
    1.0 + percent / 100.0
}

/// Returns true if the figure is a time, of which less is faster.
fn is_time(record: &AbRecord, change_percent: f64) -> bool {
    matches!((record.verdict, change_percent < 0.0), (AbVerdict::Faster, true) | (AbVerdict::Slower, false))
}

/// Returns what the experiment shows: `B is 2.1 times as fast as A (95 %: 1.9 to 2.3)`.
pub(crate) fn verdict(record: &AbRecord) -> String {
    let so_far = record.figures.first().map(|figure| figure.change_percent);
    let Some((change, [low, high])) = record.change_percent.zip(record.interval_percent) else {
        let figure = title(record, &record.metric);
        return match so_far {
            Some(change) => {
                format!("cannot tell: {figure} {} so far; too few units for an interval", signed(ratio_of(change)))
            }
            None => "cannot tell: too few units were measured".to_owned(),
        };
    };
    let confidence = share(record.confidence);
    let ratios = [change, low, high].map(ratio_of);
    let interval = format!("({confidence}: {} to {})", signed(ratios[1]), signed(ratios[2]));
    let is_time = is_time(record, change);
    // The speed of B, relative to A.
    let [speed, one, other] = ratios.map(|ratio| if is_time { 1.0 / ratio } else { ratio });
    let (slowest, fastest) = (one.min(other), one.max(other));
    match record.verdict {
        AbVerdict::Faster if speed >= RATIO_MIN => {
            format!("B is {} times as fast as A ({confidence}: {} to {})", times(speed), times(slowest), times(fastest))
        }
        AbVerdict::Slower if speed <= 1.0 / RATIO_MIN => {
            let (speed, slowest, fastest) = (times(1.0 / speed), times(1.0 / fastest), times(1.0 / slowest));
            format!("B is slower: A is {speed} times as fast ({confidence}: {slowest} to {fastest})")
        }
        AbVerdict::Faster | AbVerdict::Slower => {
            let [size, one, other] = [change, low, high].map(|percent| format!("{:.1} %", percent.abs()));
            let (least, most) = if low.abs() < high.abs() { (one, other) } else { (other, one) };
            let (is_faster, more_or_less) = match record.verdict {
                AbVerdict::Faster => ("faster", "less"),
                _ => ("slower", "more"),
            };
            if is_time {
                format!(
                    "B is {is_faster}: it takes {size} {more_or_less} time than A ({confidence}: {least} to {most})"
                )
            } else {
                format!("B is {size} {is_faster} than A ({confidence}: {least} to {most})")
            }
        }
        AbVerdict::NoDifference => format!("no difference larger than {} {interval}", share(record.margin)),
        AbVerdict::Undecided => {
            format!("cannot tell: {} {} so far {interval}", title(record, &record.metric), signed(ratios[0]))
        }
    }
}

fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.1}") }
}

/// Returns in what the sides differ: `synchronous_commit on → off`, or a line for each.
pub(crate) fn sides(record: &AbRecord) -> Vec<String> {
    let (a, b) = (&record.a.differs, &record.b.differs);
    if let ([a], [b]) = (a.as_slice(), b.as_slice())
        && let Some(((name, from), (other, to))) = a.split_once('=').zip(b.split_once('='))
        && name == other
        && [from, to].iter().all(|value| !value.contains(['=', ' ']))
    {
        return vec![format!("{name} {from} → {to}")];
    }
    let side = |name: &str, differs: &[String]| {
        let differs = if differs.is_empty() { "as given".to_owned() } else { differs.join(", ") };
        format!("{name}: {differs}")
    };
    vec![side("A", a), side("B", b)]
}

pub(crate) fn title(record: &AbRecord, name: &str) -> String {
    match RecordMetric::common(name) {
        Some(metric) => metric.title().to_owned(),
        None if record.metric_title.is_empty() => name.to_uppercase(),
        None => record.metric_title.clone(),
    }
}

/// Returns the figures of both sides.
pub(crate) fn figures(record: &AbRecord) -> Vec<Row> {
    let row = |figure: &AbFigure| {
        let value = |value: f64| match RecordMetric::common(&figure.name) {
            Some(metric) => value_text(&metric, value),
            None => rate(value),
        };
        let change = signed(ratio_of(figure.change_percent));
        let interval = figure.interval_percent.map_or_else(String::new, |[low, high]| {
            format!("  ({} to {})", signed(ratio_of(low)), signed(ratio_of(high)))
        });
        Row {
            name: title(record, &figure.name),
            a: value(figure.a),
            b: value(figure.b),
            change: format!("{change}{interval}"),
        }
    };
    record.figures.iter().map(row).collect()
}

/// Returns the parts of the clients' time that moved, and the largest one of B.
pub(crate) fn parts(record: &AbRecord) -> Vec<Row> {
    let largest = largest(record).map(|part| part.time.name.as_str());
    let is_shown = |part: &&AbTimePart| {
        (part.time.b_share - part.time.a_share).abs() >= MOVED_MIN || Some(part.time.name.as_str()) == largest
    };
    let row = |part: &AbTimePart| {
        let interval = part
            .change_ns_interval
            .map_or_else(String::new, |[low, high]| format!("  ({} to {})", signed_ms(low), signed_ms(high)));
        Row {
            name: bare(&part.time).to_owned(),
            a: percent(part.time.a_share),
            b: percent(part.time.b_share),
            change: format!("{} ms{interval}", signed_ms(part.time.change_ns())),
        }
    };
    record.clients_time.iter().filter(is_shown).take(PARTS_MAX).map(row).collect()
}

/// Returns the statements that take another time on B, those that changed most first: the time in each transaction.
pub(crate) fn statements(record: &AbRecord) -> Vec<Row> {
    let all_ns: f64 = record.statements.iter().map(|statement| statement.a_ns.max(statement.b_ns)).sum();
    let is_sure = |one: &AbStatement| one.change_ns_interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let has_moved = |one: &&AbStatement| is_sure(one) && one.change_ns().abs() >= STATEMENT_MOVED_MIN * all_ns;
    let mut moved: Vec<&AbStatement> = record.statements.iter().filter(has_moved).collect();
    moved.sort_by(|a, b| b.change_ns().abs().total_cmp(&a.change_ns().abs()));
    moved.into_iter().take(STATEMENTS_MAX).map(statement).collect()
}

/// Returns a statement with its time on both sides.
pub(crate) fn statement(one: &AbStatement) -> Row {
    let time = |ns: f64| if ns > 0.0 { ms(ns.round() as u64) } else { "–".to_owned() };
    let interval = one
        .change_ns_interval
        .map_or_else(String::new, |[low, high]| format!("  ({} to {})", signed_ms(low), signed_ms(high)));
    Row {
        name: short(&one.sql, STATEMENT_COLUMNS),
        a: time(one.a_ns),
        b: time(one.b_ns),
        change: format!("{}{interval}", signed_ms(one.change_ns())),
    }
}

/// Returns a text in one line of limited length.
fn short(text: &str, columns: usize) -> String {
    let line = one_line(text);
    match line.chars().count() > columns {
        true => format!("{}…", line.chars().take(columns - 1).collect::<String>().trim_end()),
        false => line,
    }
}

/// Returns a sentence for each of the first plans that changed, and for the number of others.
fn plans(record: &AbRecord) -> Vec<String> {
    let one = |plan: &AbPlanChange| format!("{}: {}", short(&plan.statement, PLAN_COLUMNS), plan.changes.join("; "));
    let mut lines: Vec<String> = record.plans.iter().take(PLANS_MAX).map(one).collect();
    let more = record.plans.len().saturating_sub(PLANS_MAX);
    if more > 0 {
        lines.push(format!("{} changed; the record names all", plain_plural(more as u64, "more plan")));
    }
    lines
}

fn largest(record: &AbRecord) -> Option<&AbTimePart> {
    record.clients_time.iter().max_by(|a, b| a.time.b_share.total_cmp(&b.time.b_share))
}

/// Returns which part of the clients' time makes the difference, and what limits B now.
fn why(record: &AbRecord) -> Option<String> {
    if !matches!(record.verdict, AbVerdict::Faster | AbVerdict::Slower) || record.clients_time.is_empty() {
        return None;
    }
    let all: f64 = record.clients_time.iter().map(|part| part.time.change_ns()).sum();
    let is_sure = |part: &&AbTimePart| part.change_ns_interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let same_way = |part: &&AbTimePart| part.time.change_ns() * all > 0.0;
    let explains = |part: &&AbTimePart| part.time.change_ns() / all >= difference::EXPLAINS_MIN;
    let found = record.clients_time.iter().filter(is_sure).filter(same_way).find(explains);
    let Some(AbTimePart { time, .. }) = found else {
        return Some("no single part of the clients' time makes the difference".to_owned());
    };
    Some(difference::why(time, largest(record).map(|of_b| &of_b.time), ["A", "B"]))
}

/// Returns what the verdict rests on.
fn sure(record: &AbRecord) -> String {
    let mut sure = plain_plural(record.units.len() as u64, "unit");
    if let Some(noise) = record.noise_percent {
        sure += &format!(", noise {noise:.1} %");
    }
    sure += &format!(", {}", duration(record.spent_s));
    if let Some(detectable) = record.detectable_percent {
        sure += &format!("; a difference of {detectable:.1} % would have been found in 4 of 5 cases");
    }
    sure
}

/// Returns a unit, in words.
fn how(record: &AbRecord) -> String {
    format!(
        "each unit is four {} in turns{}",
        if record.whole_runs { "runs".to_owned() } else { format!("slices of {}", duration(record.slice_s)) },
        if record.restarts { ", both servers restarted before" } else { "" }
    )
}

/// Names the servers that were measured, and written to.
fn targets(record: &AbRecord) -> Option<String> {
    let (a, b) = (record.a.target.as_ref()?, record.b.target.as_ref()?);
    Some(if a == b { format!("target: {a}") } else { format!("targets: {a}, and {b} of B") })
}

/// Returns why, how sure it is, and what more time would bring: a label, which may be empty, and a sentence each.
pub(crate) fn lines(record: &AbRecord) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    lines.extend(why(record).map(|why| ("why", why)));
    lines.extend(profile(record).map(|profile| ("perf", profile)));
    lines.extend(plans(record).into_iter().map(|plan| ("plan", plan)));
    if !record.units.is_empty() {
        lines.push(("sure", sure(record)));
        lines.push(("how", how(record)));
    }
    let unlabelled = targets(record).into_iter().chain(of_tasks(record)).chain(undecided(record)).chain(ended(record));
    lines.extend(unlabelled.map(|line| ("", line)));
    lines
}

/// Returns the functions whose CPU time changed most, if profiles of both sides show any.
fn profile(record: &AbRecord) -> Option<String> {
    let changed = functions::changed(&record.profile);
    let function = |function: &FunctionTime| {
        let name: String = function.name.chars().take(NAME_MAX).collect();
        format!("{name} {} → {} µs", us(function.a_ns), us(function.b_ns))
    };
    let all: Vec<_> = changed.iter().take(FUNCTIONS_MAX).map(function).collect();
    (!all.is_empty()).then(|| format!("CPU time of functions in each transaction: {}", all.join(", ")))
}

/// Returns what more time would bring.
fn undecided(record: &AbRecord) -> Option<String> {
    if record.verdict != AbVerdict::Undecided || record.units.is_empty() {
        return None;
    }
    let each_s = record.spent_s / record.units.len() as f64;
    Some(match record.units_for_power {
        _ if record.looks == 0 => {
            format!("the first verdict comes after {UNITS_MIN} units; continue with `pgdyno ab --resume {}`", record.id)
        }
        Some(units) => format!(
            "about {units} units ({}) decide in 4 of 5 cases, if the change is what was measured; continue with \
             `pgdyno ab --resume {}`",
            duration(each_s * f64::from(units)),
            record.id
        ),
        None => "even 1,000 units would hardly decide it".to_owned(),
    })
}

fn ended(record: &AbRecord) -> Option<String> {
    let ended = record.ended.as_deref().filter(|ended| *ended != "decided")?;
    Some(match ended {
        "budget" => "stopped: budget exhausted".to_owned(),
        "interrupted" => "stopped: interrupted".to_owned(),
        failed => format!("stopped: {failed}"),
    })
}

/// Returns a line for each task that changed, and one for all others.
fn of_tasks(record: &AbRecord) -> Vec<String> {
    let of = |verdict: AbVerdict| record.tasks.iter().filter(move |task| task.verdict == verdict);
    let changed = |task: &AbTask| {
        let [low, high] = task.interval_percent;
        format!(
            "{} is {}: {}, interval {} to {}",
            task.name,
            task.verdict.name(),
            signed(ratio_of(task.change_percent)),
            signed(ratio_of(low)),
            signed(ratio_of(high))
        )
    };
    let mut lines: Vec<_> = of(AbVerdict::Slower).chain(of(AbVerdict::Faster)).map(changed).collect();
    let (all, shown) = (record.tasks.len(), lines.len());
    if all > 0 {
        let equal = of(AbVerdict::NoDifference).count();
        lines.push(format!(
            "of {all} tasks {shown} changed, {equal} by less than {}, and of {} it cannot tell; the intervals hold together, at \
             {} confidence",
            share(record.margin),
            all - shown - equal,
            share(record.confidence)
        ));
    }
    lines
}
