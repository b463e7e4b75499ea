//! The summary of a run on a terminal.

use std::io::{self, Write};

use pgdyno_results::{CheckSet, GrowthRecord, RunRecord, Status, Summary, Trust};

use crate::Look;
use crate::describe::{line_of_drive, line_of_place, line_of_server, what_ran};
use crate::diagnosis;
use crate::groups;
use crate::guide;
use crate::latency_table::{aligned, is_scheduled, latency_columns, latency_rows};
use crate::machine;
use crate::metric::{headline, server_counts};
use crate::paint::Paint;
use crate::rules;
use crate::steady;
use crate::units::{bytes, count, duration, ms, percent};
use crate::{cost, cycle, trust};

/// The driver's own delays are shown if they exceed this share of the measured times.
const NOTABLE: f64 = 0.01;

pub(crate) fn render(record: &RunRecord, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    writeln!(out, "{}", paint.bold(&what_ran(record)))?;
    writeln!(out, "{}", line_of_server(record))?;
    if let Some(line) = line_of_place(record) {
        writeln!(out, "{line}")?;
    }
    lines_of_cluster(record, out)?;
    writeln!(out, "{}", line_of_drive(record))?;
    if let Some(copy) = &record.copy {
        let size = copy.bytes.map_or_else(String::new, |n| format!(" ({})", bytes(n)));
        writeln!(out, "on a fresh copy of database {}{size}, made in {}", copy.template, duration(copy.seconds))?;
    }
    guide::text(record, out)?;
    for line in cycle::lines(record) {
        writeln!(out, "{line}")?;
    }
    if record.status != Status::Complete {
        writeln!(out, "{}", paint.red(&format!("status: {}", record.status.name())))?;
        if let Some(reason) = &record.reason {
            writeln!(out, "  {reason}")?;
        }
    }
    if let Some(summary) = &record.summary {
        writeln!(out)?;
        let figures: Vec<String> =
            headline(record).into_iter().map(|h| format!("{} {}", paint.bold(&h.value), h.name)).collect();
        writeln!(out, "  {}", figures.join("   "))?;
        lines_of_trust(record, &paint, out)?;
        writeln!(out)?;
        table(record, summary, out)?;
        groups::text(record, out)?;
        statements(record, out)?;
        rules::text(record, out)?;
        guide::table_in_text(record, out)?;
        counters(record, summary, out)?;
        for line in machine::lines(record) {
            writeln!(out, "{line}")?;
        }
        diagnosis::text(record, out)?;
    }
    if let Some(line) = line_of_samples(record) {
        writeln!(out, "{line}")?;
    }
    if let Some(line) = cost::line(record) {
        writeln!(out, "{line}")?;
    }
    for set in &record.checks {
        let broken: Vec<_> = set.checks.iter().filter(|c| !c.passes()).collect();
        let all = set.checks.len();
        if broken.is_empty() {
            writeln!(out, "checks {}: {}", set.when, all_pass(set))?;
        } else {
            writeln!(out, "{}", paint.red(&format!("checks {}: {} of {all} broken", set.when, broken.len())))?;
            for check in broken {
                writeln!(out, "  {} does not hold: {}", check.name, check.condition)?;
                for violation in &check.violations {
                    writeln!(out, "    {violation}")?;
                }
            }
        }
    }
    for warning in &record.warnings {
        writeln!(out, "{} {warning}", paint.yellow("warning:"))?;
    }
    Ok(())
}

/// Writes whether the figures can be used, and the reasons if not.
fn lines_of_trust(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let (verdict, reasons) = trust::lines(record);
    let words = format!("trust: {}", verdict.name());
    let words = match verdict {
        Trust::Good => words,
        Trust::WithCare => paint.yellow(&words),
        Trust::NotUsable => paint.red(&words),
    };
    writeln!(out, "  {words}")?;
    reasons.iter().try_for_each(|reason| writeln!(out, "    {reason}"))
}

