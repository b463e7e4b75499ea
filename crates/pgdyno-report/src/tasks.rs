//! What a stage does once or a few times, such as each query of a set: its time with an interval, the time to the first
//! row, and the rows.

use std::io::{self, Write};

use pgdyno_measure::compare::Repeated;
use pgdyno_results::{GroupRecord, RunRecord, StageRecord, StatementRecord, TransactionRecord};
use pgdyno_text::units::{count, ms};
use pgdyno_untrusted::MarkdownText;

use crate::group_name::group_name;
use crate::latency_table::aligned;
use crate::query_costs::Columns;

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// One of these tasks.
pub(crate) struct Task<'a> {
    pub(crate) txn: &'a TransactionRecord,
    /// Its only statement, if it has only one.
    statement: Option<&'a StatementRecord>,
    /// Whether it does the same each time: a group with several clients has parameters by client.
    is_repeated: bool,
}

impl Task<'_> {
    /// Returns its times in nanoseconds; `None` if it never ended.
    pub(crate) fn times(&self) -> Option<Repeated> {
        let of_statement = self.statement.and_then(|statement| statement.latency_ns.as_ref());
        let latency = of_statement.or(self.txn.service_latency_ns.as_ref())?;
        Some(Repeated { count: self.txn.committed, mean: latency.mean, stddev: latency.stddev })
    }

    /// Returns the interval of its mean time; `None` if it was done once, or parameters differ.
    fn interval(&self) -> Option<String> {
        let (low, high) = self.times().filter(|_| self.is_repeated)?.interval(CONFIDENCE)?;
        Some(format!("{} to {}", ms(low as u64), ms(high as u64)))
    }

    /// Returns the rows of each execution; `None` if parameters, and so the rows, differ.
    fn rows(&self) -> Option<u64> {
        let statement = self.statement.filter(|statement| self.is_repeated && statement.executed > 0)?;
        Some(statement.rows? / statement.executed)
    }

    fn cells(&self) -> Vec<String> {
        let none = || "-".to_owned();
        let times = self.times();
        let first = self.statement.and_then(|statement| statement.first_row_ns_mean);
        vec![
            count(self.txn.committed),
            count(self.txn.failed),
            times.map_or_else(none, |times| ms(times.mean as u64)),
            self.interval().unwrap_or_else(none),
            first.map_or_else(none, |ns| ms(ns as u64)),
            self.rows().map_or_else(none, count),
        ]
    }
}

/// Headings of the columns.
const COLUMNS: [&str; 6] = ["done", "failed", "mean ms", "95 % interval ms", "first row ms", "rows"];

/// Returns true if a stage ends when its clients have done their work, and not after a time.
pub(crate) fn has_tasks(record: &RunRecord, stage: &str) -> bool {
    record.plan.drive.stages.iter().any(|planned| planned.name == stage && planned.ends_with_work())
}

/// Returns the tasks of a group.
pub(crate) fn of_group(group: &GroupRecord) -> impl Iterator<Item = Task<'_>> {
    group.transactions.iter().map(|txn| {
        let mut own = group.statements.iter().filter(|s| s.transaction.as_deref() == Some(&txn.name));
        let statement = own.next().filter(|statement| statement.executed == txn.committed);
        Task { txn, statement: statement.filter(|_| own.next().is_none()), is_repeated: group.clients == 1 }
    })
}

/// Returns the groups that have tasks, with their stages.
pub(crate) fn groups(record: &RunRecord) -> impl Iterator<Item = (&StageRecord, &GroupRecord)> {
    let stages = record.stages.iter().filter(|stage| has_tasks(record, &stage.name));
    stages.flat_map(|stage| stage.groups.iter().map(move |group| (stage, group)))
}

/// Widest line of a short table.
const WIDTH: usize = 80;

