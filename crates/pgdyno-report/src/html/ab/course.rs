//! The estimate of an experiment after each unit, with its interval: it narrows with time.

use pgdyno_measure::ab::{CoursePoint, Experiment};
use pgdyno_results::AbRecord;
use pgdyno_text::units::duration;

use super::super::axes::{label, line};
use super::super::markup::Html;
use crate::compare::words::{share, signed};

/// Height of the drawing in pixels. Its width is that of the page: places from left to right are percentages.
const HEIGHT: f64 = 250.0;

/// The area of the estimates: left and right in percent, top and bottom in pixels.
const PLOT: (f64, f64, f64, f64) = (14.0, 98.0, 12.0, 220.0);

/// Labels of units that are closer than this many percent would overlap on a narrow page.
const LABEL_PERCENT: f64 = 9.0;

/// How far the axis reaches from no change, as ratios, and a tick between, the first in which everything fits.
const REACHES: [[f64; 2]; 9] =
    [[1.02, 1.01], [1.05, 1.02], [1.1, 1.05], [1.2, 1.1], [1.5, 1.2], [2.0, 1.4], [5.0, 2.0], [10.0, 3.0], [20.0, 4.0]];

/// Draws the estimates, if there are any.
pub(super) fn course(record: &AbRecord, html: &mut Html) {
    let units: Vec<f64> = record.units.iter().map(|unit| unit.log_ratio).collect();
    let experiment = Experiment { margin: record.margin, confidence: record.confidence, looks: record.looks };
    let course = experiment.course(&units);
    let Some(last) = course.last() else { return };
    let [end, tick] = reach(&units, last);
    let (left, right, top, bottom) = PLOT;
    let x = |units: usize| left + (right - left) * (units as f64 - 0.5) / last.units as f64;
    let middle = f64::midpoint(top, bottom);
    let y = |ratio: f64| middle - (bottom - top) / 2.0 * (ratio.ln() / end.ln()).clamp(-1.0, 1.0);
    html.heading("The change after each unit");
    html.raw("<figure><ul class=\"keys\"><li><svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"0 0 14 10\">");
    html.raw("<line class=\"interval\" x1=\"7\" y1=\"0\" x2=\"7\" y2=\"10\"/><circle class=\"estimate\" cx=\"7\" cy=\"5\" r=\"3\"/></svg>");
    html.text("all units so far, with interval").raw("</li><li>");
    html.raw("<svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"0 0 14 10\"><circle class=\"unit\" cx=\"7\" cy=\"5\" r=\"3\"/></svg>");
    html.raw("one unit</li></ul>\n<svg class=\"loads whole\" role=\"img\" height=\"").text(&HEIGHT.to_string());
    html.raw("\" aria-label=\"The change from A to B after each unit, with its interval\">\n");
    for ratio in [end, tick, 1.0, 1.0 / tick, 1.0 / end] {
        let at = y(ratio);
        line(if ratio == 1.0 { "axis" } else { "grid" }, (left, at), (right, at), html);
        label("end", (left - 1.5, at + 4.0), &ratio_text(ratio), html);
    }
    let mut labelled = f64::NEG_INFINITY;
    for CoursePoint { units: n, ratio, interval } in &course {
        let (at, unit) = (x(*n), &record.units[n - 1]);
        if at - labelled >= LABEL_PERCENT {
            label("middle", (at, bottom + 20.0), &n.to_string(), html);
            labelled = at;
        }
        if let Some([low, high]) = interval {
            line("interval", (at, y(*low)), (at, y(*high)), html);
        }
        let of_unit = unit.log_ratio.exp();
        dot("unit", (at, y(of_unit)), &format!("unit {n}: {}", signed(of_unit)), html);
        let after = unit.ended_s.map_or_else(String::new, |ended_s| format!(", {}", duration(ended_s)));
        let interval =
            interval.map_or_else(String::new, |[low, high]| format!(" ({} to {})", signed(low), signed(high)));
        dot("estimate", (at, y(*ratio)), &format!("after unit {n}{after}: {}{interval}", signed(*ratio)), html);
    }
    html.raw("</svg>\n<p class=\"note\">From left to right: units");
    if last.units < units.len() {
        html.text(&format!(", the first {} of {}", last.units, units.len()));
    }
    if let Some(ended_s) = record.units.last().and_then(|unit| unit.ended_s) {
        html.text(&format!(", {} in all", duration(ended_s)));
    }
    html.text(&format!(
        ". ×2 is twice the figure of A, ÷2 half of it. Bars: the interval that a look after the unit would have, which holds at all \
         looks with {} confidence. Those of the first units may be wider than the drawing.",
        share(record.confidence)
    ));
    html.raw("</p></figure>\n");
}

/// Returns the ratio to which the axis reaches, and the tick between. The intervals of the first units count only if there are no
/// others.
fn reach(units: &[f64], last: &CoursePoint) -> [f64; 2] {
    let ends = last.interval.into_iter().flatten().map(|ratio| ratio.ln().abs());
    let most = units.iter().map(|log| log.abs()).chain(ends).fold(0.0, f64::max);
    let [.., widest] = REACHES;
    REACHES.into_iter().find(|[end, _]| end.ln() >= most).unwrap_or(widest)
}

/// Returns a ratio as a factor: `×1.1`, `÷2`.
fn ratio_text(ratio: f64) -> String {
    match ratio {
        1.0 => "1".to_owned(),
        ratio if ratio > 1.0 => format!("×{ratio}"),
        ratio => format!("÷{}", (100.0 / ratio).round() / 100.0),
    }
}

fn dot(class: &'static str, at: (f64, f64), title: &str, html: &mut Html) {
    html.raw("<circle class=\"").raw(class).raw("\" r=\"3.5\" cx=\"").text(&format!("{:.2}%", at.0)).raw("\" cy=\"");
    html.text(&format!("{:.1}", at.1)).raw("\"><title>").text(title).raw("</title></circle>\n");
}

#[cfg(test)]
mod tests {
    use pgdyno_results::AbUnit;

    use super::*;

    fn drawn(units: &[f64]) -> String {
        let unit = |(nth, log_ratio): (usize, &f64)| AbUnit {
            log_ratio: *log_ratio,
            ended_s: Some(10.0 * (nth + 1) as f64),
            ..AbUnit::default()
        };
        let units = units.iter().enumerate().map(unit).collect();
        let record = AbRecord { units, margin: 0.02, confidence: 0.95, ..AbRecord::default() };
        let mut html = Html::default();
        course(&record, &mut html);
        html.into_string()
    }

    #[test]
    fn each_unit_and_each_estimate_is_drawn_on_an_axis_that_is_symmetric() {
        let page = drawn(&[0.5, 0.45, 0.55, 0.5, 0.52]);
        for text in [">÷2<", ">÷1.4<", ">1<", ">×1.4<", ">×2<", "after unit 5, 50 s: +65.5 % (", "unit 1: +64.9 %"]
        {
            assert!(page.contains(text), "no {text} in {page}");
        }
        let drawing = page.split("role=\"img\"").nth(1).unwrap();
        let classes =
            ["estimate", "unit", "interval"].map(|class| drawing.matches(&format!("class=\"{class}\"")).count());
        assert_eq!(classes, [5, 5, 3], "two units have no interval");
        assert!(drawn(&[0.001, -0.001, 0.002]).contains(">÷1.0"), "a small change is not to look like much");
        assert_eq!(drawn(&[]), "");
    }
}