/// Returns the text for checks that all hold.
pub(crate) fn all_pass(set: &CheckSet) -> String {
    let (all, known) = (set.checks.len(), set.known());
    match known.len() {
        0 => format!("all {all} hold"),
        n => format!("{} of {all} hold, known deviations in {}", all - n, known.join(", ")),
    }
}

/// Returns what could not be sampled, and where the plans are.
fn line_of_samples(record: &RunRecord) -> Option<String> {
    let samples = record.samples.as_ref()?;
    let left_out: Vec<&str> = samples.left_out.iter().map(|out| out.source.as_str()).collect();
    let left_out = match left_out[..] {
        [] => None,
        _ => Some(format!("without {} (samples.left_out of run.json says why)", left_out.join(", "))),
    };
    let plans = samples.plans.as_ref().map(|file| format!("plans of statements in {file}"));
    let parts: Vec<String> = left_out.into_iter().chain(plans).collect();
    (!parts.is_empty()).then(|| format!("samples: {}", parts.join("; ")))
}

/// Writes the nodes, if the server spreads tables over some.
fn lines_of_cluster(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let Some(cluster) = record.server.as_ref().and_then(|server| server.cluster.as_ref()) else { return Ok(()) };
    let name = record.plan.scale_name.as_str();
    let held: Vec<String> = cluster.nodes.iter().filter_map(|node| node.warehouses).map(count).collect();
    let spread = cluster
        .skew
        .map(|skew| format!("; {name} by node {}, skew {skew:.2} (the fullest over the mean)", held.join(" + ")))
        .unwrap_or_default();
    writeln!(out, "Citus {} on {}{spread}", cluster.version, cluster.label)?;
    let verdict = match cluster.delegated {
        Some(true) => "delegated",
        Some(false) => "NOT delegated",
        None => "delegation not shown",
    };
    writeln!(out, "  {verdict}: {}", cluster.delegation)
}

fn table(record: &RunRecord, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rows = latency_rows(record);
    let columns = latency_columns(record);
    aligned("transaction", &columns, &rows, out)?;
    if summary.response_latency_ns.is_some() && is_scheduled(record) {
        writeln!(out, "  (response times count from the intended start, service times from the first byte sent)")?;
    }
    writeln!(out)
}

/// Writes the latencies of statements, if a transaction has several.
fn statements(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    // In a pipeline all replies arrive at once: the first statement would seem to take all of the time.
    if record.plan.params.get("pipeline").is_some_and(|value| value == "true") {
        return Ok(());
    }
    let used: Vec<_> = record.statements.iter().filter(|s| s.executed + s.failed > 0).collect();
    if used.len() <= record.transactions.len() {
        return Ok(());
    }
    writeln!(out, "  {:>8}  {:>8}  {:>8}  {:>10}  statement", "mean ms", "p99 ms", "max ms", "executed")?;
    let mut shown = None;
    for s in used {
        // With several scripts, the commands of each are below its name.
        if record.transactions.len() > 1 && s.transaction.is_some() && s.transaction != shown {
            shown.clone_from(&s.transaction);
            writeln!(out, "  {}", s.transaction.as_deref().unwrap_or_default())?;
        }
        let text: String = s.sql.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect();
        let [mean, p99, max] = s
            .latency_ns
            .as_ref()
            .map_or(["-".into(), "-".into(), "-".into()], |l| [ms(l.mean as u64), ms(l.p99), ms(l.max)]);
        writeln!(out, "  {mean:>8}  {p99:>8}  {max:>8}  {:>10}  {text}", count(s.executed))?;
    }
    writeln!(out)
}

