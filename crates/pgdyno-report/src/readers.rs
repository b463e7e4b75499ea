//! The target and its readers: a row for each, and what must be known beside it.

use std::io::{self, Write};

use pgdyno_results::{EndpointFigures, ReaderRecord, ReadersRecord, RunRecord};
use pgdyno_text::units::{count, plural, rate};
use pgdyno_text::wrap::wrapped;
use pgdyno_untrusted::MarkdownText;

use crate::Extent;
use crate::latency_table::{aligned, cells, percentile_columns};

/// Heading of the first column.
pub(crate) const FIRST: &str = "endpoint";

/// Returns the headings of the other columns.
pub(crate) fn columns(record: &RunRecord, extent: Extent) -> Vec<String> {
    ["failed", "per s"].map(str::to_owned).into_iter().chain(percentile_columns(record, extent)).collect()
}

/// Returns the rows; none without readers.
pub(crate) fn rows(record: &RunRecord, extent: Extent) -> Vec<(String, Vec<String>)> {
    let Some(readers) = &record.readers else { return Vec::new() };
    let row = |name: String, figures: &EndpointFigures| {
        let latency = figures.service_latency_ns.as_ref();
        let first = [count(figures.failed), rate(figures.tps)];
        (name, first.into_iter().chain(cells(record, extent, latency, figures.completed)).collect())
    };
    let target = row("target".to_owned(), &readers.target);
    let of_readers = readers.readers.iter().zip(1..).map(|(reader, n)| row(format!("reader {n}"), &reader.figures));
    std::iter::once(target).chain(of_readers).collect()
}

/// Returns what must be known beside the rows.
pub(crate) fn notes(readers: &ReadersRecord) -> Vec<String> {
    let mut notes = vec![format!(
        "{} on the readers, service times; where the time went, waits and samples are those of the target, readers are not sampled",
        readers.transactions.join(", ")
    )];
    notes.extend(
        readers.readers.iter().zip(1..).map(|(reader, n)| format!("reader {n} ({}): {}", reader.name, found(reader))),
    );
    if readers.readers.iter().any(|reader| reader.staleness.is_some()) {
        notes.push("a client may read data older than its own last commit, by up to that much".to_owned());
    }
    notes
}

/// Returns what was found about a reader.
fn found(reader: &ReaderRecord) -> String {
    let behind = match (&reader.staleness, &reader.staleness_unknown) {
        (Some(behind), _) => {
            let unseen = match behind.unseen {
                0 => String::new(),
                n => format!(", {} never replayed", plural(n, "marker")),
            };
            format!(
                "behind by p50 {:.0} ms, p95 {:.0} ms, max {:.0} ms{unseen} ({}, resolution {:.0} ms)",
                behind.p50_ms,
                behind.p95_ms,
                behind.max_ms,
                plural(behind.markers, "marker"),
                behind.resolution_ms.ceil()
            )
        }
        (None, Some(why)) => format!("how far it is behind was not measured: {why}"),
        (None, None) => "how far it is behind was not measured".to_owned(),
    };
    let conflicts: u64 = reader.conflicts.values().sum();
    let kinds: Vec<_> = reader.conflicts.iter().map(|(kind, n)| format!("{} {kind}", count(*n))).collect();
    let cancelled = match (&reader.conflicts_unknown, conflicts) {
        (Some(why), _) => format!("; queries that replay cancelled were not counted: {why}"),
        (None, 0) => String::new(),
        (None, n) => format!("; replay cancelled {} ({})", plural(n, "query"), kinds.join(", ")),
    };
    let lost = match reader.figures.connections_lost {
        0 => String::new(),
        n => format!("; {} lost", plural(n, "connection")),
    };
    let several = match reader.endpoints.len() {
        0 | 1 => String::new(),
        n => format!("; it leads to {n} servers"),
    };
    behind + &cancelled + &lost + &several
}

/// Writes table and notes for a terminal.
pub(crate) fn text(record: &RunRecord, extent: Extent, out: &mut dyn Write) -> io::Result<()> {
    let Some(readers) = &record.readers else { return Ok(()) };
    aligned(FIRST, &columns(record, extent), &rows(record, extent), out)?;
    notes(readers).iter().try_for_each(|note| wrapped(out, note, "  "))?;
    writeln!(out)
}

/// Writes the same as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let Some(readers) = &record.readers else { return Ok(()) };
    let columns = columns(record, Extent::Full);
    writeln!(out, "| {FIRST} | {} |", columns.join(" | "))?;
    writeln!(out, "| --- |{}", " ---: |".repeat(columns.len()))?;
    for (name, cells) in rows(record, Extent::Full) {
        writeln!(out, "| {name} | {} |", cells.join(" | "))?;
    }
    writeln!(out)?;
    for note in notes(readers) {
        writeln!(out, "- {}", MarkdownText(&note))?;
    }
    writeln!(out)
}
