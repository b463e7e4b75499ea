//! The recipe of a run, in its reports.

use std::io::{self, Write};

use pgdyno_plan::{Published, RecipePlan};
use pgdyno_results::{RecordMetric, RunRecord, Summary, Unit};
use pgdyno_text::units::{bytes, count, grouped, percent, percent_of_whole};
use pgdyno_text::wrap::wrapped;
use pgdyno_untrusted::MarkdownText;

use crate::metric::{suffix, value_text};

/// Caution for readers who compare two figures.
const CAUTION: &str = "Two machines: neither figure is a pass mark for the other.";

/// Returns the recipe that a run follows, and its departures.
#[must_use]
pub fn lines(recipe: &RecipePlan) -> Vec<String> {
    let variant = if recipe.variant.is_empty() { String::new() } else { format!(", variant {}", recipe.variant) };
    let mut lines = vec![format!("recipe {}, size {}{variant}: {}", recipe.name, recipe.size, recipe.source)];
    if let Some(fitted) = &recipe.fitted {
        lines.push(format!("fitted to {} vCPU, {}: {}", fitted.vcpus, bytes(fitted.memory_bytes), fitted.rule));
    }
    if let Some(short) = &recipe.shortened {
        let ramp = if short.ramp_s > 0.0 { format!(" after {} of warm-up", time(short.ramp_s)) } else { String::new() };
        lines.push(format!("times divided by {} (the guide: {}{ramp})", short.by, time(short.time_s)));
    }
    if !recipe.departures.is_empty() {
        lines.push(format!("departs from the recipe: {}", recipe.departures.join("; ")));
    }
    lines
}

/// Returns figures in one line.
#[must_use]
pub fn figures(published: &[Published]) -> String {
    let figure = |figure: &Published| {
        let note = if figure.note.is_empty() { String::new() } else { format!(" ({})", figure.note) };
        format!("{} {}{note}", exact(figure.value), name(&figure.metric, None))
    };
    published.iter().map(figure).collect::<Vec<_>>().join(", ")
}

/// Writes the lines about the recipe.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    record.plan.recipe.iter().flat_map(lines).try_for_each(|line| wrapped(out, &line, "  "))
}

/// Writes the published figures beside the measured ones.
pub(crate) fn table_in_text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let (Some(recipe), Some(summary)) = (&record.plan.recipe, &record.summary) else { return Ok(()) };
    let rows = rows(recipe, record);
    if !rows.is_empty() {
        let width = |i: usize, title: &str| rows.iter().map(|row| row[i].chars().count()).chain([title.len()]).max();
        let [first, here, there] = [(0, "figure"), (1, "measured here"), (2, "published")]
            .map(|(i, title)| width(i, title).unwrap_or_default());
        writeln!(out, "  {:<first$}  {:>here$}  {:>there$}", "figure", "measured here", "published")?;
        for [figure, measured, published] in &rows {
            writeln!(out, "  {figure:<first$}  {measured:>here$}  {published:>there$}")?;
        }
        wrapped(out, &format!("  measured on {}", machine(record)), "    ")?;
        wrapped(out, &format!("  published for {}: {}", recipe.machine, recipe.source), "    ")?;
        writeln!(out, "  {CAUTION}")?;
        writeln!(out)?;
    }
    match cached(recipe, summary) {
        Some(line) => wrapped(out, &line, "  "),
        None => Ok(()),
    }
}

/// Writes the same as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let Some(recipe) = &record.plan.recipe else { return Ok(()) };
    for line in lines(recipe) {
        writeln!(out, "- {}", MarkdownText(&line))?;
    }
    if let Some(line) = record.summary.as_ref().and_then(|summary| cached(recipe, summary)) {
        writeln!(out, "- {}", MarkdownText(&line))?;
    }
    writeln!(out)?;
    let rows = if record.summary.is_some() { rows(recipe, record) } else { Vec::new() };
    if !rows.is_empty() {
        let (here, there) = (machine(record), format!("{}; {}", recipe.machine, recipe.source));
        writeln!(out, "| figure | measured here ({}) | published ({}) |", MarkdownText(&here), MarkdownText(&there))?;
        writeln!(out, "| --- | ---: | ---: |")?;
        for row in &rows {
            let [figure, measured, published] = row.each_ref().map(|cell| MarkdownText(cell));
            writeln!(out, "| {figure} | {measured} | {published} |")?;
        }
        writeln!(out, "\n{CAUTION}\n")?;
    }
    Ok(())
}

