//! A frontier as a page: what it shows, the drawing, and the points. It needs no script.

use std::io::{self, Write};

use pgdyno_results::FrontierRecord;

use super::head::study_page;
use super::markup::{Html, PageColumn};
use crate::frontier::{COLUMNS, findings, place, reach_note, rows, svg};

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub(crate) fn write(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    study_page(&title(record), &format!("{} · {}", record.target, record.id), out, |html| body(record, html))
}

/// Returns the heading of its page.
#[must_use]
pub fn title(record: &FrontierRecord) -> String {
    format!("{}: the frontier of transactions and queries", record.workload)
}

/// Writes what the page shows.
pub fn body(record: &FrontierRecord, html: &mut Html) {
    html.list(findings(record).iter().map(String::as_str));
    html.raw("<figure>").drawing(&svg(record)).raw("</figure>\n");
    html.raw(
        "<p class=\"note\">Each point is a rate of transactions beside a number of streams. Box: the highest of each side. Dashed: in \
         proportion, as if both shared the server by turns; points below it disturb each other. Crosses: 95 % intervals of several \
         runs, or of the sets of queries of one.</p>\n",
    );
    let columns: Vec<PageColumn<'_>> =
        std::iter::once(("rate", true)).chain(COLUMNS.map(|name| (name, true))).collect();
    let rows: Vec<Vec<String>> =
        rows(record).into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect()).collect();
    html.heading("Points").table(&columns, &rows);
    if let Some(note) = reach_note(record) {
        html.raw("<p class=\"note\">").text(note).raw("</p>\n");
    }
    let missed: Vec<String> = record
        .points
        .iter()
        .filter_map(|point| Some(format!("{}: {}", place(point), point.missed.as_ref()?)))
        .collect();
    if !missed.is_empty() {
        html.heading("Missed").list(missed.iter().map(String::as_str));
    }
    html.raw("<details><summary>The runs of each point</summary>\n<ul>\n");
    for point in record.points.iter().filter(|point| !point.runs.is_empty()) {
        html.raw("<li>").text(&place(point)).raw(":").run_links(&point.runs).raw("</li>\n");
    }
    html.raw("</ul></details>\n");
}
