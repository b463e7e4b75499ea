//! The history of a figure over all comparable runs, with its change points. The chart is drawn here and needs no script.

use form_urlencoded::Serializer;
use pgdyno_report::history::{
    Histories, History, HistoryChange, HistoryOptions, HistoryVerdict, change_lines, drift_text, headline, histories,
    left_out,
};
use pgdyno_report::html::{Html, VerdictMark};
use pgdyno_results::{RunRecord, Unit};
use pgdyno_text::units;

use super::{begin, end, run};
use crate::query::HistoryQuery;
use crate::run_source::Listed;

/// The size of a chart.
const SIZE: (f64, f64) = (960.0, 260.0);

/// The area of the runs: left, right, top, bottom.
const PLOT: (f64, f64, f64, f64) = (70.0, 950.0, 26.0, 236.0);

/// Runs of each level that are compared by one click.
const COMPARED: usize = 10;

/// Maximum number of series on a page.
const SERIES_MAX: usize = 30;

/// Returns the page; `runs` are all, the latest first.
///
/// # Errors
/// A message, when no run has the metric that is asked for.
pub(crate) fn history(place: &str, runs: &[Listed], query: &HistoryQuery) -> Result<String, String> {
    let (selected, _) = query.filters.select(runs);
    let of_run = query.run.as_ref();
    let ended = selected.iter().filter(|listed| !listed.goes_on);
    let records: Vec<&RunRecord> = ended.filter_map(|listed| listed.record.as_deref().ok()).collect();
    let slices = of_run.is_some() || !query.filters.value("suite").is_empty();
    let options =
        HistoryOptions { metric: query.metric.clone(), label: query.by.clone(), slices, ..HistoryOptions::default() };
    let mut found = histories(&records, &options)?;
    if let Some(id) = of_run {
        found.series.retain(|history| history.runs.iter().any(|run| run.id == *id));
    }
    let mut html = begin("History", "/history");
    html.raw("<p class=\"hint\">Runs of the same work on the same target, oldest first, as <code>pgdyno history</code> compares \
              them. A dot is a run and leads to its report; a line is the level between changes. The runs are those in ");
    html.text(place).raw(".</p>\n");
    let (long, short): (Vec<_>, Vec<_>) = found.series.iter().partition(|history| history.noise.is_some());
    let shown = if long.is_empty() { &short } else { &long };
    if shown.is_empty() {
        html.raw("<p>no run has a place in a history</p>\n");
    }
    for history in shown.iter().take(SERIES_MAX) {
        series(history, &found, of_run.map(String::as_str), &mut html);
    }
    let beside = found.series.len() - shown.len().min(SERIES_MAX);
    if beside > 0 {
        html.raw("<p class=\"hint\">")
            .text(&format!("{beside} more series, most of few runs, are not shown."))
            .raw("</p>\n");
    }
    if let Some(line) = left_out(&found) {
        html.raw("<p class=\"hint\">left out: ").text(&line).raw("</p>\n");
    }
    if let [history] = shown[..] {
        table(history, &mut html);
    }
    Ok(end(html))
}

fn series(history: &History, histories: &Histories, of_run: Option<&str>, html: &mut Html) {
    html.heading(&history.name);
    html.raw("<p class=\"mark verdict\">");
    mark(history.verdict).draw(html);
    html.raw("<span>").text(history.metric.title()).raw(": ").text(&headline(history, histories.confidence));
    html.raw("</span></p>\n");
    chart(history, of_run, html);
    if history.changes.is_empty() && history.drifts.is_empty() {
        return;
    }
    html.raw("<ul class=\"changes\">\n");
    for (nth, change) in history.changes.iter().enumerate().rev() {
        html.raw("<li><b class=\"").raw(class(change)).raw("\">").text(&percent(change)).raw("</b> at ");
        html.raw("<a href=\"").text(&run(&history.runs[change.at].id)).raw("\">").text(&history.runs[change.at].name);
        html.raw("</a>, ").text(&change_lines(history, change, histories.confidence).join("; "));
        html.raw(" <a href=\"").text(&comparison(history, nth)).raw("\">compare</a></li>\n");
    }
    for drift in &history.drifts {
        html.raw("<li>").text(&drift_text(history, drift)).raw("</li>\n");
    }
    html.raw("</ul>\n");
}

fn class(change: &HistoryChange) -> &'static str {
    if change.is_slower { "slower" } else { "faster" }
}

fn percent(change: &HistoryChange) -> String {
    format!("{:+.1} %", (change.change.ratio - 1.0) * 100.0)
}

/// Returns the address of a comparison of the runs around a change.
fn comparison(history: &History, nth: usize) -> String {
    let [before, after] = history.around(nth);
    let mut address = Serializer::for_suffix("/compare?".to_owned(), "/compare?".len());
    for run in &history.runs[before.end.saturating_sub(COMPARED).max(before.start)..before.end] {
        address.append_pair("base", &run.id);
    }
    for run in &history.runs[after.start..after.end.min(after.start + COMPARED)] {
        address.append_pair("new", &run.id);
    }
    address.finish()
}

/// Returns the mark of a verdict.
pub(super) fn mark(verdict: HistoryVerdict) -> VerdictMark {
    match verdict {
        HistoryVerdict::Faster => VerdictMark::Faster,
        HistoryVerdict::Slower => VerdictMark::Slower,
        HistoryVerdict::NoChange => VerdictMark::Equal,
        HistoryVerdict::Undecided => VerdictMark::Unknown,
    }
}

