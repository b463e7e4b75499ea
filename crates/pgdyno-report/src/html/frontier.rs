//! A frontier as a page: what it shows, the drawing, and the points. It needs no script.

use std::io::{self, Write};

use pgdyno_results::FrontierRecord;

use super::markup::{Column, Html};
use super::page::head;
use crate::frontier::{COLUMNS, findings, place, rows, svg};

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub(crate) fn write(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    let mut html = Html::default();
    let title = format!("{}: the frontier of transactions and queries", record.workload);
    head(&title, &mut html);
    html.raw("<header><div><p class=\"brand\">pgdyno</p><h1>").text(&title).raw("</h1><p class=\"sub\">");
    html.text(&format!("{} · {}", record.target, record.id)).raw("</p></div></header>\n<main>\n<section>\n");
    html.list(findings(record).iter().map(String::as_str));
    html.raw("<figure>").drawing(&svg(record)).raw("</figure>\n");
    html.raw(
        "<p class=\"note\">Each point is a rate of transactions beside a number of streams. Box: the highest of each side. Dashed: in \
         proportion, as if both shared the server by turns; points below it disturb each other. Crosses: from the least to the \
         greatest of several runs.</p>\n",
    );
    let columns: Vec<Column<'_>> = std::iter::once(("rate", true)).chain(COLUMNS.map(|name| (name, true))).collect();
    let rows: Vec<Vec<String>> =
        rows(record).into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect()).collect();
    html.heading("Points").table(&columns, &rows);
    let missed: Vec<String> = record
        .points
        .iter()
        .filter_map(|point| Some(format!("{}: {}", place(point), point.missed.as_ref()?)))
        .collect();
    if !missed.is_empty() {
        html.heading("Missed").list(missed.iter().map(String::as_str));
    }
    html.raw("<details><summary>The runs of each point</summary>\n");
    let runs: Vec<_> = record.points.iter().filter(|point| !point.runs.is_empty()).collect();
    let runs = runs.iter().map(|p| vec![format!("{:.0} %", p.share * 100.0), p.streams.to_string(), p.runs.join(" ")]);
    html.table(&[("rate", true), ("streams", true), ("runs", false)], &runs.collect::<Vec<_>>());
    html.raw("</details>\n</section>\n</main>\n</body></html>\n");
    out.write_all(html.into_string().as_bytes())
}
