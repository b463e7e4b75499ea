//! What each query costs the server beside time: temporary files, reads and memory.

use std::io::{self, Write};

use pgdyno_results::{QueryCostRecord, RunRecord};
use pgdyno_text::units::rate;
use pgdyno_untrusted::MarkdownText;

use crate::latency_table::aligned;

/// Headings of the columns, the most important first, with their values in bytes.
type Figure = (&'static str, fn(&QueryCostRecord) -> Option<f64>);
const FIGURES: [Figure; 3] = [
    ("temp MiB", |cost| cost.temp_bytes_mean),
    ("read MiB", |cost| cost.read_bytes_mean),
    ("mem MiB", |cost| cost.memory_bytes_max.map(|bytes| bytes as f64)),
];

/// What the columns mean.
pub(crate) const NOTE: &str = "temp: temporary files; read: blocks that were not in shared buffers (means of the \
                               executions); mem: the most memory sampled, parallel workers included, without shared buffers";

/// Columns that say something: some query has a value other than 0 in them.
pub(crate) struct Columns<'a> {
    costs: &'a [QueryCostRecord],
    figures: Vec<Figure>,
}

impl<'a> Columns<'a> {
    /// Returns those of a run.
    pub(crate) fn of(record: &'a RunRecord) -> Self {
        let costs = &record.query_costs[..];
        let says = |(_, value): &Figure| costs.iter().any(|cost| value(cost).is_some_and(|bytes| bytes > 0.0));
        Self { costs, figures: FIGURES.into_iter().filter(says).collect() }
    }

    /// Returns the first `count` of them.
    pub(crate) fn first(mut self, count: usize) -> Self {
        self.figures.truncate(count);
        self
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.figures.len()
    }

    /// Returns the headings.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &'static str> {
        self.figures.iter().map(|(heading, _)| *heading)
    }

    /// Returns the cells of a query.
    pub(crate) fn cells(&self, query: &str) -> impl Iterator<Item = String> {
        let cost = self.costs.iter().find(|cost| cost.query == query);
        self.figures.iter().map(move |(_, value)| cost.and_then(value).map_or_else(|| "-".to_owned(), mib))
    }

    /// Returns a row for each query.
    fn rows(&self) -> Vec<(String, Vec<String>)> {
        self.costs.iter().map(|cost| (cost.query.clone(), self.cells(&cost.query).collect())).collect()
    }
}

fn mib(bytes: f64) -> String {
    if bytes == 0.0 { "0".to_owned() } else { rate(bytes / f64::from(1 << 20)) }
}

/// Writes a table for a terminal, if there is a column that says something.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let columns = Columns::of(record);
    if columns.len() == 0 {
        return Ok(());
    }
    aligned("query", &columns.headings().map(str::to_owned).collect::<Vec<_>>(), &columns.rows(), out)?;
    pgdyno_text::wrap::hanging(out, "  ", 2, &format!("({NOTE})"))?;
    writeln!(out)
}

/// Writes the table as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let columns = Columns::of(record);
    if columns.len() == 0 {
        return Ok(());
    }
    let headings: Vec<_> = columns.headings().collect();
    writeln!(out, "| query | {} |\n| --- |{}", headings.join(" | "), " ---: |".repeat(headings.len()))?;
    for (query, cells) in columns.rows() {
        writeln!(out, "| {} | {} |", MarkdownText(&query), cells.join(" | "))?;
    }
    writeln!(out, "\n{NOTE}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_without_values_is_left_out_and_an_unknown_value_is_no_zero() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let mut record = pgdyno_results::read_record(&path).unwrap();
        let written = |record: &RunRecord| {
            let mut out = Vec::new();
            text(record, &mut out).unwrap();
            markdown(record, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&record), "");
        let cost = |query: &str, read, memory_bytes_max| QueryCostRecord {
            query: query.to_owned(),
            temp_bytes_mean: Some(0.0),
            read_bytes_mean: read,
            memory_bytes_max,
        };
        record.query_costs = vec![cost("q1", Some(0.0), Some(64 << 20)), cost("q2", Some(1_572_864.0), None)];
        let text = written(&record);
        assert!(
            text.starts_with("  query  read MiB  mem MiB\n  q1            0     64.0\n  q2         1.50        -\n"),
            "{text}"
        );
        assert!(text.contains("| q2 | 1.50 | - |") && text.lines().take(6).all(|line| line.len() <= 80), "{text}");
        assert_eq!(Columns::of(&record).first(1).headings().collect::<Vec<_>>(), ["read MiB"]);
    }
}