/// Returns rows of figure, measured, published.
fn rows(recipe: &RecipePlan, record: &RunRecord) -> Vec<[String; 3]> {
    let row = |figure: &Published| {
        let [name, measured, published] = published_row(record, figure);
        let note = if figure.note.is_empty() { String::new() } else { format!(" ({})", figure.note) };
        [name, measured, published + &note]
    };
    recipe.published.iter().map(row).collect()
}

/// Returns the name of a published figure. The name of a workload's own metric is known only with a record.
fn name(figure: &str, record: Option<&RunRecord>) -> String {
    RecordMetric::published(figure, record).as_ref().map_or_else(|| figure.to_uppercase(), suffix)
}

/// Returns the name of a published figure, the measured value, and the published one.
pub(crate) fn published_row(record: &RunRecord, figure: &Published) -> [String; 3] {
    let metric = RecordMetric::published(&figure.metric, Some(record));
    let measured = metric.as_ref().and_then(|metric| {
        let value = metric.value(record)?;
        // Documents have latencies in milliseconds, with three decimals.
        Some(if metric.unit() == Unit::Nanoseconds { format!("{:.3}", value / 1e6) } else { value_text(metric, value) })
    });
    [name(&figure.metric, Some(record)), measured.unwrap_or_else(|| "-".to_owned()), exact(figure.value)]
}

/// Returns a published figure exactly as published.
fn exact(value: f64) -> String {
    let decimals = format!("{:.3}", value.fract());
    count(value.trunc() as u64) + decimals.trim_start_matches('0').trim_end_matches('0').trim_end_matches('.')
}

/// Returns the machine of the measured server, as far as it is known.
fn machine(record: &RunRecord) -> String {
    let buffers = record.server.as_ref().and_then(|server| server.settings.get("shared_buffers"));
    let buffers = buffers.map_or_else(String::new, |value| format!(", shared_buffers {value}"));
    let words = |vcpus: u32, memory: u64| format!("{vcpus} vCPU, {}", bytes(memory));
    let named = record.target.as_ref().and_then(|t| Some(format!("{}, {}", t.name, words(t.vcpus?, t.memory_bytes?))));
    let local = record.server.as_ref().filter(|server| server.local);
    let local = || {
        local.map(|_| {
            format!("{}, shared with the client", words(record.client.cpus as u32, record.client.memory_bytes))
        })
    };
    let fitted = || record.plan.recipe.as_ref()?.fitted.as_ref().map(|to| words(to.vcpus, to.memory_bytes));
    let known = named.or_else(local).or_else(fitted);
    known.unwrap_or_else(|| "a server whose machine is not known".to_owned()) + &buffers
}

/// Returns the share that was to be cached, and the measured one.
fn cached(recipe: &RecipePlan, summary: &Summary) -> Option<String> {
    let mut found = Vec::new();
    if let Some(ratio) = summary.cache_hit_ratio {
        found.push(format!("{} of block reads hit shared buffers", percent_of_whole(ratio)));
    }
    if let Some(ratio) = summary.os_cache_hit_ratio {
        found.push(format!("at least {} of the others were in the operating system's cache", percent(ratio)));
    }
    let found = if found.is_empty() { "not measured".to_owned() } else { found.join(", ") };
    recipe.cached.map(|goal| format!("cached: {} of the data is meant to fit; {found}", share(goal)))
}

/// Returns a time as guides write it: 600 s are 10 min, and 3,900 s stay seconds.
pub(crate) fn time(seconds: f64) -> String {
    if seconds >= 600.0 && seconds % 600.0 == 0.0 {
        format!("{} min", seconds / 60.0)
    } else if seconds < 1000.0 {
        format!("{seconds} s")
    } else {
        format!("{} s", grouped(seconds))
    }
}

/// Returns a share in whole percent.
pub(crate) fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
