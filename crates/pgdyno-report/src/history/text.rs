//! For a person at a terminal: the answer, the changes, the course, the last runs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pgdyno_measure::change_points::{Drift, RUNS_MIN};
use pgdyno_text::TextStyle;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::plural;

use super::changed::ChangedFact;
use super::{Histories, History, HistoryChange, HistoryRun, HistoryVerdict, runs_missing};
use crate::compare::words::{share, signed};
use crate::compare::{FactGroup, account};
use crate::metric::value_text;

/// The width of the text.
const WIDTH: usize = 80;

/// The last runs that are listed.
const RUNS_LISTED: usize = 15;

/// Facts that are printed with a change; the others are in the JSON.
const FACTS_MAX: usize = 5;

/// Values longer than this are cut: the whole is in the JSON.
const VALUE_MAX: usize = 30;

/// The heights of a run in the course.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Runs in the course.
const COURSE: usize = WIDTH - 2;

pub(super) fn render(histories: &Histories, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    let (long, short): (Vec<_>, Vec<_>) = histories.series.iter().partition(|history| history.noise.is_some());
    match (long.as_slice(), short.as_slice()) {
        ([], []) => writeln!(out, "no run has a place in a history")?,
        ([], short) => {
            for history in short {
                title(history, &paint, out)?;
                writeln!(out, "{}", headline(history, histories.confidence))?;
            }
        }
        ([history], _) => one(history, histories, &paint, out)?,
        (several, _) => {
            for history in several {
                title(history, &paint, out)?;
                answer(history, histories, &paint, out)?;
                changes(history, histories, &paint, out)?;
                course(history, out)?;
                writeln!(out)?;
            }
            writeln!(out, "{} series; name runs, a workload or a target to see one with its runs", several.len())?;
        }
    }
    if !long.is_empty() && !short.is_empty() {
        let plural = if short.len() == 1 { "series has" } else { "series have" };
        writeln!(out, "{} more {plural} fewer than {RUNS_MIN} runs", short.len())?;
    }
    if let Some(line) = left_out(histories) {
        writeln!(out, "{} {line}", paint.yellow("left out:"))?;
    }
    Ok(())
}

/// The history of one series.
fn one(history: &History, histories: &Histories, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    title(history, paint, out)?;
    answer(history, histories, paint, out)?;
    changes(history, histories, paint, out)?;
    writeln!(out)?;
    course(history, out)?;
    writeln!(out)?;
    last_runs(history, paint, out)
}

fn title(history: &History, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let since = history.runs.first().map_or("", |run| day(&run.started_at));
    let runs = history.runs.len();
    writeln!(out, "{}", paint.bold(&history.name))?;
    writeln!(out, "{} of {} since {since}", history.metric.title(), plural(runs as u64, "run"))
}

fn answer(history: &History, histories: &Histories, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let answer = headline(history, histories.confidence);
    wrapped(&answer, WIDTH).iter().try_for_each(|line| {
        let painted = if history.verdict == HistoryVerdict::Slower { paint.red(line) } else { paint.bold(line) };
        writeln!(out, "{painted}")
    })
}

/// Returns the answer: `slower by 7.3 % (95 % interval 6.1 to 8.4 %) since commit abc, 12 runs ago`.
#[must_use]
pub fn headline(history: &History, confidence: f64) -> String {
    let Some(change) = history.decisive.map(|nth| &history.changes[nth]) else {
        if let Some(drift) = recent_drift(history) {
            return drift_text(history, drift);
        }
        return match (history.verdict, history.changes.last()) {
            (HistoryVerdict::Undecided, _) => {
                let more = runs_missing(history);
                let more = format!("{more} more");
                format!("cannot tell: {RUNS_MIN} comparable runs are the minimum, {more} needed")
            }
            (_, Some(last)) => {
                let since = history.runs_since(last);
                format!("no change since {}, {since} runs ago", history.runs[last.at].name)
            }
            (_, None) => "no change shown".to_owned(),
        };
    };
    // How much slower, or faster: a positive number, also where a latency falls.
    let size = |ratio: f64| (ratio - 1.0) * 100.0 * if change.change.ratio < 1.0 { -1.0 } else { 1.0 };
    let mut ends = [size(change.change.low), size(change.change.high)];
    ends.sort_by(f64::total_cmp);
    format!(
        "{} by {:.1} % ({} interval {:.1} to {:.1} %) since {}, {} runs ago",
        history.verdict.name(),
        size(change.change.ratio),
        share(confidence),
        ends[0],
        ends[1],
        history.runs[change.at].name,
        history.runs_since(change)
    )
}

