//! A frontier of transactions and queries, rendered: both ends, the area, and the points.

mod svg;

use std::io::{self, Write};

use pgdyno_results::{FrontierPoint, FrontierRecord};
use pgdyno_text::units::{count, duration, percent, plural, rate};
use pgdyno_text::wrap::hanging;

use crate::html;
use crate::latency_table::aligned;

pub(crate) use svg::svg;

/// Renders the record of a frontier.
pub type RenderFrontier = fn(&FrontierRecord, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderFrontier)] =
    &[("text", text), ("json", json), ("csv", csv), ("svg", svg::write), ("html", page)];

/// Returns the renderer of a format.
#[must_use]
pub fn format(name: &str) -> Option<RenderFrontier> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, render)| *render)
}

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub fn page(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    html::frontier::write(record, out)
}

/// Returns what the frontier shows, in sentences.
pub(crate) fn findings(record: &FrontierRecord) -> Vec<String> {
    let mut lines = Vec::new();
    match &record.result {
        Some(result) => {
            lines.push(format!(
                "highest of each: {} TPS, {} queries/h; a server that loses nothing reaches both at once",
                rate(result.tps_max),
                rate(result.queries_per_hour_max)
            ));
            let interval = result
                .area_interval
                .map_or_else(String::new, |[low, high]| format!(" (95 % interval {low:.2} to {high:.2})"));
            lines.push(format!(
                "area below the frontier: {:.2} of the box{interval}; 0.50 is taking turns, 1.00 is no loss at all",
                result.area
            ));
        }
        None => lines.push("there is no area yet: each side needs a point above 0".to_owned()),
    }
    let measured = record.points.iter().filter(|point| !point.runs.is_empty()).count();
    let done = format!("{measured} of {} points in {}", record.points.len(), duration(record.spent_s));
    lines.push(match record.ended.as_deref() {
        Some("complete") => done,
        Some("budget") => format!("{done}, stopped: budget exhausted; --resume {} --budget continues", record.id),
        Some("interrupted") => format!("{done}, stopped by the user; --resume {} continues", record.id),
        Some(why) => format!("{done}: {why}; --resume {} continues", record.id),
        None => format!("{done}, and it goes on"),
    });
    lines.push(match record.restored {
        true => "each run had a fresh copy of the same data".to_owned(),
        false => "data was not restored between the runs: it grew, and later points had more of it".to_owned(),
    });
    let missed = record.points.iter().filter(|point| point.is_hollow()).count();
    if missed > 0 {
        let what = if record.objectives.is_empty() { "their rate" } else { "their rate or an objective" };
        lines.push(format!(
            "at {missed} of the points the transactions missed {what}: marked with *, hollow in the drawing"
        ));
    }
    lines
}

/// Returns the place of a point, such as `80 %, 2 streams`.
pub(crate) fn place(point: &FrontierPoint) -> String {
    format!("{:.0} %, {}", point.share * 100.0, plural(point.streams.into(), "stream"))
}

/// Headings of the table of points.
pub(crate) const COLUMNS: [&str; 8] = ["streams", "TPS", "±", "queries/h", "±", "runs", "frontier", "missed"];

/// The meaning of `±`, if a point has an interval.
pub(crate) fn reach_note(record: &FrontierRecord) -> Option<&'static str> {
    let has_reach = |point: &FrontierPoint| point.tps_interval.is_some() || point.queries_per_hour_interval.is_some();
    record.points.iter().any(has_reach).then_some("±: how far the 95 % interval reaches, in % of the figure before it")
}

/// Returns the points that were measured, in the order of rates and streams: the name of a row, and its cells.
pub(crate) fn rows(record: &FrontierRecord) -> Vec<(String, Vec<String>)> {
    let on = |nth: usize| record.result.as_ref().is_some_and(|result| result.hull.contains(&nth));
    let mut points: Vec<_> = record.points.iter().enumerate().filter(|(_, point)| !point.runs.is_empty()).collect();
    points.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share).then(a.streams.cmp(&b.streams)));
    points.into_iter().map(|(nth, point)| row(point, on(nth))).collect()
}

fn row(point: &FrontierPoint, is_on: bool) -> (String, Vec<String>) {
    let (tps, hour) = point.mean().unwrap_or_default();
    let cells = vec![
        count(point.streams.into()),
        rate(tps),
        reach(tps, point.tps_interval),
        rate(hour),
        reach(hour, point.queries_per_hour_interval),
        count(point.runs.len() as u64),
        if is_on { "yes" } else { "" }.to_owned(),
        if point.is_hollow() { "*" } else { "" }.to_owned(),
    ];
    (format!("{:.0} %", point.share * 100.0), cells)
}

/// Returns how far an interval reaches from its mean on the longer side, in % of the mean; nothing without an interval. The lower
/// end of a throughput is cut off at 0.
fn reach(mean: f64, ends: Option<[f64; 2]>) -> String {
    match ends {
        Some([low, high]) if low < high && mean > 0.0 => {
            let share = (mean - low).max(high - mean) / mean;
            if share < 0.0995 { percent(share) } else { format!("{:.0} %", share * 100.0) }
        }
        _ => String::new(),
    }
}

