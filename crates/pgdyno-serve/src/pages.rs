//! The HTML pages. Text of the user and of the database goes through [`Html::text`], which escapes it; the style is
//! that of reports.

pub(crate) mod assets;
mod columns;
mod experiments;
mod frontiers;
mod history;
mod list;
pub(crate) mod live;
pub(crate) mod metrics;
pub(crate) mod news;
mod searches;
mod suites;
mod trends;

use pgdyno_report::history::before;
use pgdyno_report::html::{Html, Link};
use pgdyno_results::RunRecord;

use crate::run_source::Listed;

pub(crate) use columns::Column;
pub(crate) use experiments::{experiment, experiments};
pub(crate) use frontiers::{frontier, frontiers};
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use searches::{search, searches};
pub(crate) use suites::suites;

/// The pages that every page links to.
const NAVIGATION: [(&str, &str); 6] = [
    ("/", "Runs"),
    ("/history", "History"),
    ("/suites", "Suites"),
    ("/experiments", "Experiments"),
    ("/searches", "Searches"),
    ("/frontiers", "Frontiers"),
];

/// Returns the start of a page, up to its content.
fn begin(title: &str, here: &str) -> Html {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>").text(title).raw(" – pgdyno</title>\n");
    html.raw("<link rel=\"icon\" href=\"/assets/icon.svg\"><link rel=\"stylesheet\" href=\"/assets/report.css\">");
    html.raw("<link rel=\"stylesheet\" href=\"/assets/serve.css\">\n</head>\n<body>\n");
    html.raw("<header><div><p class=\"brand\">pgdyno</p><h1>").text(title).raw("</h1></div>\n<nav>");
    for (address, name) in NAVIGATION {
        html.raw("<a href=\"").text(address).raw(if address == here { "\" aria-current=\"page\">" } else { "\">" });
        html.text(name).raw("</a>");
    }
    html.raw("</nav></header>\n").raw(MAIN);
    html
}

/// The beginning of the content.
const MAIN: &str = "<main>\n";

/// Returns a page with a notice at the beginning of its content.
pub(crate) fn with_notice(page: &str, notice: &str) -> String {
    let mut html = Html::default();
    html.raw(MAIN).raw("<p class=\"bad\" role=\"status\">").text(notice).raw("</p>\n");
    page.replacen(MAIN, &html.into_string(), 1)
}

/// Returns the page with its end.
fn end(mut html: Html) -> String {
    html.raw("</main>\n</body></html>\n");
    html.into_string()
}

/// Returns the links of the report of a run.
pub(crate) fn links(runs: &[Listed], id: &str) -> Vec<Link> {
    let link = |address: String, words: &str| Link { address, words: words.to_owned() };
    let mut links = vec![link("/".to_owned(), "All runs"), link(format!("/history?run={id}"), "History of such runs")];
    let records: Vec<&RunRecord> = runs.iter().filter_map(|run| run.record.as_deref().ok()).collect();
    if let Some(before) = before(&records, id) {
        links.push(link(format!("/compare?base={before}&new={id}"), "Compare with the run before"));
    }
    links
}

/// Returns the address of a run, whose name needs no escapes there.
fn run(id: &str) -> String {
    format!("/runs/{id}")
}

/// Which runs can be compared.
const CHOOSE: &str = "<p class=\"hint\">Runs take part that are complete and have committed transactions; the others are \
                      left out. <a href=\"/?status=complete\">Choose among the complete runs</a>.</p>\n";

/// Returns the page of an error.
pub(crate) fn error(status: u16, why: &str) -> String {
    let (title, remedy) = match status {
        400 => ("That was not understood", ""),
        403 => ("That is refused", ""),
        404 => ("Nothing is here", ""),
        405 => ("That is not done here", ""),
        422 => ("These runs cannot be compared", CHOOSE),
        _ => ("That went wrong", ""),
    };
    let mut html = begin(title, "");
    html.raw("<p class=\"bad\">").text(why).raw("</p>\n").raw(remedy);
    end(html)
}