/// Writes the change points, newest first, and the drifts.
fn changes(history: &History, histories: &Histories, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    for (nth, change) in history.changes.iter().enumerate().rev() {
        let value = |run: usize| value_text(&history.metric, history.runs[run].level);
        let signed_change = signed(change.change.ratio);
        let (low, high) = (signed(change.change.low), signed(change.change.high));
        let is_decisive = history.decisive == Some(nth) && change.is_slower;
        writeln!(
            out,
            "\n  {}  {}  {} ({low} to {high})  {} → {}",
            day(&history.runs[change.at].started_at),
            history.runs[change.at].name,
            if is_decisive { paint.red(&signed_change) } else { signed_change },
            value(change.at - 1),
            value(change.at),
        )?;
        for line in change_lines(history, change, histories.confidence) {
            for part in wrapped(&line, WIDTH - 6) {
                writeln!(out, "      {part}")?;
            }
        }
    }
    // The last one may be the answer.
    let answer = recent_drift(history).filter(|_| history.decisive.is_none());
    for drift in history.drifts.iter().filter(|drift| answer != Some(*drift)) {
        writeln!(out)?;
        for part in wrapped(&drift_text(history, drift), WIDTH - 2) {
            writeln!(out, "  {part}")?;
        }
    }
    Ok(())
}

/// Returns the last drift, unless a change point came after its beginning.
fn recent_drift(history: &History) -> Option<&Drift> {
    let last = history.changes.last().map_or(0, |change| change.at);
    history.drifts.last().filter(|drift| last <= drift.from)
}

/// Returns what there is to say of a drift.
#[must_use]
pub fn drift_text(history: &History, drift: &Drift) -> String {
    let (first, last) = (&history.runs[drift.from], &history.runs[drift.to - 1]);
    format!(
        "a slow drift of {} over {} runs, from {} to {}",
        signed(drift.ratio),
        drift.to - drift.from,
        first.name,
        last.name
    )
}

