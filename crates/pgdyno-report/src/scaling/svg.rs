//! A drawing of the points: means with the range from least to greatest, and the line of growth in proportion.

use std::io::{self, Write};

use pgdyno_text::TextStyle;
use pgdyno_untrusted::XmlText;

use super::{Scaling, ScalingPoint};
use crate::metric::value_text;

/// The drawing's size in pixels.
const SIZE: (f64, f64) = (760.0, 460.0);

/// The area of the points: left, right, top, bottom.
const PLOT: (f64, f64, f64, f64) = (90.0, 730.0, 60.0, 400.0);

/// The line in proportion may be at most this many times as high as the highest point, so that the points stay
/// readable.
const HEADROOM: f64 = 2.0;

/// Labels that are closer together than this would overlap.
const LABEL_WIDTH: f64 = 48.0;

pub(super) fn render(scaling: &Scaling, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let (left, right, top, bottom) = PLOT;
    let (width, height) = SIZE;
    let points = &scaling.points;
    let numbers = points.iter().all(|point| point.at.is_some());
    let last_at = points.iter().filter_map(|point| point.at).fold(0.0, f64::max);
    let x = |nth: usize, point: &ScalingPoint| match point.at {
        Some(at) if numbers => left + (right - left) * at / (last_at * 1.05),
        _ => left + (right - left) * (nth as f64 + 0.5) / points.len() as f64,
    };
    let highest = points.iter().map(|point| point.max).fold(0.0, f64::max);
    let first_mean = points.first().map_or(0.0, |point| point.mean);
    let linear = points.iter().filter_map(|point| point.linear).fold(0.0, f64::max) * first_mean;
    let (step, most) = scale(highest.max(linear.min(highest * HEADROOM)));
    let y = |value: f64| bottom - (bottom - top) * value / most;

    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">"
    )?;
    writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
    let (metric, axis) = (escaped(scaling.metric.title()), escaped(scaling.axis.title()));
    writeln!(out, "<text x=\"{left}\" y=\"32\" font-size=\"18\" font-weight=\"bold\">{metric} by {axis}</text>")?;

    let mut value = 0.0;
    while value <= most * 1.001 {
        let (at, label) = (y(value), if value > 0.0 { value_text(&scaling.metric, value) } else { "0".to_owned() });
        writeln!(out, "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>")?;
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 8.0, at + 4.0)?;
        value += step;
    }
    writeln!(out, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#222222\"/>")?;
    let middle = (left + right) / 2.0;
    writeln!(out, "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">{axis}</text>", bottom + 44.0)?;

    if linear > 0.0 {
        // From the origin through the first point, as far as there is space.
        let end = (most / linear).min(1.0);
        let (to_x, to_y) = (left + (right - left) * end / 1.05, y(linear * end));
        writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{bottom}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\" stroke=\"#767676\" \
             stroke-dasharray=\"6 4\"/>"
        )?;
        let note = "<tspan fill=\"#1f5fa8\">● measured</tspan> <tspan fill=\"#767676\">- - in proportion</tspan>";
        writeln!(out, "<text x=\"{right}\" y=\"32\" text-anchor=\"end\">{note}</text>")?;
    }
    if numbers {
        let corner = |(nth, point): (usize, &ScalingPoint)| format!("{:.1},{:.1}", x(nth, point), y(point.mean));
        let line: Vec<_> = points.iter().enumerate().map(corner).collect();
        let line = line.join(" ");
        writeln!(out, "<polyline points=\"{line}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>")?;
    }
    let mut label_end = f64::NEG_INFINITY;
    for (nth, point) in points.iter().enumerate() {
        let at = x(nth, point);
        reach(out, at, y(point.max), y(point.min), y(point.mean))?;
        if at - label_end >= LABEL_WIDTH {
            label_end = at;
            let label = escaped(&point.label);
            writeln!(out, "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>", bottom + 20.0)?;
        }
    }
    writeln!(out, "</svg>")
}

/// Draws the range of a point's runs.
fn reach(out: &mut dyn Write, x: f64, max: f64, min: f64, mean: f64) -> io::Result<()> {
    let (from, to) = (x - 5.0, x + 5.0);
    let bars = format!("M{x:.1} {max:.1}V{min:.1}M{from:.1} {max:.1}H{to:.1}M{from:.1} {min:.1}H{to:.1}");
    writeln!(out, "<path d=\"{bars}\" stroke=\"#1f5fa8\" fill=\"none\"/>")?;
    writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{mean:.1}\" r=\"4\" fill=\"#1f5fa8\"/>")
}

/// Returns the distance of the grid's lines, a round number, and the end of the axis: a line above the highest value.
pub(crate) fn scale(highest: f64) -> (f64, f64) {
    let raw = highest / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= raw * 0.999).unwrap_or(10.0) * power;
    (step, (highest / step).ceil() * step)
}

/// Returns a text as SVG: no markup, and without the characters that XML forbids.
pub(crate) fn escaped(text: &str) -> String {
    XmlText(text).to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_round_numbers() {
        assert_eq!([scale(9.7), scale(100.0), scale(1234.0)], [(2.0, 10.0), (20.0, 100.0), (500.0, 1500.0)]);
    }

    #[test]
    fn labels_cannot_break_the_drawing() {
        assert_eq!(escaped("<a & \"b\">\u{7}"), "&lt;a &amp; &quot;b&quot;&gt;\\u{7}");
    }
}
