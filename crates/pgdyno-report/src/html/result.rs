//! The figures of a run's page: the result, and those beside it.

use pgdyno_results::RunRecord;
use pgdyno_text::units::{count, ms, percent_of_whole};

use super::markup::Html;
use crate::latency_table::known;
use crate::metric::{Headline, headline};

/// The percentiles of the result, with what each means.
const PERCENTILES: [(f64, &str, &str); 3] =
    [(50.0, "p50", "half were faster"), (95.0, "p95", "95 % were faster"), (99.0, "p99", "99 % were faster")];

/// Returns the figures of the result: throughput, response times, failures.
pub(super) fn result(record: &RunRecord) -> Vec<Headline> {
    let Some(summary) = &record.summary else { return Vec::new() };
    let is_throughput = |figure: &Headline| !figure.name.starts_with("ms ") && !figure.name.starts_with("TPM");
    let mut figures: Vec<_> = headline(record).into_iter().filter(is_throughput).collect();
    let mut figure = |name: &str, value: String, meaning: &str| {
        figures.push(Headline { name: name.to_owned(), value, meaning: meaning.to_owned() });
    };
    if let Some(latency) = &summary.response_latency_ns {
        for (percent, name, meaning) in PERCENTILES {
            if let Some(ns) = known(latency, percent, summary.committed + summary.rolled_back) {
                figure(name, format!("{} ms", ms(ns)), meaning);
            }
        }
        figure("max", format!("{} ms", ms(latency.max)), "the slowest");
    }
    let ended = summary.committed + summary.rolled_back + summary.failed;
    for objective in &record.objectives {
        let verdict = match objective.met {
            Some(true) => "met",
            Some(false) => "not met",
            None => "not judged",
        };
        figure(&objective.objective, verdict.to_owned(), &objective.found);
    }
    figure("failed", count(summary.failed), &format!("of {} transactions", count(ended)));
    figures
}

/// Returns the figures beside those of the result.
pub(super) fn more(record: &RunRecord) -> Vec<Headline> {
    let Some(summary) = &record.summary else { return Vec::new() };
    let is_shown = |figure: &Headline| figure.name.starts_with("TPM") || figure.name == "ms mean";
    let mut more: Vec<_> = headline(record).into_iter().filter(is_shown).collect();
    for figure in &mut more {
        // `ms mean` is a mean in milliseconds.
        if let Some(name) = figure.name.strip_prefix("ms ") {
            (figure.name, figure.value) = (name.to_owned(), format!("{} ms", figure.value));
        }
    }
    let figure = |name: &str, value: String, meaning: &str| Headline {
        name: name.to_owned(),
        value,
        meaning: meaning.to_owned(),
    };
    if let Some(ratio) = summary.cache_hit_ratio {
        let meaning = "block reads that needed no read of the operating system";
        more.push(figure("from shared buffers", percent_of_whole(ratio), meaning));
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

/// Writes as tiles what the result leaves out.
pub(super) fn tiles(record: &RunRecord, html: &mut Html) {
    html.raw("<dl class=\"tiles\">\n");
    for Headline { name, value, meaning } in more(record) {
        html.raw("<div><dt>").text(&name).raw("</dt><dd><b>").text(&value).raw("</b><small>");
        html.text(&meaning).raw("</small></dd></div>\n");
    }
    html.raw("</dl>\n");
}
