//! The whole page.

use serde_json::Value;

use super::head::{SCRIPT, head};
use super::markup::Html;
use super::{
    Link, ReportRun, comparison, data, events, fidelity, figures, findings, first_screen, growth, ledger, machines,
    of_study, plans, profile, queries, readers, result, server, several, shares, tables, watched,
};
use crate::compare::Comparison;
use crate::describe::what_ran;
use crate::scaling::Scaling;

/// The contents of a page.
#[derive(Default)]
pub(super) struct Page<'a> {
    /// The runs.
    pub(super) runs: &'a [ReportRun],
    /// Their comparison.
    pub(super) comparison: Option<&'a Comparison>,
    /// Links to other pages.
    pub(super) links: &'a [Link],
    /// Their scaling, and its charts.
    pub(super) scaling: Option<(&'a Scaling, Vec<Value>)>,
}

/// Returns the page.
pub(super) fn page(page: &Page<'_>) -> String {
    let mut html = Html::default();
    let title = title(page);
    head(&title, &mut html);
    html.raw("<header><div><p class=\"brand\">pgdyno");
    for Link { address, words } in page.links {
        html.raw(" <a href=\"").text(address).raw("\">").text(words).raw("</a>");
    }
    html.raw("</p><h1>").text(&title).raw("</h1>");
    if let [run] = page.runs {
        first_screen::subtitle(&run.record, &mut html);
    }
    html.raw("</div><button id=\"theme\" type=\"button\" hidden>dark</button></header>\n<main>\n");
    match page.runs {
        [run] if page.scaling.is_none() => one(run, &mut html),
        runs => several(page, runs, &mut html),
    }
    let growth = page.scaling.as_ref().map_or_else(Vec::new, |(_, charts)| charts.clone());
    html.raw("</main>\n<script type=\"application/json\" id=\"data\">")
        .json(&data::data(page.runs, growth))
        .raw("</script>\n<script>");
    html.raw(SCRIPT).raw("</script>\n</body></html>\n");
    html.into_string()
}

/// The sections of the page of a run, which its first screen links to.
const CONTENTS: [(&str, &str); 6] = [
    ("#transactions", "Transactions"),
    ("#findings", "Findings"),
    ("#what-ran", "What ran"),
    ("#charts", "Charts"),
    ("#tables", "Tables and settings"),
    ("#again", "Run it again"),
];

/// Writes the report of a run.
fn one(run: &ReportRun, html: &mut Html) {
    let record = &run.record;
    first_screen::first_screen(record, html);
    html.raw("<nav class=\"contents\" aria-label=\"on this page\">");
    let queries = (!run.timeline.executions.is_empty()).then_some(("#queries", "Queries"));
    let fidelity = record.fidelity.is_some().then_some(("#fidelity", "Captured and run"));
    let ledger = record.ledger.is_some().then_some(("#ledger", "Commits"));
    let readers = record.readers.is_some().then_some(("#readers", "Readers"));
    for (address, name) in ledger.into_iter().chain(readers).chain(fidelity).chain(queries).chain(CONTENTS) {
        html.raw("<a href=\"").raw(address).raw("\">").raw(name).raw("</a>");
    }
    if let Some((address, words)) = of_study::link(record) {
        html.raw("<a href=\"").text(&address).raw("\">").raw(words).raw("</a>");
    }
    html.raw("</nav>\n");
    // Queries have pictures of their own.
    if run.timeline.executions.is_empty() {
        html.raw("<div id=\"heat\" class=\"grid\"></div>\n");
    }
    ledger::ledger(record, html);
    readers::readers(record, html);
    fidelity::fidelity(record.fidelity.as_ref(), html);
    queries::queries(run, html);
    plans::plans(record, html);
    profile::profile(run, html);
    html.raw("<section id=\"transactions\">\n");
    tables::transactions(record, html);
    result::tiles(record, html);
    html.raw("</section>\n<section id=\"findings\">\n");
    findings::findings(record, html);
    html.raw("</section>\n<section id=\"what-ran\">\n");
    machines::machines(record, html);
    html.heading("What ran");
    server::what_ran(record, html);
    html.raw("</section>\n");
    charts(html);
    html.raw("<section id=\"tables\">\n");
    all(run, html);
    html.raw("</section>\n");
}

