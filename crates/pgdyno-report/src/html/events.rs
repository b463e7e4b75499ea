//! The events of a run: marks in the charts, and a list.

use pgdyno_results::{EventRecord, RunRecord};

use super::ReportRun;
use super::chart::Mark;
use super::groups;
use super::markup::Html;

/// Number of events that the list shows before it is unfolded.
const SHOWN_MAX: usize = 12;

/// Returns the marks of a run: its stages after the first, the record's events, and its further marks.
pub(super) fn marks(run: &ReportRun) -> Vec<Mark> {
    let mark = |event: &EventRecord| Mark {
        kind: event.kind.clone(),
        text: event.text.clone(),
        from_s: event.from_s,
        until_s: event.until_s,
    };
    let events = run.record.events.iter().map(mark).chain(run.marks.iter().cloned());
    groups::stages(run).into_iter().chain(events).collect()
}

/// Writes the list.
pub(super) fn list(record: &RunRecord, html: &mut Html) {
    if record.events.is_empty() {
        return;
    }
    html.heading("Events");
    let row = |e: &EventRecord| {
        let length = e.until_s.map_or_else(String::new, |until| format!("{:.1} s", until - e.from_s));
        vec![format!("{:.1} s", e.from_s), length, e.kind.clone(), e.text.clone()]
    };
    let rows: Vec<_> = record.events.iter().map(row).collect();
    let columns = [("at", true), ("for", true), ("what", false), ("", false)];
    html.long_table(&columns, &rows, SHOWN_MAX);
}
