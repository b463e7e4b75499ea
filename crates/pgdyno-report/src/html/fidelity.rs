//! A run of a fitted workload: captured against run as a picture, a point for each statement, and the table.

use pgdyno_results::{FidelityRecord, FidelityStatementRecord};
use pgdyno_text::brief;

use super::axes::{label, line};
use super::markup::Html;
use crate::fidelity::{NOTE, answer, headings, notes, rows};
use crate::search::curve::{CurveAxis, tick_text};

/// Height of the drawing in pixels. Its width is that of the page: places from left to right are percentages.
const HEIGHT: f64 = 346.0;

/// The area of the points: left and right in percent, top and bottom in pixels.
const PLOT: (f64, f64, f64, f64) = (12.0, 97.0, 16.0, 300.0);

/// Fewer blocks are drawn as these: an axis of ratios has no zero.
const BLOCKS_MIN: f64 = 0.5;

/// The margin around the smallest and the largest number, as a ratio.
const ROOM: f64 = 2.5;

/// The radius of a point in pixels: of the smallest share of the time, and what all of it adds.
const RADIUS: (f64, f64) = (4.0, 12.0);

/// Writes the section, if the workload was fitted.
pub(super) fn fidelity(fidelity: Option<&FidelityRecord>, html: &mut Html) {
    let Some(fidelity) = fidelity else { return };
    html.raw("<section id=\"fidelity\">\n").heading("Captured and run");
    html.raw("<p>").text(&answer(fidelity)).raw(".</p>\n");
    picture(fidelity, html);
    html.raw("<p class=\"note\">").raw(NOTE).raw("</p>\n");
    for note in notes(fidelity) {
        html.raw("<p class=\"note\">").text(&note).raw(".</p>\n");
    }
    html.raw("<details><summary>All figures of each statement</summary>\n");
    let headings = headings();
    let columns: Vec<_> = headings.iter().enumerate().map(|(nth, name)| (name.as_str(), nth > 0)).collect();
    html.table(&columns, &rows(fidelity)).raw("</details>\n</section>\n");
}

/// A statement that was executed, with its blocks of a call.
struct Point<'a> {
    statement: &'a FidelityStatementRecord,
    captured: f64,
    run: f64,
}

fn picture(fidelity: &FidelityRecord, html: &mut Html) {
    let point = |statement: &'_ FidelityStatementRecord| -> Option<(f64, f64)> {
        let run = statement.run.as_ref()?.blocks_per_call.max(BLOCKS_MIN);
        Some((statement.captured.blocks_per_call.max(BLOCKS_MIN), run))
    };
    let mut points: Vec<_> = fidelity
        .statements
        .iter()
        .filter_map(|statement| point(statement).map(|(captured, run)| Point { statement, captured, run }))
        .collect();
    let all = || points.iter().flat_map(|point| [point.captured, point.run]);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if points.is_empty() || !(most * ROOM).is_finite() {
        return;
    }
    let axis = CurveAxis::logarithmic(least / ROOM, most * ROOM);
    html.raw("<figure><figcaption><h3>Blocks of a call: captured from left to right, in this run upwards, both logarithmic</h3>");
    html.raw(
        "</figcaption>\n<ul class=\"keys\"><li><svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"-7 -5 14 10\">",
    );
    html.raw(
        "<circle class=\"met\" r=\"4.5\"/></svg>representative</li><li><svg class=\"loads key\" aria-hidden=\"true\" ",
    );
    html.raw("viewBox=\"-7 -5 14 10\"><circle class=\"open\" r=\"4.5\"/></svg>not representative</li><li><svg class=\"loads key\" ");
    html.raw(
        "aria-hidden=\"true\" viewBox=\"0 0 14 10\"><path class=\"bound\" d=\"M0 5H14\"/></svg>factor of 2</li></ul>\n",
    );
    html.raw("<svg class=\"loads\" role=\"img\" height=\"").text(&HEIGHT.to_string()).raw("\" aria-label=\"");
    html.raw("blocks of a call, captured and in this run\">\n");
    grid(&axis, html);
    // Small points are drawn over large ones.
    points.sort_by(|a, b| b.statement.time_percent.total_cmp(&a.statement.time_percent));
    for point in &points {
        mark(&axis, point, html);
    }
    html.raw("</svg>\n<p class=\"note\">Each point is a statement; the larger, the more of the captured time it has.</p></figure>\n");
}