/// Returns what there is to say of a change: its place, how sure it is, what else changed there, and where the clients' time moved.
#[must_use]
pub fn change_lines(history: &History, change: &HistoryChange, confidence: f64) -> Vec<String> {
    let chance = match change.chance * 100.0 {
        percent if percent < 0.01 => "below 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    };
    let mut lines = vec![format!("{}; chance in a history of equal runs {chance}", place(history, change, confidence))];
    lines.push(changed(history, change));
    lines.extend(account::moved(&change.clients_time, change.is_slower));
    lines
}

/// Returns what else changed: `changed there: PostgreSQL 18.0 → 18.1; work_mem 4MB → 64MB`.
fn changed(history: &History, change: &HistoryChange) -> String {
    if change.changed.is_empty() {
        return "nothing else recorded changed".to_owned();
    }
    let fact = |fact: &ChangedFact| {
        let elsewhere = match fact.at == change.at {
            true => String::new(),
            false => format!(" (from {})", history.runs[fact.at].name),
        };
        format!("{}{elsewhere}", changed_fact(fact))
    };
    let facts: Vec<String> = change.changed.iter().take(FACTS_MAX).map(fact).collect();
    let more = change.changed.len().saturating_sub(FACTS_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("changed there: {}{more}", facts.join("; "))
}

fn changed_fact(fact: &ChangedFact) -> String {
    let name = match (fact.group, fact.name.as_str()) {
        (FactGroup::Server, "version") => {
            let [before, after] = [&fact.before, &fact.after].map(|value| release(value));
            return match before == after {
                true => format!("build of PostgreSQL {before}"),
                false => format!("PostgreSQL {before} → {after}"),
            };
        }
        (FactGroup::Server, "memory" | "vCPUs") => format!("server's {}", fact.name),
        (FactGroup::Client, "pgdyno") => fact.name.clone(),
        (FactGroup::Client, name) => format!("driver's {name}"),
        (FactGroup::Recipe, name) => format!("recipe's {name}"),
        (FactGroup::Plan | FactGroup::Server | FactGroup::Settings, name) => name.to_owned(),
    };
    format!("{name} {} → {}", cut(&fact.before), cut(&fact.after))
}

/// Returns the number of a version: `15.18` of `PostgreSQL 15.18 (Debian …) on x86_64`.
fn release(version: &str) -> &str {
    let number = version.strip_prefix("PostgreSQL ").unwrap_or(version);
    number.split(' ').next().unwrap_or(number)
}

fn cut(value: &str) -> String {
    if value.chars().count() <= VALUE_MAX {
        return value.to_owned();
    }
    value.chars().take(VALUE_MAX - 1).chain(['…']).collect()
}

/// Returns between which runs a change lies: `between commit a and commit b`, with the range where it may lie.
fn place(history: &History, change: &HistoryChange, confidence: f64) -> String {
    let name = |nth: usize| &history.runs[nth].name;
    let (earliest, latest) = change.places;
    let at = match (name(change.at - 1), name(change.at)) {
        (before, after) if before == after => format!("between two runs of {after}, so not by it"),
        (before, after) => format!("between {before} and {after}"),
    };
    if earliest == latest {
        return at;
    }
    format!("{at}, or anywhere from {} to {} ({})", name(earliest - 1), name(latest), share(confidence))
}

/// Writes the course of the last runs: a bar for each, with the first runs of new levels marked below.
fn course(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let first = history.runs.len().saturating_sub(COURSE);
    let runs = &history.runs[first..];
    let ends = |of: &dyn Fn(&HistoryRun) -> f64| {
        let values = || runs.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let (least, most) = ends(&|run| run.value);
    // A wild run would make all others equal.
    let (lowest, highest) = ends(&|run| run.level);
    let room = 3.0 * history.noise.unwrap_or(0.0);
    let (low, high) = (least.max(lowest * (1.0 - room)), most.min(highest * (1.0 + room)));
    let height = |value: f64| {
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        HEIGHTS[((share * HEIGHTS.len() as f64) as usize).min(HEIGHTS.len() - 1)]
    };
    writeln!(out, "  {}", runs.iter().map(|run| height(run.value)).collect::<String>())?;
    let mark = |nth: usize| history.changes.iter().any(|change| change.at == first + nth);
    let marks: String = (0..runs.len()).map(|nth| if mark(nth) { '^' } else { ' ' }).collect();
    if !marks.trim().is_empty() {
        writeln!(out, "  {}", marks.trim_end())?;
    }
    let noise = history.noise.map_or_else(String::new, |noise| format!(", {:.1} % from run to run", noise * 100.0));
    let shown = if first > 0 { format!("the last {COURSE} runs, ") } else { String::new() };
    let (least, most) = (value_text(&history.metric, least), value_text(&history.metric, most));
    writeln!(out, "  {shown}{least} to {most} {}{noise}", history.metric.title())
}

fn last_runs(history: &History, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let first = history.runs.len().saturating_sub(RUNS_LISTED);
    let runs = &history.runs[first..];
    let width = |of: &dyn Fn(usize) -> String| (0..runs.len()).map(|nth| of(nth).chars().count()).max().unwrap_or(0);
    let value = |nth: usize| value_text(&history.metric, runs[nth].value);
    let name = |nth: usize| runs[nth].name.clone();
    let (values, names) = (width(&value), width(&name).min(VALUE_MAX));
    for (nth, run) in runs.iter().enumerate() {
        if let Some(change) = history.changes.iter().find(|change| change.at == first + nth) {
            let line = format!("{:->16} {}", "", signed(change.change.ratio));
            writeln!(out, "  {}", if change.is_slower { paint.red(&line) } else { paint.bold(&line) })?;
        }
        writeln!(out, "  {}  {:<names$}  {:>values$}", minute(&run.started_at), cut(&run.name), value(nth))?;
    }
    Ok(())
}

/// Returns the runs that do not take part, counted by reason.
#[must_use]
pub fn left_out(histories: &Histories) -> Option<String> {
    let mut counts = BTreeMap::new();
    for (_, why) in &histories.left_out {
        *counts.entry(why).or_insert(0) += 1;
    }
    let words: Vec<_> = counts.iter().map(|(why, n)| format!("{n} {why}")).collect();
    let plural = if histories.left_out.len() == 1 { "run" } else { "runs" };
    (!words.is_empty()).then(|| format!("{} {plural} ({})", histories.left_out.len(), words.join(", ")))
}

/// `2026-11-02`.
fn day(moment: &str) -> &str {
    moment.split('T').next().unwrap_or(moment)
}

/// `2026-11-02 14:00`.
fn minute(moment: &str) -> String {
    moment.replacen('T', " ", 1).chars().take(16).collect()
}

/// Wraps between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