/// Returns a value in the unit of the metric's title.
pub(super) fn value(history: &History, value: f64) -> String {
    match history.metric.unit() {
        Unit::Nanoseconds => units::ms(value.round() as u64),
        Unit::Percent => format!("{value:.0}"),
        Unit::Seconds => units::seconds(value),
        Unit::PerSecond | Unit::PerMinute | Unit::PerHour => units::rate(value),
    }
}

/// Draws the runs with their levels and change points.
fn chart(history: &History, of_run: Option<&str>, html: &mut Html) {
    let (left, right, top, bottom) = PLOT;
    let runs = &history.runs;
    let values = || runs.iter().map(|run| run.value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let room = ((most - least) * 0.06).max(most * 0.002);
    let (low, high) = (least - room, most + room);
    let x = |nth: f64| left + (right - left) * (nth + 0.5) / runs.len() as f64;
    let y = |value: f64| bottom - (bottom - top) * (value - low) / (high - low);
    let number = |n: f64| format!("{n:.1}");
    html.raw("<div class=\"wide\"><svg class=\"history\" role=\"group\" viewBox=\"0 0 ")
        .text(&format!("{} {}", SIZE.0, SIZE.1));
    html.raw("\" aria-label=\"").text(&format!("{} of {} runs", history.metric.title(), runs.len())).raw("\">\n");
    for tick in ticks(low, high) {
        let at = number(y(tick));
        html.raw("<path class=\"grid\" d=\"").text(&format!("M{left} {at}H{right}")).raw("\"/>");
        html.raw("<text class=\"tick\" x=\"").text(&number(left - 8.0)).raw("\" y=\"").text(&number(y(tick) + 4.0));
        html.raw("\">").text(&value(history, tick)).raw("</text>\n");
    }
    for (nth, run) in [runs.first(), runs.last()].into_iter().flatten().enumerate() {
        let day = run.started_at.split('T').next().unwrap_or_default();
        html.raw("<text class=\"").raw(if nth == 0 { "first" } else { "last" }).raw("\" x=\"");
        html.text(&number(if nth == 0 { left } else { right })).raw("\" y=\"").text(&number(bottom + 18.0));
        html.raw("\">").text(day).raw("</text>\n");
    }
    let ends: Vec<usize> =
        std::iter::once(0).chain(history.changes.iter().map(|change| change.at)).chain([runs.len()]).collect();
    for (from, to) in ends.windows(2).map(|of| (of[0], of[1])) {
        let corner = |nth: usize| format!("{} {}", number(x(nth as f64)), number(y(runs[nth].level)));
        let line: Vec<_> = (from..to).map(corner).collect();
        html.raw("<path class=\"level\" d=\"M").text(&line.join("L")).raw("\"/>\n");
    }
    for (nth, change) in history.changes.iter().enumerate() {
        let at = x(change.at as f64 - 0.5);
        html.raw("<a href=\"")
            .text(&comparison(history, nth))
            .raw("\"><g class=\"change ")
            .raw(class(change))
            .raw("\">");
        html.raw("<path d=\"").text(&format!("M{} {top}V{bottom}", number(at))).raw("\"/><text x=\"").text(&number(at));
        html.raw("\" y=\"").text(&number(top - 8.0)).raw("\">").text(&percent(change)).raw("</text></g></a>\n");
    }
    for (nth, one) in runs.iter().enumerate() {
        html.raw("<a href=\"").text(&run(&one.id)).raw("\"><circle");
        if of_run == Some(one.id.as_str()) {
            html.raw(" class=\"this\"");
        }
        html.raw(" cx=\"").text(&number(x(nth as f64))).raw("\" cy=\"").text(&number(y(one.value))).raw("\" r=\"");
        html.raw(if runs.len() > 150 { "2.5" } else { "4" }).raw("\"><title>");
        let labels: Vec<_> = one.labels.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        html.text(&format!(
            "{} {}, {}{}",
            value(history, one.value),
            history.metric.title(),
            one.started_at.split('.').next().unwrap_or_default().replacen('T', " ", 1),
            labels.concat()
        ));
        html.raw("</title></circle></a>\n");
    }
    html.raw("</svg></div>\n");
}

/// Returns round numbers between the ends, three to eight.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 4.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= raw * 0.8).unwrap_or(raw);
    let first = (low / step).ceil() as i64;
    (first..).map(|nth| nth as f64 * step).take_while(|tick| *tick <= high).collect()
}

/// Appends the runs, the latest first.
fn table(history: &History, html: &mut Html) {
    html.heading("Its runs");
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"runs\"><table><thead><tr>");
    html.raw("<th scope=\"col\">began (UTC)</th><th scope=\"col\">run</th><th class=\"n\" scope=\"col\">");
    html.text(history.metric.title()).raw("</th><th class=\"n\" scope=\"col\">change</th></tr></thead><tbody>\n");
    for (nth, one) in history.runs.iter().enumerate().rev() {
        let began = one.started_at.split(['.', 'Z']).next().unwrap_or_default().replacen('T', " ", 1);
        html.raw("<tr><td class=\"began\"><a href=\"").text(&run(&one.id)).raw("\">").text(&began).raw("</a></td><td>");
        html.text(&one.name).raw("</td><td class=\"n\">").text(&value(history, one.value)).raw("</td><td class=\"n\">");
        if let Some(change) = history.changes.iter().find(|change| change.at == nth) {
            html.raw("<b class=\"").raw(class(change)).raw("\">").text(&percent(change)).raw("</b>");
        }
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(870.0, 1020.0), [900.0, 950.0, 1000.0]);
        for (low, high) in [(0.9, 1.1), (1e6, 1.3e6), (99.0, 100.0), (3.0, 700.0)] {
            let ticks = ticks(low, high);
            assert!((2..=8).contains(&ticks.len()), "{low} {high}: {ticks:?}");
        }
    }
}
