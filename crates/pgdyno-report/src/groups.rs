//! The groups of clients of a run that has several: a row for each, with its kinds of transactions below it.

use std::io::{self, Write};

use pgdyno_plan::{GroupPlan, Pace, Plan, Rate};
use pgdyno_results::{GroupRecord, LatencyRecord, RunRecord, StageRecord};
use pgdyno_text::units::{count, rate};
use pgdyno_untrusted::MarkdownText;

use crate::Extent;
use crate::group_name::group_name;
use crate::latency_table::{aligned, cells, percentile_columns};
use crate::{analytics, query_costs, tasks};

/// Heading of the first column.
pub(crate) const FIRST: &str = "group";

/// A row of the table.
pub(crate) struct Row {
    /// The name of the group, or of its part.
    pub(crate) name: String,
    /// Whether it is a part of the group above it.
    pub(crate) is_part: bool,
    /// The cells of [`columns`].
    pub(crate) cells: Vec<String>,
}

/// Returns the headings of the other columns.
pub(crate) fn columns(record: &RunRecord, extent: Extent) -> Vec<String> {
    let counts: &[&str] = match extent {
        Extent::Short => &["clients", "offered", "failed", "per s"],
        Extent::Full => &["clients", "offered", "committed", "failed", "per s"],
    };
    let is_shown = |name: &&&str| **name != "offered" || has_offers(record, extent);
    let mut columns: Vec<_> = counts.iter().filter(is_shown).map(|name| (*name).to_owned()).collect();
    columns.extend(percentile_columns(record, extent));
    columns
}

/// Returns true if there is a column for offered rates: a short table has none if no group has a rate.
fn has_offers(record: &RunRecord, extent: Extent) -> bool {
    let mut groups = record.plan.drive.stages.iter().flat_map(|stage| &stage.groups);
    extent == Extent::Full || groups.any(|group| group.pace != Pace::ClosedLoop)
}

/// Returns the rows; none if the run has one group.
pub(crate) fn rows(record: &RunRecord, extent: Extent) -> Vec<Row> {
    record
        .stages
        .iter()
        .flat_map(|stage| stage.groups.iter().flat_map(|group| of_group(record, extent, stage, group)))
        .collect()
}

fn of_group(record: &RunRecord, extent: Extent, stage: &StageRecord, group: &GroupRecord) -> Vec<Row> {
    let summary = &group.summary;
    let per_s = |n: u64| if summary.duration_s > 0.0 { rate(n as f64 / summary.duration_s) } else { "-".to_owned() };
    let row = |name: String, is_part, first: [Option<String>; 5], latency: Option<&LatencyRecord>, n| Row {
        name,
        is_part,
        cells: first.into_iter().flatten().chain(cells(record, extent, latency, n)).collect(),
    };
    let none = || Some(String::new());
    let offers = has_offers(record, extent);
    let committed = |n| (extent == Extent::Full).then(|| count(n));
    let offered = match planned(&record.plan, &stage.name, &group.name).map(|group| group.pace) {
        Some(Pace::Rate(Rate { per_s, .. })) => rate(per_s),
        _ => "-".to_owned(),
    };
    let clients = count(u64::from(group.clients));
    let first = [
        Some(clients),
        Some(offered).filter(|_| offers),
        committed(summary.committed),
        Some(count(summary.failed)),
        Some(per_s(summary.committed)),
    ];
    let response = summary.response_latency_ns.as_ref();
    let n = summary.committed + summary.rolled_back;
    let mut rows = vec![row(group_name(record, &stage.name, &group.name), false, first, response, n)];
    // The tasks of a stage that ends with them have a table of their own.
    let has_own_table = analytics::has_table(record, &stage.name, &group.name);
    if group.transactions.len() > 1
        && !has_own_table
        && !(extent == Extent::Short && tasks::has_tasks(record, &stage.name))
    {
        rows.extend(group.transactions.iter().map(|t| {
            let first = [
                none(),
                none().filter(|_| offers),
                committed(t.committed),
                Some(count(t.failed)),
                Some(per_s(t.committed)),
            ];
            row(t.name.clone(), true, first, t.response_latency_ns.as_ref(), t.committed + t.rolled_back)
        }));
    }
    let service = summary.service_latency_ns.as_ref();
    if service != response {
        rows.push(row(
            "service time".to_owned(),
            true,
            [none(), none().filter(|_| offers), committed(0).map(|_| String::new()), none(), none()],
            service,
            n,
        ));
    }
    rows
}

fn planned<'a>(plan: &'a Plan, stage: &str, group: &str) -> Option<&'a GroupPlan> {
    let stage = plan.drive.stages.iter().find(|known| known.name == stage)?;
    stage.groups.iter().find(|known| known.name == group)
}

