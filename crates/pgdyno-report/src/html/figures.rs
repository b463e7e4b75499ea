//! The headline figures, and what they mean.

use pgdyno_results::{RunRecord, Status};

use super::ReportRun;
use super::markup::Html;
use crate::steady;
use crate::text::headline;
use crate::units::{ms, percent};

/// What a figure of [`headline`] means; docs/metrics.md has the formulas.
fn meaning(name: &str) -> &'static str {
    match name {
        "NOPM" => "committed New-Orders a minute",
        "TPM" => "commits and rollbacks a minute, as the server counts them",
        "TPM (client)" => "transactions a minute, as the client counts them",
        "TPS" => "committed transactions a second",
        "QPS" => "SELECT, INSERT, UPDATE and DELETE statements a second",
        "ms mean" => "response time, the arithmetic mean",
        "ms p99" => "response time that 99 of 100 are not above",
        _ => "",
    }
}

/// What else stands among the headlines: name, value and meaning.
fn more(record: &RunRecord) -> Vec<(&'static str, String, &'static str)> {
    let Some(summary) = &record.summary else { return Vec::new() };
    let mut more = Vec::new();
    if let Some(latency) = &summary.response_latency_ns {
        more.push(("ms max", ms(latency.max), "response time, the longest"));
    }
    if summary.failed > 0 {
        more.push(("failed", percent(summary.failed_share()), "transactions that failed for good"));
    }
    if let Some(ratio) = summary.cache_hit_ratio {
        more.push(("from shared buffers", percent(ratio), "block reads that needed no read of the operating system"));
    }
    if let Some(cpu) = summary.server_cpu_percent {
        more.push(("server CPU", format!("{cpu:.0} %"), "of all CPUs of its machine, all programs together"));
    }
    more
}

/// The figures of one run as tiles, or of several as a table with a line for each.
pub(super) fn figures(runs: &[ReportRun], html: &mut Html) {
    match runs {
        [run] => tiles(&run.record, html),
        _ => table(runs, html),
    }
}

fn tiles(record: &RunRecord, html: &mut Html) {
    let known = headline(record).into_iter().map(|(name, value)| (name, value, meaning(name)));
    html.raw("<dl class=\"tiles\">\n");
    for (name, value, meaning) in known.chain(more(record)) {
        // `ms p99` is a p99 in milliseconds.
        let (name, unit) = name.strip_prefix("ms ").map_or((name, ""), |name| (name, " ms"));
        html.raw("<div><dt>").text(name).raw("</dt><dd><b>").text(&value).text(unit).raw("</b><small>");
        html.text(meaning).raw("</small></dd></div>\n");
    }
    html.raw("</dl>\n");
}

fn table(runs: &[ReportRun], html: &mut Html) {
    let of = |run: &ReportRun| -> Vec<(&'static str, String)> {
        let more = more(&run.record).into_iter().map(|(name, value, _)| (name, value));
        headline(&run.record).into_iter().chain(more).collect()
    };
    let all: Vec<_> = runs.iter().map(of).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let columns: Vec<_> =
        [("run", false), ("status", false)].into_iter().chain(names.iter().map(|n| (*n, true))).collect();
    let row = |(run, figures): (&ReportRun, &Vec<(&str, String)>)| {
        let value =
            |name: &&str| figures.iter().find(|(known, _)| known == name).map_or("–".to_owned(), |f| f.1.clone());
        let first = [run.name.clone(), run.record.status.name().to_owned()];
        first.into_iter().chain(names.iter().map(value)).collect()
    };
    let rows: Vec<_> = runs.iter().zip(&all).map(row).collect();
    html.table(&columns, &rows);
}

/// How the run ended, with what must be known before its figures are trusted.
pub(super) fn verdict(record: &RunRecord, html: &mut Html) {
    let class = if record.status == Status::Complete { "<p class=\"good\">" } else { "<p class=\"bad\">" };
    html.raw(class).raw("<b>").text(record.status.name()).raw("</b>");
    if let Some(reason) = &record.reason {
        html.raw(": ").text(reason);
    }
    html.raw("</p>\n");
    let steady: Vec<String> = record.summary.iter().flat_map(steady::lines).collect();
    if !steady.is_empty() {
        let line = steady.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join("; ");
        html.raw("<p class=\"note\">").text(&line).raw("</p>\n");
    }
    if !record.warnings.is_empty() {
        html.raw("<div class=\"warnings\" role=\"note\"><b>Before you trust these figures</b>");
        html.list(record.warnings.iter().map(String::as_str)).raw("</div>\n");
    }
}
