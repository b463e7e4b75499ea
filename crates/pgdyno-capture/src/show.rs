//! A capture as text of 80 columns, and as JSON.

use std::io::{self, Write};

use pgdyno_text::paint::Paint;
use pgdyno_text::units;
use pgdyno_text::wrap::{self, entry};
use pgdyno_text::{TextStyle, brief};

use crate::classify::has_constants;
use crate::fit::name;
use crate::form::{
    CaptureRecord, CapturedRelation, CapturedStatement, CapturedTransaction, CapturedTransactions, StatementKind,
};

/// The name of a format, and how it is written.
type Format = (&'static str, fn(&CaptureRecord, TextStyle, &mut dyn Write) -> io::Result<()>);

/// The formats, by name.
pub const FORMATS: &[Format] = &[("text", text), ("json", json)];

/// Rows of a table, unless all are asked for.
const ROWS: usize = 15;

/// Columns before the text of a statement.
const FIGURES: usize = 46;

/// Columns before the name of a table.
const TABLE_FIGURES: usize = 54;

fn json(capture: &CaptureRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, capture)?;
    writeln!(out)
}

/// Executions, time and number of some statements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    calls: f64,
    exec_time_ms: f64,
    statements: u64,
}

impl Sum {
    fn of<'a>(statements: impl Iterator<Item = &'a CapturedStatement>) -> Self {
        statements.fold(Self::default(), |sum, statement| Self {
            calls: sum.calls + statement.calls,
            exec_time_ms: sum.exec_time_ms + statement.exec_time_ms,
            statements: sum.statements + 1,
        })
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn text(capture: &CaptureRecord, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    let head = &capture.head;
    let standby = if head.server.standby { ", a standby" } else { "" };
    let title = format!(
        "{}, PostgreSQL {}{standby}: {} from {}",
        head.server.database,
        head.server.version,
        brief::duration(head.window.seconds),
        head.window.began_at
    );
    writeln!(out, "{}\n", paint.bold(&wrap::one_line(&title)))?;
    let is_counted = |statement: &&CapturedStatement| statement.kind.is_load();
    let all = Sum::of(capture.statements.iter().filter(is_counted));
    let of_use = Sum::of(capture.statements.iter().filter(|statement| statement.refused.is_none()));
    let usable = format!(
        "{} of the time, {} of the calls ({} of {})",
        brief::percent(share(of_use.exec_time_ms, all.exec_time_ms)),
        brief::percent(share(of_use.calls, all.calls)),
        units::count(of_use.statements),
        units::plural(all.statements, "statement")
    );
    entry(out, &paint, "USABLE", &format!("{usable} can be part of a benchmark"))?;
    let per_second = |total: f64| units::rate(share(total, head.window.seconds));
    let load = format!(
        "{} statements a second, {} transactions a second, {} active sessions on average",
        per_second(all.calls),
        per_second(head.database.committed + head.database.rolled_back),
        brief::number(share(all.exec_time_ms / 1e3, head.window.seconds))
    );
    let peak =
        head.peak().map_or_else(String::new, |peak| format!("; the busiest minute had {peak:.1} times the mean"));
    entry(out, &paint, "LOAD", &format!("{load}{peak}"))?;
    entry(out, &paint, "CLIENTS", &clients(capture))?;
    for warning in &head.warnings {
        entry(out, &paint, "WARNING", &wrap::one_line(warning))?;
    }
    statements(capture, all.exec_time_ms, look, out)?;
    if let Some(of_log) = &capture.transactions {
        transactions(of_log, &capture.statements, look, out)?;
    }
    tables(&capture.relations, look, out)?;
    writeln!(out)?;
    refused(capture, all.exec_time_ms, look, out)?;
    let log = match capture.transactions {
        Some(_) => {
            "; statements of transactions in their order, which of their parameters are equal, and how often values are repeated"
        }
        None => "",
    };
    let holds = format!(
        "texts of statements {}; definitions of tables, indexes and constraints with the constants in them; settings; \
         names of applications{log}. No rows, no parameters, no names of roles or machines",
        constants(&capture.statements)
    );
    entry(out, &paint, "HOLDS", &holds)?;
    let cost = head.cost;
    let cost = format!(
        "{} over one connection, which took {} in all and {} at most",
        units::plural(cost.queries, "query").replace("querys", "queries"),
        units::duration(cost.waited_s),
        units::duration(cost.waited_max_s)
    );
    entry(out, &paint, "COST", &cost)
}

/// Writes the statements that cannot be part of a benchmark, with their share of the time, the most first.
fn refused(capture: &CaptureRecord, time_ms: f64, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    let all: Vec<_> = capture
        .statements
        .iter()
        .filter(|statement| statement.kind.is_load())
        .filter_map(|statement| Some((statement, statement.refused.as_deref()?)))
        .collect();
    let shown = if look.verbose { all.len() } else { ROWS.min(all.len()) };
    for (statement, why) in &all[..shown] {
        let text = wrap::one_line(&statement.text);
        let of_time = brief::percent(share(statement.exec_time_ms, time_ms));
        let text =
            format!("{} ({of_time} of the time): {}", wrap::clipped(&text, wrap::COLUMNS / 2), wrap::one_line(why));
        entry(out, &paint, "REFUSED", &text)?;
    }
    if shown < all.len() {
        writeln!(out, "        … {} more (-v)", all.len() - shown)?;
    }
    Ok(())
}

/// Returns how many of the texts have constants.
fn constants(statements: &[CapturedStatement]) -> String {
    let is_query = |statement: &&CapturedStatement| {
        matches!(statement.kind, StatementKind::Read | StatementKind::Write) && has_constants(&statement.text)
    };
    match statements.iter().filter(is_query).count() {
        0 => "without constants".to_owned(),
        1 => "(1 has constants)".to_owned(),
        number => format!("({} have constants)", units::count(number as u64)),
    }
}

/// Returns the connections of each application.
fn clients(capture: &CaptureRecord) -> String {
    let of = |connections: &crate::ApplicationConnections| {
        let name = match connections.application.as_str() {
            "" => "(no name)".to_owned(),
            name => wrap::one_line(name),
        };
        format!(
            "{name}: {} connections, {} active, {} idle in transaction",
            brief::number(connections.connections_mean),
            brief::number(connections.active_mean),
            brief::number(connections.idle_in_transaction_mean)
        )
    };
    match capture.head.connections.as_slice() {
        [] => "no other connection to the database was there".to_owned(),
        all => all.iter().take(ROWS).map(of).collect::<Vec<_>>().join("; "),
    }
}

fn statements(capture: &CaptureRecord, time_ms: f64, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    let columns = "  time  calls/s  ms/call rows/call blks/call  statement";
    writeln!(out, "\n{}", paint.bold(columns))?;
    let of_use: Vec<_> = capture.statements.iter().filter(|statement| statement.refused.is_none()).collect();
    let shown = if look.verbose { of_use.len() } else { ROWS.min(of_use.len()) };
    for statement in &of_use[..shown] {
        let per_call = |counter| brief::number(statement.per_call(counter));
        let figures = format!(
            "{:>6} {:>8} {:>8} {:>9} {:>9}",
            brief::percent(share(statement.exec_time_ms, time_ms)),
            units::rate(share(statement.calls, capture.head.window.seconds)),
            per_call(statement.exec_time_ms),
            per_call(statement.rows),
            per_call(statement.blocks())
        );
        let text = wrap::one_line(&statement.text);
        if look.verbose {
            writeln!(out, "{figures}")?;
            wrap::hanging(out, "        ", 8, &text)?;
        } else {
            writeln!(out, "{figures}  {}", shortened(&text, wrap::columns() - FIGURES))?;
        }
    }
    if shown < of_use.len() {
        writeln!(out, "        … {} more (-v)", of_use.len() - shown)?;
    }
    Ok(())
}

/// Writes the kinds of transactions, the most frequent first.
fn transactions(
    of_log: &CapturedTransactions,
    statements: &[CapturedStatement],
    look: TextStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = format!(
        "{} in the log ({} rolled back)",
        units::plural(of_log.committed + of_log.rolled_back, "transaction"),
        units::count(of_log.rolled_back)
    );
    writeln!(out, "\n{}\n share  statements", Paint(look.colour).bold(&title))?;
    let kinds = &of_log.kinds;
    let shown = if look.verbose { kinds.len() } else { ROWS.min(kinds.len()) };
    for kind in &kinds[..shown] {
        let share = brief::percent(share(kind.count as f64, of_log.committed as f64));
        wrap::hanging(out, &format!("{share:>6}  "), 8, &in_short(kind, statements))?;
    }
    if shown < kinds.len() {
        writeln!(out, "        … {} more (-v)", kinds.len() - shown)?;
    }
    Ok(())
}

/// Returns the statements of a transaction, in short.
fn in_short(kind: &CapturedTransaction, statements: &[CapturedStatement]) -> String {
    let step = |(at, step): (usize, &crate::TransactionStep)| {
        let what = match &statements[step.statement] {
            // Its text is a command.
            other if other.kind == StatementKind::Utility => other.text.clone(),
            statement => name(&statement.text),
        };
        let calls = match step.calls_mean {
            mean if mean > 1.0 => format!(" × {}", brief::number(mean)),
            _ => String::new(),
        };
        let of_step = kind.flows.iter().filter(|flow| flow.step == at && flow.from_step < at);
        let flows: Vec<_> = of_step
            .map(|flow| format!("${} = ${} of {}", flow.parameter, flow.from_parameter, flow.from_step + 1))
            .collect();
        let flows = if flows.is_empty() { String::new() } else { format!(" ({})", flows.join(", ")) };
        format!("{}. {what}{calls}{flows}", at + 1)
    };
    let isolation = kind.isolation.map_or_else(String::new, |level| format!("{}: ", level.name().to_uppercase()));
    let statements = match kind.steps.len() {
        1 => step((0, &kind.steps[0])).trim_start_matches("1. ").to_owned(),
        _ => kind.steps.iter().enumerate().map(step).collect::<Vec<_>>().join(", "),
    };
    format!("{isolation}{statements}")
}

/// Returns as many characters as fit.
fn shortened(text: &str, columns: usize) -> String {
    match text.char_indices().nth(columns) {
        Some(_) => text.chars().take(columns - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Writes the tables with most activity.
fn tables(relations: &[CapturedRelation], look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut active: Vec<_> = relations.iter().filter_map(|table| Some((table, table.activity?))).collect();
    if active.is_empty() {
        return Ok(());
    }
    active.sort_by(|a, b| b.0.bytes.total_cmp(&a.0.bytes));
    let header = "      rows       size seq scans index scans  written  table";
    writeln!(out, "\n{}", Paint(look.colour).bold(header))?;
    let shown = if look.verbose { active.len() } else { ROWS.min(active.len()) };
    for (table, activity) in &active[..shown] {
        let rows = if table.rows < 0.0 { "unknown".to_owned() } else { units::grouped(table.rows) };
        writeln!(
            out,
            "{rows:>10} {:>10} {:>9} {:>11} {:>8}  {}",
            units::mean_bytes(table.bytes),
            units::grouped(activity.seq_scans),
            units::grouped(activity.index_scans),
            units::grouped(activity.rows_inserted + activity.rows_updated + activity.rows_deleted),
            shortened(&format!("{}.{}", table.schema, table.name), wrap::columns() - TABLE_FIGURES)
        )?;
    }
    if shown < active.len() {
        writeln!(out, "        … {} more (-v)", active.len() - shown)?;
    }
    Ok(())
}
