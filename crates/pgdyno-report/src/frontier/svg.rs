//! A drawing of a frontier: transactions from left to right, queries upwards.

use std::io::{self, Write};

use pgdyno_results::{FrontierPoint, FrontierRecord};
use pgdyno_text::units::rate;

use super::place;
use crate::drawing::Drawing;
use crate::scaling::svg::{escaped, scale};

/// The drawing's size in pixels.
const SIZE: (f64, f64) = (760.0, 520.0);

/// The area of the points: left, right, top, bottom.
const PLOT: (f64, f64, f64, f64) = (90.0, 730.0, 76.0, 450.0);

const INK: &str = "#1f5fa8";
const GREY: &str = "#767676";

/// Returns the drawing.
pub(crate) fn svg(record: &FrontierRecord) -> Drawing {
    let mut out = Vec::new();
    // A vector takes everything.
    let _ = write(record, &mut out);
    Drawing::new(String::from_utf8_lossy(&out).into_owned())
}

/// Writes the drawing.
pub(crate) fn write(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    let (left, right, top, bottom) = PLOT;
    let (width, height) = SIZE;
    let measured = || record.points.iter().filter_map(|point| Some((point, point.mean()?)));
    // An interval of two runs may be many times the figure: what is beyond the drawing is cut off.
    let most = measured().fold((1e-9, 1e-9), |(a, b): (f64, f64), (_, mean)| (a.max(mean.0), b.max(mean.1)));
    let ((step_x, most_x), (step_y, most_y)) = (scale(most.0), scale(most.1));
    let x = |tps: f64| left + (right - left) * tps / most_x;
    let y = |hour: f64| bottom - (bottom - top) * hour / most_y;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\"><rect width=\"{width}\" height=\"{height}\" \
         fill=\"#ffffff\"/>"
    )?;
    let title = escaped(&format!("{}, {}", record.workload, record.target));
    writeln!(out, "<text x=\"{left}\" y=\"28\" font-size=\"18\" font-weight=\"bold\">{title}</text>")?;
    let area =
        record.result.as_ref().map_or_else(String::new, |result| format!(" · area {:.2} of the box", result.area));
    let key = format!(
        "<tspan fill=\"{INK}\">— frontier</tspan> <tspan fill=\"{GREY}\">- - taking turns · box: no loss · hollow: missed</tspan>{area}"
    );
    writeln!(out, "<text x=\"{left}\" y=\"52\">{key}</text>")?;
    grid(out, (step_x, most_x), &x, |at, label| {
        format!(
            "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#dddddd\"/><text x=\"{at:.1}\" \
                 y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 20.0
        )
    })?;
    grid(out, (step_y, most_y), &y, |at, label| {
        format!(
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            at + 4.0
        )
    })?;
    writeln!(out, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#222222\"/>")?;
    let middle = (left + right) / 2.0;
    writeln!(out, "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">transactions/s</text>", bottom + 44.0)?;
    writeln!(out, "<text x=\"{left}\" y=\"{:.1}\" text-anchor=\"end\">queries/h</text>", top - 10.0)?;
    if let Some(result) = &record.result {
        let (far, high) = (x(result.tps_max), y(result.queries_per_hour_max));
        writeln!(
            out,
            "<path d=\"M{left} {high:.1}H{far:.1}V{bottom}\" fill=\"none\" stroke=\"{GREY}\"/><path d=\"M{left} {high:.1}L{far:.1} \
             {bottom}\" fill=\"none\" stroke=\"{GREY}\" stroke-dasharray=\"6 4\"/>"
        )?;
        let on: Vec<_> = result.hull.iter().filter_map(|nth| record.points.get(*nth)?.mean()).collect();
        let ends = on.first().zip(on.last());
        let line: Vec<String> = on.iter().map(|(tps, hour)| format!("{:.1} {:.1}", x(*tps), y(*hour))).collect();
        if let Some((first, last)) = ends {
            let path = format!("M{left} {:.1}L{}L{:.1} {bottom}", y(first.1), line.join("L"), x(last.0));
            writeln!(
                out,
                "<path d=\"{path}\" fill=\"{INK}\" fill-opacity=\"0.08\" stroke=\"{INK}\" stroke-width=\"2\"/>"
            )?;
        }
    }
    for (point, mean) in measured() {
        let (at, up) = (x(mean.0), y(mean.1));
        let across = point.tps_interval.map(|ends| ends.map(|tps| x(tps.min(most_x))));
        let upwards = point.queries_per_hour_interval.map(|ends| ends.map(|hour| y(hour.min(most_y))));
        let across = across.map_or_else(String::new, |[low, high]| format!("M{low:.1} {up:.1}H{high:.1}"));
        let upwards = upwards.map_or_else(String::new, |[low, high]| format!("M{at:.1} {low:.1}V{high:.1}"));
        if !(across.is_empty() && upwards.is_empty()) {
            writeln!(out, "<path d=\"{across}{upwards}\" stroke=\"{INK}\" fill=\"none\"/>")?;
        }
        circle(out, point, (at, up), mean)?;
    }
    writeln!(out, "</svg>")
}

/// Draws a point; a hollow one if most of its runs missed their rate or an objective.
fn circle(out: &mut dyn Write, point: &FrontierPoint, (x, y): (f64, f64), mean: (f64, f64)) -> io::Result<()> {
    let words = format!("{}: {} TPS, {} queries/h", place(point), rate(mean.0), rate(mean.1));
    let look = match point.is_hollow() {
        true => format!("class=\"hollow\" fill=\"#ffffff\" stroke=\"{INK}\" stroke-width=\"2\""),
        false => format!("fill=\"{INK}\""),
    };
    writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" {look}><title>{words}</title></circle>")
}

/// Draws the lines of a grid with their labels.
fn grid(
    out: &mut dyn Write,
    (step, most): (f64, f64),
    place: &dyn Fn(f64) -> f64,
    line: impl Fn(f64, &str) -> String,
) -> io::Result<()> {
    let mut value = 0.0;
    while value <= most * 1.001 {
        let label = if value > 0.0 { rate(value) } else { "0".to_owned() };
        writeln!(out, "{}", line(place(value), &label))?;
        value += step;
    }
    Ok(())
}