fn x(axis: &CurveAxis, blocks: f64) -> f64 {
    let (left, right, ..) = PLOT;
    left + (right - left) * axis.share(blocks)
}

fn y(axis: &CurveAxis, blocks: f64) -> f64 {
    let (.., top, bottom) = PLOT;
    bottom - (bottom - top) * axis.share(blocks)
}

/// Draws the axes with their labels, the line on which both are equal, and those of twice and half as much.
fn grid(axis: &CurveAxis, html: &mut Html) {
    let (left, right, top, bottom) = PLOT;
    for tick in axis.ticks() {
        line("grid", (left, y(axis, tick)), (right, y(axis, tick)), html);
        label("end", (left - 1.5, y(axis, tick) + 4.0), &tick_text(tick), html);
        line("grid", (x(axis, tick), bottom), (x(axis, tick), bottom + 5.0), html);
        label("middle", (x(axis, tick), bottom + 20.0), &tick_text(tick), html);
    }
    line("axis", (left, top), (left, bottom), html);
    line("axis", (left, bottom), (right, bottom), html);
    label("middle", ((left + right) / 2.0, bottom + 40.0), "blocks of a call, captured", html);
    line("course", (left, bottom), (right, top), html);
    let (from, to) = axis.ends();
    for factor in [2.0, 0.5_f64] {
        let [first, last] = [from.max(from / factor), to.min(to / factor)];
        let at = |blocks: f64| (x(axis, blocks), y(axis, blocks * factor));
        line("bound", at(first), at(last), html);
    }
}

/// Draws a statement, with its figures as a title.
fn mark(axis: &CurveAxis, point: &Point<'_>, html: &mut Html) {
    let statement = point.statement;
    let share = (statement.time_percent / 100.0).clamp(0.0, 1.0);
    html.raw("<svg x=\"").text(&format!("{:.2}%", x(axis, point.captured))).raw("\" y=\"");
    html.text(&format!("{:.1}", y(axis, point.run))).raw("\" overflow=\"visible\"><g><title>");
    html.text(&format!(
        "{}: captured {} blocks a call, {} in this run; {} of the captured time",
        statement.script,
        brief::number(statement.captured.blocks_per_call),
        brief::number(point.run),
        brief::percent(share)
    ));
    html.raw("</title><circle class=\"").raw(if statement.is_representative { "met" } else { "open" });
    html.raw("\" r=\"")
        .text(&format!("{:.1}", RADIUS.0 + RADIUS.1 * share.sqrt()))
        .raw("\" fill-opacity=\"0.75\"/></g></svg>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_executed_statement_is_a_point_and_nothing_of_a_name_is_markup() {
        let mut html = Html::default();
        fidelity(Some(&crate::fidelity::tests::fidelity()), &mut html);
        let page = html.into_string();
        let drawn = page.split("<svg class=\"loads\" role").nth(1).unwrap();
        assert_eq!(["\"met\"", "\"open\""].map(|class| drawn.matches(class).count()), [1, 1], "{page}");
        assert!(page.contains("02-&lt;b&gt;|x.sql") && !page.contains("<b>|x"), "{page}");
        assert!(page.contains("80 % of the captured time") && page.contains("03-update-t.sql (not representative)"));
        assert_eq!(drawn.matches("line class=\"bound\"").count(), 2);
        let mut none = Html::default();
        fidelity(None, &mut none);
        assert_eq!(none.into_string(), "");
    }
}