/// Writes all tasks in one table, with columns for each stage, and as many of their other costs as there is room for; false
/// if the run has stages of another kind, too.
pub(crate) fn short(record: &RunRecord, out: &mut dyn Write) -> io::Result<bool> {
    if record.stages.is_empty() || !record.stages.iter().all(|stage| has_tasks(record, &stage.name)) {
        return Ok(false);
    }
    // Nothing has ended yet.
    if record.stages.iter().flat_map(|stage| &stage.groups).all(|group| group.transactions.is_empty()) {
        return Ok(true);
    }
    for count in (0..=Columns::of(record).len()).rev() {
        let mut table = Vec::new();
        with_costs(record, &Columns::of(record).first(count), &mut table)?;
        let width = table.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).chars().count()).max();
        if count == 0 || width <= Some(WIDTH) {
            out.write_all(&table)?;
            break;
        }
    }
    writeln!(out)?;
    Ok(true)
}

/// Writes the table with these costs.
fn with_costs(record: &RunRecord, costs: &Columns<'_>, out: &mut dyn Write) -> io::Result<()> {
    let stages = record.stages.iter().map(|stage| (stage, stage.groups.iter().flat_map(of_group).collect()));
    let stages: Vec<(&StageRecord, Vec<Task<'_>>)> = stages.collect();
    let mut columns = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (stage, tasks) in &stages {
        columns.extend(if are_single(tasks) {
            vec![format!("{} ms", stage.name)]
        } else if are_repeated(tasks) {
            vec![format!("{} mean ms", stage.name), "95 % interval ms".to_owned()]
        } else {
            vec![format!("{} mean ms", stage.name), "max ms".to_owned()]
        });
        for task in tasks {
            if !names.contains(&task.txn.name.as_str()) {
                names.push(&task.txn.name);
            }
        }
    }
    let has_failures = stages.iter().flat_map(|(_, tasks)| tasks).any(|task| task.txn.failed > 0);
    columns.extend(has_failures.then(|| "failed".to_owned()));
    columns.push("rows".to_owned());
    columns.extend(costs.headings().map(str::to_owned));
    let row = |name: &&str| {
        let mut cells = Vec::new();
        let (mut failed, mut rows) = (0, None);
        for (_, tasks) in &stages {
            let task = tasks.iter().find(|task| task.txn.name == *name);
            failed += task.map_or(0, |task| task.txn.failed);
            rows = rows.or_else(|| task.and_then(Task::rows));
            let ms_of = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), ms);
            cells.push(ms_of(task.and_then(Task::times).map(|times| times.mean as u64)));
            if are_repeated(tasks) {
                cells.push(task.and_then(Task::interval).unwrap_or_else(|| "-".to_owned()));
            } else if !are_single(tasks) {
                cells.push(ms_of(task.and_then(|task| Some(task.txn.service_latency_ns.as_ref()?.max))));
            }
        }
        cells.extend(has_failures.then(|| count(failed)));
        cells.push(rows.map_or_else(|| "-".to_owned(), count));
        cells.extend(costs.cells(name));
        ((*name).to_owned(), cells)
    };
    aligned("", &columns, &names.iter().map(row).collect::<Vec<_>>(), out)
}

/// Returns true if one client did them again and again.
fn are_repeated(tasks: &[Task<'_>]) -> bool {
    !are_single(tasks) && tasks.iter().all(|task| task.is_repeated)
}

/// Returns true if each was done once at most.
fn are_single(tasks: &[Task<'_>]) -> bool {
    tasks.iter().all(|task| task.txn.committed <= 1)
}

/// Writes the tables for a terminal.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let columns = COLUMNS.map(str::to_owned);
    for (stage, group) in groups(record).filter(|(_, group)| !group.transactions.is_empty()) {
        let rows: Vec<_> = of_group(group).map(|task| (task.txn.name.clone(), task.cells())).collect();
        aligned(&group_name(record, &stage.name, &group.name), &columns, &rows, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Writes the tables as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    for (stage, group) in groups(record).filter(|(_, group)| !group.transactions.is_empty()) {
        let name = group_name(record, &stage.name, &group.name);
        writeln!(
            out,
            "| {} | {} |\n| --- |{}",
            MarkdownText(&name),
            COLUMNS.join(" | "),
            " ---: |".repeat(COLUMNS.len())
        )?;
        for task in of_group(group) {
            writeln!(out, "| {} | {} |", MarkdownText(&task.txn.name), task.cells().join(" | "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
