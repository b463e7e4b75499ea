//! A search as a page: the answer, load against latency, and the loads. It needs no script.

use std::io::{self, Write};

use pgdyno_results::{SearchRecord, SearchStatus};

use super::axes::{label, line};
use super::head::study_page;
use super::mark::VerdictMark;
use super::markup::Html;
use super::sentence_case;
use crate::search::curve::{CurvePoint, LoadCurve, LoadSign, tick_text};
use crate::search::{HEADER, answer, findings, load, rows};

/// Height of the drawing in pixels. Its width is that of the page: places from left to right are percentages.
const HEIGHT: f64 = 316.0;

/// The area of the points: left and right in percent, top and bottom in pixels.
const PLOT: (f64, f64, f64, f64) = (12.0, 97.0, 16.0, 290.0);

/// Labels of loads that are closer than this many percent would overlap on a narrow page.
const LABEL_PERCENT: f64 = 14.0;

/// Writes the page of a search.
///
/// # Errors
/// When `out` refuses it.
pub(crate) fn write(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    study_page(&title(record), &record.id, out, |html| {
        body(record, html);
        runs(record, html);
    })
}

/// Returns the heading of its page.
#[must_use]
pub fn title(record: &SearchRecord) -> String {
    format!("{} on {}", record.workload, record.target)
}

/// Writes what the page shows, without the links to the runs.
pub fn body(record: &SearchRecord, html: &mut Html) {
    let mark = match record.status {
        SearchStatus::Found => VerdictMark::Good,
        SearchStatus::NoneKept | SearchStatus::Failed => VerdictMark::NotUsable,
        SearchStatus::Interrupted | SearchStatus::Undecided => VerdictMark::Unknown,
    };
    html.raw("<div class=\"card trust ").raw(mark.class()).raw("\">\n<p class=\"mark\">");
    mark.draw(html);
    html.raw("<b>").text(&sentence_case(&answer(record))).raw("</b></p>\n");
    html.list(findings(record).iter().map(String::as_str)).raw("</div>\n");
    if let Some(curve) = LoadCurve::of(record) {
        figure(&curve, &record.by, html);
    }
    let columns = HEADER.map(|name| (name, name != "verdict"));
    html.heading("The loads").table(&columns, &rows(record).into_iter().map(Vec::from).collect::<Vec<_>>());
}

/// The runs of each load, with links from a page beside the record.
fn runs(record: &SearchRecord, html: &mut Html) {
    html.raw("<details><summary>The runs of each load</summary>\n<ul>\n");
    for point in record.points.iter().filter(|point| !point.runs.is_empty()) {
        html.raw("<li>").text(&load(&record.by, point.load)).raw(":").run_links(&point.runs).raw("</li>\n");
    }
    html.raw("</ul></details>\n");
}

fn figure(curve: &LoadCurve, by: &str, html: &mut Html) {
    html.raw("<figure><figcaption><h3>").text(&curve.title(by)).raw("</h3></figcaption>\n");
    html.raw("<ul class=\"keys\">");
    for sign in LoadSign::ALL.into_iter().filter(|sign| curve.points.iter().any(|point| point.sign == *sign)) {
        html.raw("<li><svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"-7 -5 14 10\">");
        shape(sign, html);
        html.raw("</svg>").text(sign.name()).raw("</li>");
    }
    if let Some((objective, _)) = &curve.objective {
        html.raw("<li><svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"0 0 14 10\">");
        html.raw("<path class=\"bound\" d=\"M0 5H14\"/></svg>").text(objective).raw("</li>");
    }
    html.raw("</ul>\n<svg class=\"loads\" role=\"img\" height=\"").text(&HEIGHT.to_string()).raw("\" aria-label=\"");
    html.text(&curve.title(by)).raw("\">\n");
    grid(curve, html);
    for pair in curve.points.windows(2) {
        let [from, to] = [&pair[0], &pair[1]].map(|point| (x(curve, point.load), y(curve, point.middle_ms)));
        line("course", from, to, html);
    }
    for point in &curve.points {
        let at = x(curve, point.load);
        line("reach", (at, y(curve, point.low_ms)), (at, y(curve, point.high_ms)), html);
    }
    for point in &curve.points {
        mark(curve, point, by, html);
    }
    html.raw("</svg>\n<p class=\"note\">Each point is the median of the runs at this load. The vertical line goes from the lowest run \
              to the highest.</p></figure>\n");
}

/// Returns the place of a load, in percent.
fn x(curve: &LoadCurve, load: f64) -> f64 {
    let (left, right, ..) = PLOT;
    left + (right - left) * curve.loads.share(load)
}

/// Returns the place of a latency, in pixels.
fn y(curve: &LoadCurve, ms: f64) -> f64 {
    let (.., top, bottom) = PLOT;
    bottom - (bottom - top) * curve.latencies.share(ms)
}

