//! The rest of a run, below its summary: what `--verbose` adds.

use std::io::{self, Write};

use pgdyno_results::{DriverStageRecord, GrowthRecord, RunRecord, Summary};
use pgdyno_text::paint::Paint;
use pgdyno_text::units::{bytes, count, ms, percent, percent_of_whole, plural};
use pgdyno_text::wrap::{self, one_line, wrapped};

use crate::Extent;
use crate::describe::{line_of_drive, line_of_place, line_of_server};
use crate::latency_table::{aligned, is_scheduled, latency_columns, latency_rows};
use crate::metric::server_counts;
use crate::{cycle, diagnosis, fidelity, groups, ledger, machine, readers, rules, steady};

/// The driver's own delays are shown if they exceed this share of the measured times.
const NOTABLE: f64 = 0.01;

/// Writes all that the summary leaves out.
pub(super) fn render(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    wrap::entry(out, paint, "server", &line_of_server(record))?;
    if let Some(place) = line_of_place(record) {
        wrap::entry(out, paint, "", &place)?;
    }
    lines_of_cluster(record, out)?;
    wrap::entry(out, paint, "clients", &line_of_drive(record))?;
    if let Some(copy) = &record.copy {
        let size = copy.bytes.map_or_else(String::new, |n| format!(" ({})", bytes(n)));
        let made = pgdyno_text::units::duration(copy.seconds);
        wrap::entry(out, paint, "", &format!("on a fresh copy of database {}{size}, made in {made}", copy.template))?;
    }
    for line in cycle::lines(record) {
        wrapped(out, &line, "  ")?;
    }
    if let Some(summary) = &record.summary {
        writeln!(out)?;
        table(record, summary, out)?;
        groups::text(record, Extent::Full, out)?;
        readers::text(record, Extent::Full, out)?;
        statements(record, out)?;
        if let Some(fidelity) = &record.fidelity {
            fidelity::table(fidelity, out)?;
            writeln!(out)?;
        }
        if let Some(ledger) = &record.ledger {
            ledger::table(ledger, out)?;
            writeln!(out)?;
        }
        rules::text(record, out)?;
        counters(record, summary, out)?;
        for line in machine::lines(record, Extent::Full) {
            wrapped(out, &line, "  ")?;
        }
        diagnosis::text(record, out)?;
    }
    if let Some(line) = line_of_samples(record) {
        wrapped(out, &line, "  ")?;
    }
    if !record.query_plans.is_empty() {
        let plans = crate::analytics::queries(record.query_plans.len() as u64);
        wrapped(out, &format!("plans of {plans} in plans.json; `pgdyno compare` shows which ones changed"), "  ")?;
    }
    for set in &record.checks {
        writeln!(out, "checks {}: {}", set.when, super::all_pass(set))?;
    }
    for warning in record.warnings.iter() {
        wrapped(out, &format!("warning: {warning}"), "  ")?;
    }
    Ok(())
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
    let name = cluster.unit.as_deref().unwrap_or(&record.plan.scale_name);
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
    let rows = latency_rows(record, Extent::Full);
    let columns = latency_columns(record, Extent::Full);
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
        let text: String = one_line(&s.sql).chars().take(100).collect();
        let [mean, p99, max] = s
            .latency_ns
            .as_ref()
            .map_or(["-".into(), "-".into(), "-".into()], |l| [ms(l.mean as u64), ms(l.p99), ms(l.max)]);
        writeln!(out, "  {mean:>8}  {p99:>8}  {max:>8}  {:>10}  {text}", count(s.executed))?;
    }
    writeln!(out)
}

fn counters(record: &RunRecord, s: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if s.rolled_back > 0 {
        writeln!(out, "{} transactions rolled back by design", count(s.rolled_back))?;
    }
    for error in &record.errors {
        wrapped(out, &super::error(error), "  ")?;
    }
    for notice in &record.notices {
        wrapped(out, &super::notice(notice), "  ")?;
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
        server.push(format!("{} of block reads hit shared buffers", percent_of_whole(ratio)));
    }
    if let Some(ratio) = s.os_cache_hit_ratio {
        server.push(format!("at least {} of the rest came from the system's file cache", percent(ratio)));
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
        wrapped(out, &format!("server: {}", server.join(", ")), "  ")?;
    }
    let mut client = Vec::new();
    if let Some(us) = s.client_cpu_us_per_tx {
        client.push(format!("{us:.1} µs CPU a transaction"));
    }
    if let Some(busiest) = record.client.thread_busy.iter().copied().reduce(f64::max) {
        client.push(format!("busiest thread {} on CPU", percent(busiest)));
    }
    if let Some(busy) = record.client.beside_busy.filter(|busy| *busy > 0.0005) {
        client.push(format!("queries beside the transactions took {} of a CPU", percent(busy)));
    }
    if record.client.run_delay > 0.0005 {
        client.push(format!("threads waited for a CPU {} of the time", percent(record.client.run_delay)));
    }
    if let Some(share) = record.client.unread_share.filter(|share| *share > NOTABLE) {
        client.push(format!("replies lay unread for {} of the service time", percent(share)));
    }
    if let (Some(late), Some(response), Some(_)) =
        (&record.client.timer_lateness_ns, &s.response_latency_ns, &s.schedule_lag_ns)
        && late.p99 as f64 > NOTABLE * response.p99 as f64
    {
        client.push(format!("timers late by {} ms (p99)", ms(late.p99)));
    }
    client.push(format!("peak memory {}", bytes(record.client.rss_bytes_max)));
    wrapped(out, &format!("client: {}", client.join(", ")), "  ")?;
    drivers(out, record)?;
    for line in steady::lines(s) {
        wrapped(out, &line, "  ")?;
    }
    Ok(())
}

/// Returns a driver's part of a stage after the first.
fn of_stage(stage: &DriverStageRecord) -> String {
    let clients = plural(u64::from(stage.clients), "client");
    let Some(busiest) = stage.thread_busy.iter().copied().reduce(f64::max) else {
        return format!("{}: {clients}", stage.stage);
    };
    let began = stage.start_ms.map_or_else(String::new, |start| format!(", began {start:+.1} ms from its start"));
    format!("{}: {clients}, busiest thread {} on CPU{began}", stage.stage, percent(busiest))
}

/// Writes a line for each of several drivers.
fn drivers(out: &mut dyn Write, record: &RunRecord) -> io::Result<()> {
    for (nth, driver) in record.drivers.iter().enumerate() {
        let client = &driver.client;
        let mut facts = vec![
            plural(u64::from(driver.clients), "client"),
            plural(client.threads as u64, "thread"),
            format!("busiest {} on CPU", percent(client.thread_busy.iter().copied().fold(0.0, f64::max))),
            format!("{} waiting for one", percent(client.run_delay)),
        ];
        if let (Some(start), Some(error)) = (driver.start_ms, driver.clock_error_ms) {
            facts.push(format!("began {start:+.1} ms from the common start (clock ±{error:.1} ms)"));
        }
        facts.extend(driver.lost.as_ref().map(|why| format!("lost: {why}")));
        facts.extend(driver.later_stages.iter().map(of_stage));
        let name = format!("driver {} on {} (process {})", nth + 1, driver.host, driver.pid);
        wrapped(out, &format!("{name}: {}", facts.join(", ")), "  ")?;
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
