//! One run, or several, as an HTML page: one file that works offline and sends no requests.
//!
//! - [`ReportRun`] is the input of the page: a record, its intervals, its latencies, and other values over time;
//! - [`Chart`], [`ChartSeries`] and [`Mark`] describe what is drawn over time; callers may add more of them;
//! - a [`Comparison`] or a [`Scaling`] is shown above its runs;
//! - the charts are drawn by the script in `assets/`, in the reader's browser, from the data in the page.
//!
//! Text of the user and of the database goes only through [`markup`] and [`data`], which escape it. The page's policy
//! allows no script but its own, and no requests.

pub mod ab;
mod again;
mod axes;
mod change;
mod chart;
mod comparison;
mod data;
mod drive;
mod events;
mod fidelity;
mod figures;
mod findings;
mod first_screen;
pub mod frontier;
mod groups;
mod growth;
mod head;
mod latencies;
mod ledger;
mod machines;
mod mark;
mod markup;
mod of_run;
mod of_study;
mod outage;
mod page;
mod plans;
mod profile;
mod queries;
mod readers;
mod result;
mod samples;
pub mod search;
mod server;
mod several;
mod share_bar;
mod shares;
mod tables;
mod thin;
mod watched;

use pgdyno_text::TextStyle;
use std::io::{self, Write};

use pgdyno_results::{RecordMetric, RunRecord, Samples, Timeline};
use serde_json::Value;

pub use again::command_line;
pub use chart::{Chart, ChartPart, ChartSeries, Fold, Ink, Mark};
pub use head::{STYLE, policy};
pub use latencies::LatencyCounts;
pub use mark::VerdictMark;
pub use markup::{Html, PageColumn};

use crate::compare::Comparison;
use crate::scaling::{Scaling, scaling};
use page::Page;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSide {
    /// The base.
    Base,
    /// The runs that are compared with it.
    New,
}

/// A run on the page.
#[derive(Clone, Debug)]
pub struct ReportRun {
    /// Its name among several runs.
    pub name: String,
    /// Its side, in a comparison.
    pub side: Option<PageSide>,
    /// Its record.
    pub record: RunRecord,
    /// Its intervals.
    pub timeline: Timeline,
    /// Its latencies over time.
    pub latencies: LatencyCounts,
    /// Samples of server and machines.
    pub samples: Samples,
    /// Further charts.
    pub charts: Vec<Chart>,
    /// Times and spans that all its charts show, in addition to the record's events.
    pub marks: Vec<Mark>,
}

impl ReportRun {
    /// Returns a run with its intervals, under its own name. Latencies are added separately.
    #[must_use]
    pub fn new(record: RunRecord, timeline: Timeline) -> Self {
        let latencies = LatencyCounts::over(&timeline.intervals);
        let (samples, charts, marks) = (Samples::default(), Vec::new(), Vec::new());
        Self { name: record.id.clone(), side: None, record, timeline, latencies, samples, charts, marks }
    }
}

/// A link at the top of a page that is served among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its address on the same server.
    pub address: String,
    /// Its words.
    pub words: String,
}

/// Writes the page of a run with links to other pages.
///
/// # Errors
/// When it cannot be written.
pub fn write_linked(run: &ReportRun, links: &[Link], out: &mut dyn Write) -> io::Result<()> {
    let page = Page { runs: std::slice::from_ref(run), links, ..Page::default() };
    out.write_all(page::page(&page).as_bytes())
}

/// Writes the page of a run, or of several on the same axes.
///
/// # Errors
/// When it cannot be written.
pub fn write(runs: &[ReportRun], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page::page(&Page { runs, ..Page::default() }).as_bytes())
}

