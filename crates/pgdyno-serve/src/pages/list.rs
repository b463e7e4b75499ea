//! The list of runs: filters, the table, and the selection for a comparison. All of it works without a script.

use pgdyno_report::html::{Html, VerdictMark};
use pgdyno_results::{RunRecord, Status};
use pgdyno_text::units;

use super::trends::trends;
use super::{Column, begin, end, run};
use crate::query::{FILTERS, Query};
use crate::run_source::Listed;

/// Returns the page of the selected runs; `runs` are all, the latest first. Runs of studies are left out unless they are asked
/// for.
pub(crate) fn list(place: &str, runs: &[Listed], query: &Query) -> String {
    let is_listed = |run: &&Listed| query.has_parts() || run.study().is_none();
    let listed: Vec<Listed> = runs.iter().filter(is_listed).cloned().collect();
    let parts = runs.len() - listed.len();
    let runs = &listed[..];
    let (selected, all) = query.select(runs);
    let mut html = begin("Runs", "/");
    filters(runs, query, &mut html);
    // Where there are only runs of studies, the next line says all.
    if parts == 0 || !runs.is_empty() {
        let summary = summary(place, runs.len(), all, selected.len(), query);
        html.raw("<p class=\"hint\">").text(&summary).raw("</p>\n");
    }
    if parts > 0 {
        html.raw("<p class=\"hint\">").text(&units::plural(parts as u64, "run"));
        html.raw(" of <a href=\"/experiments\">experiments</a>, <a href=\"/searches\">searches</a> and ");
        html.raw("<a href=\"/frontiers\">frontiers</a> not listed. <a href=\"").text(&query.with("all", ""));
        html.raw("\">List all runs</a></p>\n");
    }
    if selected.len() < all {
        html.raw("<p class=\"hint\"><a href=\"")
            .text(&query.with("last", &all.to_string()))
            .raw("\">show all</a></p>\n");
    }
    if !selected.is_empty() {
        trends(&selected, &mut html);
        table(&selected, query, &mut html);
    }
    end(html)
}

fn summary(place: &str, known: usize, all: usize, shown: usize, query: &Query) -> String {
    let count = |n: usize| units::count(n as u64);
    let runs = |n: usize| units::plural(n as u64, "run");
    match (known, all) {
        (0, _) => format!("no runs in {place} yet; pgdyno run makes one"),
        (_, 0) => format!("none of {} in {place} is such a run", runs(known)),
        _ if shown < all => format!("the last {} of {} in {place}", count(shown), runs(all)),
        _ if query.is_all() => format!("{} in {place}", runs(all)),
        _ => format!("{} of {} in {place}", count(all), runs(known)),
    }
}

/// Returns suggestions for a field.
fn suggestions(runs: &[Listed], filter: &str) -> Vec<String> {
    let records = runs.iter().filter_map(|run| run.record.as_ref().ok());
    let mut words: Vec<String> = match filter {
        "workload" => records.map(|record| record.plan.workload.clone()).collect(),
        "suite" => records.filter_map(|record| Some(record.plan.suite.as_ref()?.suite.clone())).collect(),
        "recipe" => records.filter_map(|record| Some(record.plan.recipe.as_ref()?.name.clone())).collect(),
        "target" => records
            .map(|r| r.target.as_ref().map_or(r.plan.target.as_str(), |target| &target.name).to_owned())
            .collect(),
        "status" => ["complete", "interrupted", "invalid", "failed"].map(str::to_owned).to_vec(),
        _ => Vec::new(),
    };
    words.sort_unstable();
    words.dedup();
    words
}

/// Renders the form. The field for words is always visible; the other filters are folded unless they are in use.
fn filters(runs: &[Listed], query: &Query, html: &mut Html) {
    html.raw("<form class=\"filters\" action=\"/\" method=\"get\">\n<div class=\"words\">");
    let [words, others @ ..] = FILTERS;
    field(words, &[], query, html);
    html.raw("<button type=\"submit\">Filter</button></div>\n");
    let used = others.iter().any(|filter| !query.value(filter).is_empty());
    html.raw(if used { "<details open>" } else { "<details>" });
    html.raw("<summary>more filters, as <code>pgdyno list runs</code> has them</summary><div class=\"others\">\n");
    for filter in others {
        field(filter, &suggestions(runs, filter), query, html);
    }
    html.raw("</div></details>\n");
    if !query.value("sort").is_empty() {
        html.raw("<input type=\"hidden\" name=\"sort\" value=\"").text(query.value("sort")).raw("\">");
    }
    if query.is_of_all() {
        html.raw("<input type=\"hidden\" name=\"all\" value=\"\">");
    }
    html.raw("</form>\n");
}

fn field(filter: &str, known: &[String], query: &Query, html: &mut Html) {
    let title = if filter == "words" { "find runs with these words" } else { filter };
    html.raw("<label><span>").text(title).raw("</span><input name=\"").text(filter).raw("\" value=\"");
    html.text(query.value(filter)).raw("\"");
    let example = match filter {
        "words" => "tproc-c db1 2026-01",
        "since" => "2026-01-31",
        "label" => "name=value",
        _ => "",
    };
    html.raw(" placeholder=\"").text(example).raw("\"");
    if known.is_empty() {
        html.raw("></label>\n");
        return;
    }
    html.raw(" list=\"known-").text(filter).raw("\"><datalist id=\"known-").text(filter).raw("\">");
    for word in known {
        html.raw("<option value=\"").text(word).raw("\">");
    }
    html.raw("</datalist></label>\n");
}

