//! The response times of both sides of an experiment, on one axis.

use pgdyno_results::{AbResponseBin, AbResponses};
use pgdyno_text::brief::percent;

use super::super::axes::{label, line};
use super::super::markup::Html;
use crate::search::curve::{CurveAxis, tick_text};

/// Height of the drawing in pixels. Its width is that of the page: places from left to right are percentages.
const HEIGHT: f64 = 230.0;

/// The area of the distributions: left and right in percent, top and bottom in pixels.
const PLOT: (f64, f64, f64, f64) = (3.0, 97.0, 10.0, 196.0);

/// Width of the area in the units of its paths, which are stretched to that of the page.
const WIDTH: f64 = 1000.0;

/// The upper end of a bin divided by its lower end.
const BIN: f64 = AbResponseBin::RATIO;

/// Labels that are closer than this many percent would overlap on a narrow page.
const LABEL_PERCENT: f64 = 10.0;

/// Transactions beyond this share of a side are left out at each end of the axis, so that a few of them do not take most of it.
const OUTSIDE: f64 = 0.000_5;

/// Draws both distributions, if there are any.
pub(super) fn responses(responses: &AbResponses, html: &mut Html) {
    let sides = [&responses.a, &responses.b];
    let Some(axis) = axis(sides) else { return };
    let most = sides.iter().flat_map(|bins| shares(bins)).map(|(_, share)| share).fold(0.0, f64::max);
    html.heading("Response times").raw("<figure><ul class=\"keys\">");
    for (class, name) in [("side-a", "A"), ("side-b", "B, dashed")] {
        html.raw("<li><svg class=\"loads key\" aria-hidden=\"true\" viewBox=\"0 0 14 10\"><path class=\"");
        html.raw(class).raw("\" d=\"M0 9V3H14V9\"/></svg>").text(name).raw("</li>");
    }
    html.raw("</ul>\n<svg class=\"loads whole\" role=\"img\" height=\"").text(&HEIGHT.to_string());
    html.raw("\" aria-label=\"Response times of A and B: the share of transactions by response time\">\n");
    let (left, right, top, bottom) = PLOT;
    let mut last = f64::NEG_INFINITY;
    for tick in axis.ticks() {
        let at = left + (right - left) * axis.share(tick);
        line("grid", (at, top), (at, bottom + 5.0), html);
        if at - last >= LABEL_PERCENT {
            label("middle", (at, bottom + 20.0), &format!("{} ms", tick_text(tick)), html);
            last = at;
        }
    }
    line("axis", (left, bottom), (right, bottom), html);
    html.raw("<svg x=\"").text(&format!("{left}%")).raw("\" y=\"").text(&top.to_string()).raw("\" width=\"");
    html.text(&format!("{}%", right - left)).raw("\" height=\"").text(&(bottom - top).to_string());
    html.raw("\" viewBox=\"0 0 ").text(&format!("{WIDTH} {}", bottom - top)).raw("\" preserveAspectRatio=\"none\">\n");
    for (class, bins) in [("side-a", &responses.a), ("side-b", &responses.b)] {
        html.raw("<path class=\"").raw(class).raw("\" d=\"").text(&outline(bins, axis, most)).raw("\"/>\n");
    }
    html.raw("</svg></svg>\n<p class=\"note\">From left to right: response time, on a logarithmic axis. Upwards: the share of the \
              side's transactions, at most ");
    html.text(&percent(most))
        .raw(" in a twentieth of a decade. The slowest and the fastest 0.05 % may lie outside.</p></figure>\n");
}

/// Returns the lower end of each bin in milliseconds, and its share of the transactions.
fn shares(bins: &[AbResponseBin]) -> impl Iterator<Item = (f64, f64)> {
    let all = bins.iter().map(|bin| bin.count).sum::<u64>().max(1) as f64;
    bins.iter().map(move |bin| (bin.up_to_ns as f64 / 1e6 / BIN, bin.count as f64 / all))
}

/// Returns the axis on which almost all transactions of both sides are.
fn axis(sides: [&Vec<AbResponseBin>; 2]) -> Option<CurveAxis> {
    let within = |bins: &[AbResponseBin]| {
        let mut below = 0.0;
        let bins = shares(bins).filter(|(_, share)| {
            below += share;
            below >= OUTSIDE && below - share <= 1.0 - OUTSIDE
        });
        bins.map(|(from_ms, _)| from_ms).collect::<Vec<_>>()
    };
    let within: Vec<f64> = sides.into_iter().flat_map(|bins| within(bins)).collect();
    let least = within.iter().copied().reduce(f64::min)?;
    let most = within.iter().copied().reduce(f64::max)?;
    Some(CurveAxis::logarithmic(least / BIN, most * BIN * BIN))
}

/// Returns the outline of a side's bins, from the left end of the axis to the right one.
fn outline(bins: &[AbResponseBin], axis: CurveAxis, most: f64) -> String {
    let (.., top, bottom) = PLOT;
    let height = bottom - top;
    let mut path = format!("M0 {height}");
    let mut end = 0.0;
    for (from_ms, share) in shares(bins) {
        let [from, to] = [from_ms, from_ms * BIN].map(|ms| axis.share(ms) * WIDTH);
        if to <= from {
            // Beyond an end of the axis.
            continue;
        }
        if from - end > 0.5 {
            path += &format!("V{height}H{from:.1}");
        }
        path += &format!("V{:.1}H{to:.1}", height * (1.0 - 0.97 * share / most));
        end = to;
    }
    path + &format!("V{height}H{WIDTH}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_on_one_axis_and_a_gap_is_empty() {
        let mut counted = AbResponses::default();
        counted.add(0, &[(1_000_000, 50), (10_000_000, 50), (900_000_000, 0)]);
        counted.add(1, &[(100_000_000, 100)]);
        let mut html = Html::default();
        responses(&counted, &mut html);
        let page = html.into_string();
        let outline = |class: &str| {
            let drawing = page.split("preserveAspectRatio").nth(1).unwrap();
            let path = drawing.split(&format!("class=\"{class}\" d=\"")).nth(1).unwrap();
            path.split('"').next().unwrap().to_owned()
        };
        // All of B is in one bin, as high as the drawing; half of A in each of two, as high as half of that.
        assert_eq!((outline("side-a").matches("V95.8").count(), outline("side-b").matches("V5.6").count()), (2, 1));
        assert_eq!(outline("side-a").matches("V186").count(), 3, "before, between and after them: {page}");
        for text in [">1 ms<", ">10 ms<", ">100 ms<", "at most 100 %"] {
            assert!(page.contains(text), "no {text} in {page}");
        }
        let mut empty = Html::default();
        responses(&AbResponses::default(), &mut empty);
        assert_eq!(empty.into_string(), "");
    }
}