/// Writes the page of a comparison with its runs, those of BASE first. Each run is named by its side.
///
/// # Errors
/// When it cannot be written.
pub fn write_comparison(comparison: &Comparison, mut runs: Vec<ReportRun>, out: &mut dyn Write) -> io::Result<()> {
    let [base, new] = comparison.sides.each_ref().map(|side| side.runs.len());
    for (nth, run) in runs.iter_mut().enumerate() {
        let (side, word, at, of) =
            if nth < base { (PageSide::Base, "BASE", nth, base) } else { (PageSide::New, "NEW", nth - base, new) };
        run.side = Some(side);
        run.name = if of == 1 { word.to_owned() } else { format!("{word} {}", at + 1) };
    }
    let page = Page { runs: &runs, comparison: Some(comparison), ..Page::default() };
    out.write_all(page::page(&page).as_bytes())
}

/// Writes the page of a scaling with its runs, in the order of the axis. Each run is named by its position there.
///
/// # Errors
/// When it cannot be written.
pub fn write_scaling(of: &Scaling, mut runs: Vec<ReportRun>, out: &mut dyn Write) -> io::Result<()> {
    growth::name(of, &mut runs);
    let records = || runs.iter().map(|run| run.record.clone()).collect::<Vec<_>>();
    let lines = |metric: RecordMetric| scaling(records(), &of.axis, Some(metric.name())).ok();
    let chart = |metrics: Vec<RecordMetric>| {
        let title = match metrics.as_slice() {
            [metric] => format!("{} by {}", metric.title(), of.axis.title()),
            _ => format!("Response times by {}", of.axis.title()),
        };
        growth::chart(&title, &metrics.into_iter().filter_map(lines).collect::<Vec<_>>())
    };
    let charts: Vec<Value> = growth::metrics(of).into_iter().filter_map(chart).collect();
    let page = Page { runs: &runs, scaling: Some((of, charts)), ..Page::default() };
    out.write_all(page::page(&page).as_bytes())
}

/// Writes the page of a record alone: its charts show the intervals in the record.
pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    write(&[ReportRun::new(record.clone(), Timeline::of_record(record))], out)
}

/// Returns a text with a capital at its start.
fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{IntervalLatency, IntervalRecord, LatencyLine};
    use std::path::Path;

    fn record() -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        pgdyno_results::read_record(&path).unwrap()
    }

    fn page(runs: &[ReportRun]) -> String {
        let mut bytes = Vec::new();
        write(runs, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_record_alone_is_a_page_that_lets_nothing_out() {
        let mut bytes = Vec::new();
        crate::format("html").unwrap()(&record(), TextStyle::default(), &mut bytes).unwrap();
        let page = String::from_utf8(bytes).unwrap();
        assert_eq!(page, super::tests::page(&[ReportRun::new(record(), Timeline::default())]));
        assert!(page.contains("content=\"default-src &#39;none&#39;; script-src &#39;sha256-"));
        assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("url(http"));
    }

    #[test]
    fn an_hour_makes_a_small_page() {
        let latency = |nth: u32| {
            let of = |factor: u64| factor * 1_234_567 + u64::from(nth * 104_729 % 99_991);
            IntervalLatency { p50: of(1), p95: of(3), p99: of(9), max: of(27), mean: None }
        };
        let interval = |nth: u32| IntervalRecord {
            phase: "measure".to_owned(),
            start_s: f64::from(nth) * 1.000_37,
            end_s: f64::from(nth + 1) * 1.000_37,
            committed: 12_345 + u64::from(nth * 7919 % 3001),
            in_flight: 256,
            client_cpu_s: 0.123_456 + f64::from(nth) / 1e6,
            response_latency_ns: Some(latency(nth)),
            ..Default::default()
        };
        let mut run =
            ReportRun::new(record(), Timeline { intervals: (0..3600).map(interval).collect(), ..Timeline::default() });
        for (nth, name) in (0..3600_u32).flat_map(|nth| ["a", "b", "c", "d", "e"].map(|name| (nth, name))) {
            let counts = (0..60_u32).map(|i| (u64::from(nth + 1) * 1000 * (1 << (i / 3)), 1 + u64::from(i))).collect();
            let start_s = f64::from(nth) * 1.000_37;
            run.latencies.add(&LatencyLine { transaction: name.to_owned(), response: false, start_s, counts });
        }
        let size = page(&[run]).len();
        assert!((150_000..600_000).contains(&size), "{size} bytes");
    }
}