fn table(runs: &[&Listed], query: &Query, html: &mut Html) {
    html.raw("<form action=\"/compare\" method=\"get\">\n");
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"runs\"><table class=\"runs\"><thead><tr>",
    );
    // That all runs are complete is not worth a column.
    let is_worth = |run: &Listed, record: &RunRecord, column: Column| match column {
        Column::Status => run.goes_on || record.status != Status::Complete,
        column => !column.text(run, record).is_empty(),
    };
    let says = |run: &Listed, column: Column| run.record.as_ref().is_ok_and(|record| is_worth(run, record, column));
    let columns: Vec<_> = Column::ALL.into_iter().filter(|column| runs.iter().any(|run| says(run, *column))).collect();
    for column in &columns {
        heading(*column, query, html);
        if *column == Column::Began {
            html.raw("<th scope=\"col\">compare</th>");
        }
    }
    html.raw("</tr></thead><tbody>\n");
    for run in runs {
        row(run, &columns, html);
    }
    html.raw("</tbody></table></div>\n<p class=\"compare\"><button type=\"submit\">Compare</button> ");
    html.raw("<button type=\"reset\">Clear</button> <span class=\"hint\">Click <b>base</b> at one run and <b>candidate</b> at ");
    html.raw("another. Several of a side count as repetitions.</span></p></form>\n");
}

fn heading(column: Column, query: &Query, html: &mut Html) {
    let (sorted, rising) = query.order();
    let (here, falls) = (sorted == column, column.falls());
    html.raw("<th scope=\"col\" class=\"").raw(class(column)).raw("\"");
    if here {
        html.raw(if rising { " aria-sort=\"ascending\"" } else { " aria-sort=\"descending\"" });
    }
    // A second click reverses the order.
    let down = if here { rising } else { falls };
    let order = format!("{}{}", if down { "-" } else { "" }, column.name());
    html.raw("><a href=\"").text(&query.with("sort", &order)).raw("\">").text(column.title());
    if here {
        html.raw(if rising { " ▲" } else { " ▼" });
    }
    html.raw("</a></th>");
}

fn class(column: Column) -> &'static str {
    match column {
        _ if column.is_number() => "n",
        Column::Began => "began",
        Column::Workload | Column::Server => "whole",
        Column::Driver | Column::Target | Column::Suite => "far",
        _ => "",
    }
}

fn row(listed: &Listed, columns: &[Column], html: &mut Html) {
    html.raw("<tr>");
    let Ok(record) = &listed.record else {
        let why = listed.record.as_ref().err().map_or("", |why| &**why);
        html.raw("<td class=\"began\">").text(&listed.id).raw("</td><td></td><td class=\"bad\" colspan=\"10\">");
        html.text("unreadable: ").text(why).raw("</td></tr>\n");
        return;
    };
    for column in columns.iter().copied() {
        let text = column.text(listed, record);
        html.raw("<td class=\"").raw(class(column));
        match column {
            Column::Began => {
                html.raw("\">");
                if let Some(trust) = record.trust.as_ref().filter(|_| !listed.goes_on) {
                    VerdictMark::from(trust.degree()).draw(html);
                }
                html.raw("<a href=\"").text(&run(&listed.id)).raw("\" title=\"").text(&listed.id).raw("\">");
                html.text(&text).raw("</a>");
            }
            Column::Workload => {
                html.raw("\"><a href=\"/history?run=").text(&listed.id).raw("\" title=\"history of such runs\">");
                html.text(&text).raw("</a>");
            }
            Column::Status if listed.goes_on => {
                html.raw("\"><a class=\"running\" href=\"").text(&run(&listed.id)).raw("/live\">").text(&text);
                html.raw(", watch</a>");
            }
            Column::Status => {
                html.raw("\"><span class=\"status ").text(&text).raw("\"");
                let reason = record.reason.as_deref().unwrap_or_default();
                html.raw(" title=\"").text(reason).raw("\">").text(&text).raw("</span>");
            }
            Column::Trust if !listed.goes_on => trusted(record, html),
            _ => {
                html.raw("\" title=\"").text(&text).raw("\">").text(&text);
            }
        }
        html.raw("</td>");
        if column == Column::Began {
            sides(&listed.id, html);
        }
    }
    html.raw("</tr>\n");
}

/// Appends a verdict and, for a pointer that rests on it, its reasons.
fn trusted(record: &RunRecord, html: &mut Html) {
    let Some(trust) = &record.trust else {
        html.raw("\">");
        return;
    };
    html.raw("whole\" title=\"").text(&trust.reasons.join("\n")).raw("\">").text(trust.degree().name());
}

/// Appends the choice of a side in a comparison, one click each.
fn sides(id: &str, html: &mut Html) {
    html.raw("<td class=\"pick\">");
    for (name, word) in [("base", "base"), ("new", "candidate")] {
        html.raw("<label class=\"").raw(name).raw("\"><input type=\"checkbox\" name=\"").raw(name).raw("\" value=\"");
        html.text(id).raw("\" aria-label=\"").raw(word).raw(" ").text(id).raw("\">").raw(word).raw("</label>");
    }
    html.raw("</td>");
}