/// Draws the labels of both axes, and the objective.
fn grid(curve: &LoadCurve, html: &mut Html) {
    let (left, right, top, bottom) = PLOT;
    let bound = curve.objective.as_ref().map(|(_, bound_ms)| *bound_ms);
    for tick in curve.latencies.ticks() {
        let at = y(curve, tick);
        line("grid", (left, at), (right, at), html);
        // The objective has its own label.
        if bound.is_none_or(|bound| (y(curve, bound) - at).abs() > 12.0) {
            label("end", (left - 1.5, at + 4.0), &tick_text(tick), html);
        }
    }
    let mut last = f64::NEG_INFINITY;
    for tick in curve.loads.ticks() {
        let at = x(curve, tick);
        line("grid", (at, bottom), (at, bottom + 5.0), html);
        if at - last >= LABEL_PERCENT {
            label("middle", (at, bottom + 20.0), &tick_text(tick), html);
            last = at;
        }
    }
    line("axis", (left, top), (left, bottom), html);
    line("axis", (left, bottom), (right, bottom), html);
    if let Some(bound_ms) = bound {
        let at = y(curve, bound_ms);
        line("bound", (left, at), (right, at), html);
        label("end", (left - 1.5, at + 4.0), &tick_text(bound_ms), html);
    }
}

/// Draws a point with its figures as a title.
fn mark(curve: &LoadCurve, point: &CurvePoint, by: &str, html: &mut Html) {
    html.raw("<svg x=\"").text(&format!("{:.2}%", x(curve, point.load))).raw("\" y=\"");
    html.text(&format!("{:.1}", y(curve, point.middle_ms))).raw("\" overflow=\"visible\"><g><title>");
    let figures = [point.low_ms, point.middle_ms, point.high_ms].map(|ms| pgdyno_text::units::ms((ms * 1e6) as u64));
    let [low, middle, high] = figures;
    let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
    html.text(&format!("{}, {}: {} {middle} ms{range}", load(by, point.load), point.sign.name(), curve.figure));
    html.raw("</title>");
    shape(point.sign, html);
    html.raw("</g></svg>\n");
}

/// Draws the sign of a load around the origin: a disc, a cross or a hollow diamond.
fn shape(sign: LoadSign, html: &mut Html) {
    html.raw(match sign {
        LoadSign::Met => "<circle class=\"met\" r=\"4.5\"/>",
        LoadSign::Missed => "<path class=\"missed\" d=\"M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5\"/>",
        LoadSign::Undecided => "<path class=\"open\" d=\"M0 -6L6 0L0 6L-6 0Z\"/>",
    });
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{RunFigures, SearchPoint};

    use super::*;

    #[test]
    fn the_page_draws_each_load_by_its_verdict_and_nothing_of_a_name_is_markup() {
        let point = |load: f64, verdict: &str, ms: [f64; 2]| SearchPoint {
            load,
            verdict: verdict.to_owned(),
            repeats: 2,
            of_runs: vec![RunFigures {
                name: "p99".to_owned(),
                latency_ns: ms.map(|ms| ms * 1e6).into(),
                failed_share: vec![],
            }],
            runs: vec!["20260101T000000Z-noop-0001".to_owned(), "\"><script>".to_owned()],
            ..SearchPoint::default()
        };
        let started = jiff::Timestamp::UNIX_EPOCH;
        let mut record = SearchRecord::begin("s".into(), started, "<b>".into(), "none".into(), "clients");
        (record.status, record.kept, record.broken, record.reason) = (SearchStatus::Found, Some(8.0), Some(16.0), None);
        record.objectives = vec!["p99 < 10ms".to_owned()];
        record.points = vec![
            point(4.0, "kept", [2.0, 2.0]),
            point(8.0, "kept", [7.0, 9.0]),
            point(12.0, "cannot tell", [9.0, 12.0]),
            point(16.0, "broken", [20.0, 30.0]),
        ];
        let mut page = Vec::new();
        write(&record, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let drawn = page.split("<svg class=\"loads\" role").nth(1).unwrap();
        assert_eq!(["\"met\"", "\"missed\"", "\"open\""].map(|class| drawn.matches(class).count()), [2, 1, 1]);
        assert_eq!((drawn.matches("line class=\"bound\"").count(), drawn.matches("\"reach\"").count()), (1, 4));
        assert!(page.contains("Most clients with p99 &lt; 10ms: 8 clients"), "{page}");
        assert!(page.contains("12 clients, undecided: p99 10.5 ms (9.00 to 12.0)"), "{page}");
        assert!(page.contains("<h1>&lt;b&gt; on none") && !page.contains("<script>"), "{page}");
        record.points.clear();
        let mut empty = Vec::new();
        write(&record, &mut empty).unwrap();
        assert!(!String::from_utf8(empty).unwrap().contains("<figure>"));
    }
}
