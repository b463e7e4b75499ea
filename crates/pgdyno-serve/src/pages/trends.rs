//! The trend of each workload and target: the headline metric over comparable runs, as a small chart that needs no script.

use pgdyno_report::history::{Histories, History, HistoryOptions, HistoryVerdict, headline, histories};
use pgdyno_report::html::Html;
use pgdyno_results::RunRecord;

use super::history::{mark, value};
use crate::run_source::Listed;

/// Maximum number of series that are shown; the page of histories has all.
const SERIES_MAX: usize = 8;

/// Least number of runs of a trend.
const RUNS_MIN: usize = 2;

/// The last runs of a series that are drawn.
const DRAWN_MAX: usize = 60;

/// Width and height of a chart, and the room around its line.
const SIZE: (f64, f64, f64) = (220.0, 44.0, 5.0);

/// Appends the trends of these runs, if there are any.
pub(super) fn trends(runs: &[&Listed], html: &mut Html) {
    let records: Vec<&RunRecord> =
        runs.iter().filter(|run| !run.goes_on).filter_map(|run| run.record.as_deref().ok()).collect();
    // Each series has its own headline metric: no name can be wrong.
    let Ok(found) = histories(&records, &HistoryOptions::default()) else { return };
    let shown: Vec<_> = found.series.iter().filter(|history| history.runs.len() >= RUNS_MIN).collect();
    if shown.is_empty() {
        return;
    }
    html.raw("<section class=\"trends\" aria-label=\"trends\">\n");
    for history in shown.iter().take(SERIES_MAX) {
        card(history, &found, html);
    }
    html.raw("</section>\n");
    if shown.len() > SERIES_MAX {
        html.raw("<p class=\"hint\"><a href=\"/history\">").text(&format!("all {} series", shown.len()));
        html.raw("</a></p>\n");
    }
}

fn card(history: &History, histories: &Histories, html: &mut Html) {
    let Some(last) = history.runs.last() else { return };
    html.raw("<a class=\"trend\" href=\"/history?run=").text(&last.id).raw("\"><span class=\"name\">");
    html.text(&history.name).raw("</span>\n<span class=\"now\"><b>").text(&value(history, last.value)).raw("</b> ");
    html.text(history.metric.title()).raw("</span>");
    line(history, html);
    html.raw("<span class=\"text\">");
    mark(history.verdict).draw(html);
    html.text(&reported(history, histories)).raw("</span></a>\n");
}

fn reported(history: &History, histories: &Histories) -> String {
    let runs = history.runs.len();
    match history.verdict {
        HistoryVerdict::Undecided => format!("{runs} runs: too few to tell a change"),
        HistoryVerdict::NoChange => format!("{}, {runs} runs", headline(history, histories.confidence)),
        HistoryVerdict::Slower | HistoryVerdict::Faster => headline(history, histories.confidence),
    }
}

/// Draws the last runs, from the minimum to the maximum, with the change points among them.
fn line(history: &History, html: &mut Html) {
    let (width, height, room) = SIZE;
    let first = history.runs.len().saturating_sub(DRAWN_MAX);
    let values: Vec<f64> = history.runs[first..].iter().map(|run| run.value).collect();
    let (least, most) =
        (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max));
    // A change of a percent is not to look like a cliff.
    let span = (most - least).max(most * 0.05).max(f64::MIN_POSITIVE);
    let middle = f64::midpoint(least, most);
    let x = |nth: f64| room + (width - 2.0 * room) * nth / (values.len() - 1).max(1) as f64;
    let y = |value: f64| height / 2.0 - (height - 2.0 * room) * (value - middle) / span;
    let point = |(nth, value): (usize, &f64)| format!("{:.1} {:.1}", x(nth as f64), y(*value));
    let path: Vec<String> = values.iter().enumerate().map(point).collect();
    html.raw("<svg class=\"course\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 ")
        .text(&format!("{width} {height}"));
    let words = format!("{} of the last {} runs", history.metric.title(), values.len());
    html.raw("\" aria-label=\"").text(&words).raw("\">");
    for change in history.changes.iter().filter(|change| change.at > first) {
        html.raw(if change.is_slower { "<path class=\"slower\" d=\"" } else { "<path class=\"faster\" d=\"" });
        html.text(&format!("M{:.1} 0V{height}", x((change.at - first) as f64 - 0.5))).raw("\"/>");
    }
    html.raw("<path class=\"line\" d=\"M").text(&path.join("L")).raw("\"/>");
    if let Some(last) = values.last() {
        let (x, y) = (x((values.len() - 1) as f64), y(*last));
        html.raw("<path class=\"last\" d=\"").text(&format!("M{x:.1} {y:.1}h.01")).raw("\"/>");
    }
    html.raw("</svg>");
}
