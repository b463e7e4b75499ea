//! The main figures, and their meanings.

use pgdyno_results::{RunRecord, Status};

use super::ReportRun;
use super::markup::Html;
use crate::metric::{Headline, headline};
use crate::units::{ms, percent};
use crate::{steady, trust};

/// Returns further main figures.
fn more(record: &RunRecord) -> Vec<Headline> {
    let Some(summary) = &record.summary else { return Vec::new() };
    let mut more = Vec::new();
    let figure = |name: &str, value: String, meaning: &str| Headline {
        name: name.to_owned(),
        value,
        meaning: meaning.to_owned(),
    };
    if let Some(latency) = &summary.response_latency_ns {
        more.push(figure("ms max", ms(latency.max), "response time, the longest"));
    }
    if summary.failed > 0 {
        more.push(figure("failed", percent(summary.failed_share()), "transactions that failed for good"));
    }
    if let Some(ratio) = summary.cache_hit_ratio {
        let meaning = "block reads that needed no read of the operating system";
        more.push(figure("from shared buffers", percent(ratio), meaning));
    }
    let machine = record.server_machine.as_ref();
    if let Some((machine, cpus)) = machine.and_then(|machine| Some((machine, machine.cpus?)))
        && !machine.server_cpus.is_empty()
    {
        let used: f64 = machine.server_cpus.values().sum();
        let meaning = match machine.busy_cpus {
            Some(busy) => format!("of {cpus:.0} CPUs, used by PostgreSQL; {busy:.2} by all programs together"),
            None => format!("of {cpus:.0} CPUs, used by PostgreSQL"),
        };
        more.push(figure("PostgreSQL's CPUs", format!("{used:.2}"), &meaning));
    } else if let Some(cpu) = summary.server_cpu_percent {
        let meaning = "of all CPUs of the server's machine, all programs together";
        more.push(figure("machine CPU", format!("{cpu:.0} %"), meaning));
    }
    more
}

/// Writes the figures of one run as tiles, or of several as a table with a line for each.
pub(super) fn figures(runs: &[ReportRun], html: &mut Html) {
    match runs {
        [run] => tiles(&run.record, html),
        _ => table(runs, html),
    }
}

fn tiles(record: &RunRecord, html: &mut Html) {
    html.raw("<dl class=\"tiles\">\n");
    for Headline { name, value, meaning } in headline(record).into_iter().chain(more(record)) {
        // `ms p99` is a p99 in milliseconds.
        let (name, unit) = name.strip_prefix("ms ").map_or((name.as_str(), ""), |name| (name, " ms"));
        html.raw("<div><dt>").text(name).raw("</dt><dd><b>").text(&value).text(unit).raw("</b><small>");
        html.text(&meaning).raw("</small></dd></div>\n");
    }
    html.raw("</dl>\n");
}

fn table(runs: &[ReportRun], html: &mut Html) {
    let of =
        |run: &ReportRun| -> Vec<Headline> { headline(&run.record).into_iter().chain(more(&run.record)).collect() };
    let all: Vec<_> = runs.iter().map(of).collect();
    let mut names: Vec<&str> = Vec::new();
    for figure in all.iter().flatten() {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    let columns: Vec<_> =
        [("run", false), ("status", false)].into_iter().chain(names.iter().map(|n| (*n, true))).collect();
    let row = |(run, figures): (&ReportRun, &Vec<Headline>)| {
        let value = |name: &&str| {
            figures.iter().find(|figure| figure.name == *name).map_or("–".to_owned(), |figure| figure.value.clone())
        };
        let first = [run.name.clone(), run.record.status.name().to_owned()];
        first.into_iter().chain(names.iter().map(value)).collect()
    };
    let rows: Vec<_> = runs.iter().zip(&all).map(row).collect();
    html.table(&columns, &rows);
}

/// Writes how the run ended, and what a reader must know before trusting its figures.
pub(super) fn verdict(record: &RunRecord, html: &mut Html) {
    let class = if record.status == Status::Complete { "<p class=\"good\">" } else { "<p class=\"bad\">" };
    html.raw(class).raw("<b>").text(record.status.name()).raw("</b>");
    if let Some(reason) = &record.reason {
        html.raw(": ").text(reason);
    }
    html.raw("</p>\n");
    let (trust, reasons) = trust::lines(record, "see the warnings");
    html.raw("<p><b>Trust: ").text(trust.name()).raw("</b>");
    if record.status == Status::Complete && !reasons.is_empty() {
        html.raw(": ").text(&reasons.join("; "));
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
