//! The points as a table.

use std::io::{self, Write};

use pgdyno_results::table::quoted;
use pgdyno_text::TextStyle;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::percent;
use pgdyno_untrusted::MarkdownText;

use super::{Scaling, ScalingPoint};
use crate::metric::value_text;

/// Cells of the longest bar.
const BAR: usize = 30;

/// Returns `NOPM by clients`.
pub(super) fn title(scaling: &Scaling) -> String {
    format!("{} by {}", scaling.metric.title(), scaling.axis.title())
}

/// Returns titles and rows of the table, without bars. Leaves out columns that would be empty.
pub(super) fn rows(scaling: &Scaling) -> (Vec<&str>, Vec<Vec<String>>) {
    let linear = scaling.points.iter().any(|point| point.linear.is_some());
    let mut titles = vec![scaling.axis.title(), "runs", "mean", "min", "max", "to the first"];
    if linear {
        titles.extend(["linear", "efficiency"]);
    }
    let times = |ratio: f64| format!("{ratio:.2}×");
    let row = |point: &ScalingPoint| {
        let [mean, min, max] = [point.mean, point.min, point.max].map(|value| value_text(&scaling.metric, value));
        let mut row = vec![point.label.clone(), point.runs.to_string(), mean, min, max, times(point.ratio)];
        if linear {
            row.push(point.linear.map_or_else(String::new, times));
            row.push(point.efficiency().map_or_else(String::new, percent));
        }
        row
    };
    (titles, scaling.points.iter().map(row).collect())
}

/// Writes the table for a terminal, with bars.
pub(super) fn text(scaling: &Scaling, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    writeln!(out, "{}\n", paint.bold(&title(scaling)))?;
    let (titles, rows) = rows(scaling);
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.max().unwrap_or(0).max(titles[at].chars().count())
    };
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        cells.enumerate().map(|(at, cell)| format!("  {cell:>w$}", w = width(at))).collect::<String>()
    };
    writeln!(out, "{}", line(&mut titles.iter().copied()))?;
    let most = scaling.points.iter().map(|point| point.mean).fold(0.0, f64::max);
    for (row, point) in rows.iter().zip(&scaling.points) {
        let bar = "█".repeat((point.mean / most * BAR as f64).round() as usize);
        writeln!(out, "{}", format!("{}  {bar}", line(&mut row.iter().map(String::as_str))).trim_end())?;
    }
    writeln!(out)?;
    for (run, why) in &scaling.left_out {
        writeln!(out, "{} {run} {why}", paint.red("left out:"))?;
    }
    for note in &scaling.notes {
        writeln!(out, "{} {note}", paint.yellow("note:"))?;
    }
    Ok(())
}

/// Writes the table as Markdown.
pub(super) fn markdown(scaling: &Scaling, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", MarkdownText(&title(scaling)))?;
    let (titles, rows) = rows(scaling);
    let titles: Vec<_> = titles.into_iter().map(|title| MarkdownText(title).to_string()).collect();
    writeln!(out, "| {} |\n|{}", titles.join(" | "), " ---: |".repeat(titles.len()))?;
    for row in rows {
        writeln!(out, "| {} |", row.iter().map(|cell| MarkdownText(cell).to_string()).collect::<Vec<_>>().join(" | "))?;
    }
    writeln!(out)?;
    for (run, why) in &scaling.left_out {
        writeln!(out, "- **left out**: {} {}", MarkdownText(run), MarkdownText(why))?;
    }
    for note in &scaling.notes {
        writeln!(out, "- note: {}", MarkdownText(note))?;
    }
    Ok(())
}

/// Writes one line for each point; latencies in nanoseconds.
pub(super) fn csv(scaling: &Scaling, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "axis,value,metric,runs,mean,min,max,stddev,ratio,linear,efficiency")?;
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    for point in &scaling.points {
        writeln!(
            out,
            "{},{},{},{},{:.3},{:.3},{:.3},{},{:.6},{},{}",
            quoted(scaling.axis.title()),
            point.at.map_or_else(|| quoted(&point.label), |at| at.to_string()),
            scaling.metric.name(),
            point.runs,
            point.mean,
            point.min,
            point.max,
            cell(point.stddev),
            point.ratio,
            cell(point.linear),
            cell(point.efficiency()),
        )?;
    }
    Ok(())
}