fn counters(record: &RunRecord, s: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = Vec::new();
    if s.rolled_back > 0 {
        facts.push(format!("{} rolled back as the workload wants it", count(s.rolled_back)));
    }
    if s.retried > 0 {
        let most = match record.plan.max_tries {
            0 => String::new(),
            tries => format!(", at most {} tries each", count(u64::from(tries))),
        };
        facts.push(format!("{} retried ({} retries{most})", count(s.retried), count(s.retries)));
    }
    if s.skipped > 0 {
        facts.push(format!("{} skipped", count(s.skipped)));
    }
    if s.still_waiting > 0 {
        let longest = duration(s.still_waiting_s_max.unwrap_or_default());
        facts.push(format!("{} still waiting at the end, for up to {longest} (in no latency)", count(s.still_waiting)));
    }
    if s.late > 0 {
        facts.push(format!("{} above the latency limit", count(s.late)));
    }
    for (class, n) in &s.failed_by_class {
        facts.push(format!("{} failed ({class})", count(*n)));
    }
    if s.cancelled_in_flight > 0 {
        facts.push(format!("{} cancelled at the end", count(s.cancelled_in_flight)));
    }
    if let Some(outage) = s.outage_s_max {
        facts.push(format!("{} reconnected, longest outage {}", count(s.reconnected), duration(outage)));
    }
    if !facts.is_empty() {
        writeln!(out, "transactions: {}", facts.join(", "))?;
    }
    for e in &record.errors {
        writeln!(out, "error {} × {}: {}", e.sqlstate, count(e.count), e.message)?;
    }
    for n in &record.notices {
        writeln!(out, "{} × {}: {}", n.severity, count(n.count), n.message)?;
    }
    for (counted, client, server) in server_counts(record) {
        let verdict = if server == client { "the same" } else { "NOT the same" };
        writeln!(
            out,
            "{counted} of the whole run: {} by the client's count, {} in the server's tables: {verdict}",
            count(client),
            count(server)
        )?;
    }
    let mut server = Vec::new();
    if let Some(ratio) = s.cache_hit_ratio {
        server.push(format!("{:.2} % of block reads hit shared buffers", ratio * 100.0));
    }
    if let Some(ratio) = s.os_cache_hit_ratio {
        server.push(format!("{} of the rest came from the system's file cache", percent(ratio)));
    }
    if let Some(wal) = s.wal_bytes {
        server.push(format!("WAL {}", bytes(wal)));
    }
    if let (Some(before), Some(after)) =
        record.server.as_ref().map_or((None, None), |server| (server.database_bytes, server.database_bytes_after))
    {
        server.push(format!("database grew by {}{}", bytes(after.saturating_sub(before)), growth(record)));
    }
    if !server.is_empty() {
        writeln!(out, "server: {}", server.join(", "))?;
    }
    let mut client = Vec::new();
    if let Some(us) = s.client_cpu_us_per_tx {
        client.push(format!("{us:.1} µs CPU a transaction"));
    }
    if let Some(busiest) = record.client.thread_busy.iter().copied().reduce(f64::max) {
        client.push(format!("busiest thread {} on CPU", percent(busiest)));
    }
    if record.client.run_delay > 0.0005 {
        client.push(format!("{} waiting for one", percent(record.client.run_delay)));
    }
    if let Some(share) = record.client.unread_share.filter(|share| *share > NOTABLE) {
        client.push(format!("{} of service time unread replies", percent(share)));
    }
    if let (Some(late), Some(response), Some(_)) =
        (&record.client.timer_lateness_ns, &s.response_latency_ns, &s.schedule_lag_ns)
        && late.p99 as f64 > NOTABLE * response.p99 as f64
    {
        client.push(format!("timers late by {} ms (p99)", ms(late.p99)));
    }
    client.push(format!("peak memory {}", bytes(record.client.rss_bytes_max)));
    writeln!(out, "client: {}", client.join(", "))?;
    for line in steady::lines(s) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the tables that grew most.
fn growth(record: &RunRecord) -> String {
    let tables = record.server.iter().flat_map(|server| &server.tables);
    let grown = |t: &GrowthRecord| Some((t.bytes_after?.saturating_sub(t.bytes_before), t.name.clone()));
    let mut grown: Vec<_> = tables.filter_map(grown).filter(|(by, _)| *by > 0).collect();
    grown.sort_unstable_by(|a, b| b.cmp(a));
    let grown: Vec<_> = grown.iter().take(3).map(|(by, name)| format!("{name} {}", bytes(*by))).collect();
    if grown.is_empty() { String::new() } else { format!(" ({})", grown.join(", ")) }
}