/// Writes the page of several runs: their comparison or scaling, the charts, then each run.
fn several(page: &Page<'_>, runs: &[ReportRun], html: &mut Html) {
    if let Some(comparison) = page.comparison {
        comparison::answer(comparison, html);
    }
    if let Some((scaling, _)) = &page.scaling {
        growth::table(scaling, html);
    }
    html.raw("<div id=\"over-time\" class=\"grid\"></div>\n");
    if let Some(comparison) = page.comparison {
        comparison::details(comparison, html);
    }
    html.raw("<section aria-label=\"figures\">\n").heading("The runs");
    figures::table(runs, html);
    html.raw("</section>\n");
    charts(html);
    let drawn = several::drawn_runs(runs);
    if drawn.len() < runs.len() {
        let which =
            if drawn.is_empty() { "" } else { "; of many runs, the first of each side has its own pictures here" };
        html.raw("<p class=\"note\">What a run waited for, and everything else of it, is in its own report")
            .text(which)
            .raw(".</p>\n");
    }
    for run in drawn.into_iter().map(|nth| &runs[nth]) {
        html.raw("<section>\n<h2 class=\"run\">")
            .text(&run.name)
            .raw("</h2>\n<p class=\"sub\">")
            .text(&run.record.id)
            .raw("</p>\n");
        about(run, html);
        html.raw("<details class=\"run\"><summary>Tables, settings, files, and how to run it again</summary>\n");
        all(run, html);
        html.raw("</details>\n</section>\n");
    }
}

/// Writes whether to trust a run among several, its findings and its description.
fn about(run: &ReportRun, html: &mut Html) {
    let record = &run.record;
    first_screen::verdict(record, html);
    tables::transactions(record, html);
    findings::findings(record, html);
    machines::machines(record, html);
    html.heading("What ran");
    server::what_ran(record, html);
}

/// Writes everything else about a run.
fn all(run: &ReportRun, html: &mut Html) {
    tables::tables(&run.record, html);
    shares::statements(&run.samples, html);
    events::list(&run.record, html);
    watched::watched(&run.record, html);
    server::appendix(run, html);
}

/// Writes the container of the charts.
fn charts(html: &mut Html) {
    html.raw("<section id=\"charts\">\n");
    html.raw("<details class=\"hint\"><summary>How to read and zoom the charts</summary>\n<p>Drag across a chart to zoom all of ");
    html.raw("them; double-click to see the whole run again. With the keyboard: <kbd>←</kbd> <kbd>→</kbd> read values, with ");
    html.raw("<kbd>Shift</kbd> they pan, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> resets.</p>\n");
    html.raw(
        "<p>Shaded time is warm-up (ramp) and drain, which the figures leave out. Where intervals are too close to be ",
    );
    html.raw(
        "distinguished, the line is their median, and the light band reaches from the minimum to the maximum.</p></details>\n",
    );
    html.raw("<noscript><p class=\"bad all\">The charts are drawn by a script, and scripts are off. The tables have all figures.");
    html.raw("</p></noscript></section>\n");
}

fn title(page: &Page<'_>) -> String {
    let of = |run: &ReportRun| what_ran(&run.record);
    match (page.runs, page.comparison, &page.scaling) {
        ([run], None, None) => of(run),
        (runs, Some(_), _) => format!("BASE vs NEW: {}", runs.first().map_or_else(String::new, of)),
        (runs, _, Some((scaling, _))) => {
            let of = runs.first().map_or("", |run| run.record.plan.workload.as_str());
            format!("{}: {of}, {} runs", scaling.title(), runs.len())
        }
        (runs, ..) => {
            let names: Vec<_> = runs.iter().map(|run| run.name.as_str()).collect();
            format!("{} runs: {}", runs.len(), names.join(", "))
        }
    }
}