fn text(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    hanging(out, "", 0, &format!("{}, {}", record.workload, record.target))?;
    for line in findings(record) {
        hanging(out, "  ", 2, &line)?;
    }
    writeln!(out)?;
    aligned("rate", &COLUMNS.map(str::to_owned), &rows(record), out)?;
    if let Some(note) = reach_note(record) {
        hanging(out, "  ", 2, note)?;
    }
    for point in record.points.iter().filter(|point| point.missed.is_some()) {
        let why = point.missed.as_deref().unwrap_or_default();
        hanging(out, if point.is_hollow() { "  * " } else { "    " }, 4, &format!("{}: {why}", place(point)))?;
    }
    Ok(())
}

fn json(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}

fn csv(record: &FrontierRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "rate_share,streams,run,tps,queries_per_hour,on_frontier,missed")?;
    for (nth, point) in record.points.iter().enumerate() {
        let on = record.result.as_ref().is_some_and(|result| result.hull.contains(&nth));
        for (place, ((run, tps), hour)) in point.runs.iter().zip(&point.tps).zip(&point.queries_per_hour).enumerate() {
            let missed = point.has_missed(place);
            writeln!(out, "{},{},{run},{tps:.3},{hour:.3},{on},{missed}", point.share, point.streams)?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn example() -> FrontierRecord {
    let point = |share: f64, streams: u32, tps: f64, hour: f64| FrontierPoint {
        share,
        streams,
        tps: vec![tps * 0.9, tps * 1.1],
        queries_per_hour: vec![hour; 2],
        tps_interval: Some([tps * 0.9, tps * 1.1]),
        queries_per_hour_interval: Some([hour * 0.95, hour * 1.05]),
        runs: vec!["r1".to_owned(), "r2".to_owned()],
        ..FrontierPoint::default()
    };
    let mut hollow = point(1.0, 2, 80.0, 700.0);
    hollow.missed = Some("p99 is above".to_owned());
    FrontierRecord {
        id: "20260101T000000Z-frontier-ch-benchmark-abcdef".to_owned(),
        workload: "<ch>".to_owned(),
        target: "db1".to_owned(),
        restored: true,
        ended: Some("budget".to_owned()),
        points: vec![
            point(0.0, 2, 0.0, 1000.0),
            point(1.0, 0, 100.0, 0.0),
            hollow,
            point(0.5, 2, 50.0, 600.0),
            FrontierPoint { share: 0.2, streams: 1, ..FrontierPoint::default() },
        ],
        result: Some(pgdyno_results::FrontierResult {
            hull: vec![0, 2, 1],
            tps_max: 100.0,
            queries_per_hour_max: 1000.0,
            area: 0.79,
            area_interval: Some([0.7, 0.85]),
        }),
        ..FrontierRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(format: RenderFrontier) -> String {
        let mut out = Vec::new();
        format(&example(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_has_both_ends_the_area_and_the_points_that_were_measured() {
        let text = rendered(text);
        assert!(text.contains("highest of each: 100.0 TPS, 1,000 queries/h"), "{text}");
        assert!(text.contains("area below the frontier: 0.79 of the box") && text.contains("4 of 5 points"), "{text}");
        assert!(text.contains("(95 % interval 0.70 to 0.85)") && text.contains("±: how far the 95 %"), "{text}");
        assert!(text.contains("100.0  10 %       0.00"), "TPS reach from 90 to 110: {text}");
        assert!(text.contains("1,000  5.0 %     2       yes"), "queries/h reach from 950 to 1,050: {text}");
        assert!(text.contains("100 %, 2 streams: p99 is above"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let mut record = example();
        record.target =
            "a name of a target that somebody has made long to say what it is, in a few more words".to_owned();
        for point in &mut record.points {
            point.streams *= 64;
            point.tps = vec![1_234_567.0; 100];
            point.queries_per_hour = vec![12_345_678.0; 100];
            point.tps_interval = Some([0.0, 1_234_567.0 * 13.7]);
            point.queries_per_hour_interval = Some([0.0, 12_345_678.0 * 13.7]);
            point.runs = vec!["r".to_owned(); 100];
            point.missed = Some("fell behind its rate: 1,234,567.0 TPS of 1,234,567.0, p99 is above 50 ms".to_owned());
        }
        for result in record.result.iter_mut() {
            (result.tps_max, result.queries_per_hour_max) = (1_234_567.0, 12_345_678.0);
        }
        record.objectives = vec!["p99 < 50ms".to_owned()];
        let mut out = Vec::new();
        super::text(&record, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("12,345,678  1270 %   100"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn drawing_and_page_have_every_point_and_nothing_of_a_name_is_markup() {
        for text in [rendered(svg::write), rendered(page)] {
            assert_eq!(text.matches("<circle").count(), 4, "{text}");
            assert_eq!(text.matches("class=\"hollow\"").count(), 1, "{text}");
            assert!(!text.contains("<ch>"), "{text}");
        }
        assert_eq!(rendered(csv).lines().count(), 1 + 4 * 2);
    }
}
