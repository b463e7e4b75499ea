//! Groups of clients: a table, and charts of each.

use pgdyno_results::{GroupTimeline, RunRecord};

use super::ReportRun;
use super::chart::{Chart, ChartPart, ChartSeries, Mark};
use super::drive::{rate, series};
use super::markup::{Html, PageColumn};
use crate::Extent;
use crate::group_name::group_name;
use crate::groups::{FIRST, Row, columns, rows};

/// Writes the table.
pub(super) fn table(record: &RunRecord, html: &mut Html) {
    let row = |Row { name, is_part, cells }: Row| {
        std::iter::once(format!("{}{name}", if is_part { "\u{2003}" } else { "" })).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = rows(record, Extent::Full).into_iter().map(row).collect();
    if rows.is_empty() {
        return;
    }
    let names = columns(record, Extent::Full);
    let columns: Vec<PageColumn<'_>> =
        std::iter::once((FIRST, false)).chain(names.iter().map(|name| (name.as_str(), true))).collect();
    html.heading("Groups of clients").table(&columns, &rows);
}

/// Returns the charts of a run's groups; none if it has only one.
pub(super) fn charts(run: &ReportRun) -> Vec<Chart> {
    let groups = &run.timeline.groups;
    if groups.is_empty() {
        return Vec::new();
    }
    let of = |draw: &dyn Fn(&str, &GroupTimeline) -> ChartSeries| {
        groups.iter().map(|group| draw(&group_name(&run.record, &group.stage, &group.group), group)).collect()
    };
    let chart = |title: &str, note: &str, unit: &str, logarithmic, series| Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        unit: unit.to_owned(),
        logarithmic,
        part: ChartPart::Drive,
        series,
        ..Chart::default()
    };
    let p99 = |name: &str, group: &GroupTimeline| {
        series(name, &group.intervals, |i, _| {
            i.response_latency_ns.filter(|_| !i.is_drain()).map(|latency| latency.p99 as f64 / 1e6)
        })
    };
    vec![
        chart(
            "Throughput by group",
            "Committed transactions a second of each group of clients.",
            "transactions/s",
            false,
            of(&|name, group| rate(name, &group.intervals, |i| i.committed as f64)),
        ),
        chart(
            "p99 by group",
            "99th percentile of each interval, from the intended start to the server's last word.",
            "ms",
            true,
            of(&p99),
        ),
    ]
}

/// Returns the starts of the stages after the first, if there are several.
pub(super) fn stages(run: &ReportRun) -> Vec<Mark> {
    let mut starts: Vec<Mark> = Vec::new();
    for group in &run.timeline.groups {
        if let Some(first) = group.intervals.first()
            && starts.iter().all(|start| start.text != group.stage)
        {
            let (kind, text) = ("stage".to_owned(), group.stage.clone());
            starts.push(Mark { kind, text, from_s: first.start_s, until_s: None });
        }
    }
    starts.drain(..starts.len().min(1));
    starts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pgdyno_results::{IntervalLatency, IntervalRecord, Timeline};

    use super::*;

    #[test]
    fn each_group_is_a_line_and_each_later_stage_a_mark() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let record = pgdyno_results::read_record(&path).unwrap();
        let interval = |start_s| IntervalRecord {
            phase: "measure".to_owned(),
            start_s,
            end_s: start_s + 1.0,
            committed: 8,
            response_latency_ns: Some(IntervalLatency {
                p50: 1_000_000,
                p95: 2_000_000,
                p99: 3_000_000,
                max: 4_000_000,
                mean: None,
            }),
            ..IntervalRecord::default()
        };
        let group = |stage: &str, group: &str, starts: &[f64]| GroupTimeline {
            stage: stage.to_owned(),
            group: group.to_owned(),
            intervals: starts.iter().copied().map(interval).collect(),
        };
        let groups = vec![group("mix", "w", &[0.0, 1.0]), group("mix", "r", &[0.0, 1.0]), group("once", "q", &[2.0])];
        let run = ReportRun::new(record, Timeline { groups, ..Timeline::default() });
        let drawn: Vec<_> = charts(&run)
            .iter()
            .map(|c| (c.title.clone(), c.series.iter().map(|s| (s.name.clone(), s.values[0])).collect::<Vec<_>>()))
            .collect();
        let lines = |value| ["w", "r", "q"].map(|name| (name.to_owned(), Some(value))).to_vec();
        assert_eq!(drawn, [("Throughput by group".to_owned(), lines(8.0)), ("p99 by group".to_owned(), lines(3.0))]);
        let starts: Vec<_> = stages(&run).into_iter().map(|m| (m.text, m.from_s, m.until_s)).collect();
        assert_eq!(starts, [("once".to_owned(), 2.0, None)]);
    }
}