/// Writes the table for a terminal.
pub(crate) fn text(record: &RunRecord, extent: Extent, out: &mut dyn Write) -> io::Result<()> {
    let row = |row: Row| (format!("{}{}", if row.is_part { "  " } else { "" }, row.name), row.cells);
    let rows: Vec<_> = rows(record, extent).into_iter().map(row).collect();
    if rows.is_empty() || (extent == Extent::Short && tasks::short(record, out)?) {
        return Ok(());
    }
    aligned(FIRST, &columns(record, extent), &rows, out)?;
    writeln!(out)?;
    analytics::text(record, out)?;
    tasks::text(record, out)?;
    if extent == Extent::Full { query_costs::text(record, out) } else { Ok(()) }
}

/// Writes the table as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(record, Extent::Full);
    if rows.is_empty() {
        return Ok(());
    }
    let columns = columns(record, Extent::Full);
    writeln!(out, "| {FIRST} | {} |", columns.join(" | "))?;
    writeln!(out, "| --- |{}", " ---: |".repeat(columns.len()))?;
    for Row { name, is_part, cells } in rows {
        let indent = if is_part { "&emsp;" } else { "" };
        writeln!(out, "| {indent}{} | {} |", MarkdownText(&name), cells.join(" | "))?;
    }
    writeln!(out)?;
    analytics::markdown(record, out)?;
    tasks::markdown(record, out)?;
    query_costs::markdown(record, out)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pgdyno_plan::{Arrivals, QueryMode, StagePlan};
    use pgdyno_results::{Summary, TransactionRecord};

    use super::*;

    fn latency(p50: u64) -> Option<LatencyRecord> {
        Some(LatencyRecord { p50, p90: p50, p95: p50, p99: p50, p99_9: p50, max: p50, ..LatencyRecord::default() })
    }

    fn group(name: &str, committed: u64, kinds: &[&str]) -> GroupRecord {
        let summary = Summary {
            committed,
            duration_s: 2.0,
            response_latency_ns: latency(2_000_000),
            service_latency_ns: latency(2_000_000),
            ..Summary::default()
        };
        let kind = |name: &&str| TransactionRecord {
            name: (*name).to_owned(),
            committed: 1,
            response_latency_ns: latency(5_000_000),
            ..TransactionRecord::default()
        };
        let transactions = kinds.iter().map(kind).collect();
        GroupRecord { name: name.to_owned(), clients: 3, summary, transactions, statements: Vec::new() }
    }

    fn record() -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let mut record = pgdyno_results::read_record(&path).unwrap();
        let mut readers = group("readers", 20, &["read"]);
        readers.summary.response_latency_ns = latency(9_000_000);
        record.stages = vec![
            StageRecord {
                name: "mix".to_owned(),
                groups: vec![group("writers", 400, &["write"]), readers],
                ..StageRecord::default()
            },
            StageRecord {
                name: "once".to_owned(),
                groups: vec![group("queries", 2, &["q1", "q2"])],
                ..StageRecord::default()
            },
        ];
        let planned = |name: &str, pace| GroupPlan {
            name: name.to_owned(),
            clients: 3,
            scripts: Vec::new(),
            once: false,
            think_ms: None,
            pace,
            mode: QueryMode::Simple,
            max_tries: 1,
            latency_limit_ms: None,
            transactions: None,
        };
        let pace = Pace::Rate(Rate { per_s: 10.0, arrivals: Arrivals::Poisson });
        let groups = vec![planned("writers", Pace::ClosedLoop), planned("readers", pace)];
        record.plan.drive.stages =
            vec![StagePlan { name: "mix".to_owned(), groups, ends_with: None, ends_with_all: false, grace_s: 5.0 }];
        record
    }

    #[test]
    fn each_group_has_a_row_with_its_kinds_of_transactions_below() {
        let mut out = Vec::new();
        text(&record(), Extent::Full, &mut out).unwrap();
        let table = String::from_utf8(out).unwrap();
        let names: Vec<_> = table.lines().map(|line| line.get(..16).unwrap_or_default().trim_end()).collect();
        let parts = [
            "  group",
            "  mix: writers",
            "  mix: readers",
            "    service time",
            "  once: queries",
            "    q1",
            "    q2",
            "",
        ];
        assert_eq!(names, parts, "{table}");
        assert!(table.contains("  mix: readers          3     10.0         20       0   10.0    9.00"), "{table}");
        let mut out = Vec::new();
        markdown(&record(), &mut out).unwrap();
        let table = String::from_utf8(out).unwrap();
        assert!(table.contains("| &emsp;q1 |  |  | 1 | 0 | 0.50 | 5.00 |"), "{table}");
        assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 8, "{table}");
    }

    #[test]
    fn a_run_with_one_group_has_no_such_table() {
        let mut record = record();
        record.stages.clear();
        let mut out: Vec<u8> = Vec::new();
        text(&record, Extent::Full, &mut out).unwrap();
        markdown(&record, &mut out).unwrap();
        assert!(out.is_empty());
    }
}
