//! Tables of a run: transactions, statements, checks, rules, errors, notices.

use pgdyno_results::{RunRecord, StatementRecord};
use pgdyno_text::units::{bytes, count, duration, ms, percent};
use pgdyno_text::wrap::one_line;

use super::groups;
use super::markup::{Html, PageColumn};
use crate::Extent;
use crate::guide::published_row;
use crate::latency_table::{latency_columns, latency_rows};
use crate::metric::server_counts;

/// Maximum number of statements in the table of their shares.
const STATEMENTS_MAX: usize = 40;

pub(super) fn tables(record: &RunRecord, html: &mut Html) {
    published(record, html);
    groups::table(record, html);
    statements(record, html);
    rules(record, html);
    checks(record, html);
    errors(record, html);
    notices(record, html);
    load(record, html);
}

/// Writes the published figures beside the measured ones, without a judgement.
fn published(record: &RunRecord, html: &mut Html) {
    let Some(recipe) = record.plan.recipe.as_ref().filter(|_| record.summary.is_some()) else { return };
    if recipe.published.is_empty() {
        return;
    }
    let row = |p: &pgdyno_plan::Published| {
        let [name, measured, published] = published_row(record, p);
        vec![name, published, measured, p.note.clone()]
    };
    html.heading("Published and measured").raw("<p>").text(&recipe.source).raw(", on ").text(&recipe.machine);
    html.raw(". Another machine: a figure to look at, not one to reach.</p>\n");
    let columns = [("figure", false), ("published", true), ("measured here", true), ("", false)];
    html.table(&columns, &recipe.published.iter().map(row).collect::<Vec<_>>());
}

/// Writes the table of transactions and the counts of the run.
pub(super) fn transactions(record: &RunRecord, html: &mut Html) {
    let rows: Vec<Vec<String>> = latency_rows(record, Extent::Full)
        .into_iter()
        .map(|(name, cells)| std::iter::once(name).chain(cells).collect())
        .collect();
    if rows.is_empty() {
        return;
    }
    let names = latency_columns(record, Extent::Full);
    let columns: Vec<PageColumn<'_>> =
        std::iter::once(("transaction", false)).chain(names.iter().map(|name| (name.as_str(), true))).collect();
    html.heading("Transactions").table(&columns, &rows);
    let facts = facts(record);
    if !facts.is_empty() {
        html.raw("<p class=\"note\">").text(&facts.join(" · ")).raw("</p>\n");
    }
}

/// Returns the counts other than latencies.
fn facts(record: &RunRecord) -> Vec<String> {
    let Some(s) = &record.summary else { return Vec::new() };
    let mut facts = Vec::new();
    let mut fact = |n: u64, what: &str| {
        if n > 0 {
            facts.push(format!("{} {what}", count(n)));
        }
    };
    fact(s.rolled_back, "rolled back by design");
    fact(s.retried, "tried more than once");
    fact(s.retries, "tries after the first");
    fact(s.skipped, "arrivals skipped");
    let longest = duration(s.still_waiting_s_max.unwrap_or_default());
    fact(s.still_waiting, &format!("still waiting at the end, for up to {longest}; excluded from latency"));
    fact(s.late, "above the latency limit");
    for (class, n) in &s.failed_by_class {
        fact(*n, &format!("failed: {class}"));
    }
    fact(s.connections_lost, "connections lost");
    if let Some(in_flight) = s.in_flight_at_end {
        let age = duration(in_flight.age_s_max);
        fact(
            in_flight.counted,
            &format!("in flight at the end of the window, for up to {age}; latencies include that age"),
        );
    }
    fact(s.cancelled_in_flight, "cancelled at the end");
    let tallies = record.tallies.iter().map(|tally| format!("{}: {}", tally.name, count(tally.count)));
    facts.extend(tallies);
    for (counted, client, server) in server_counts(record) {
        let verdict = if server == client { "the same" } else { "NOT the same" };
        let (client, server) = (count(client), count(server));
        facts.push(format!("{counted} of the whole run: {client} by the client, {server} by the server: {verdict}"));
    }
    if let Some(wal) = s.wal_bytes {
        facts.push(format!("WAL in the measured window: {}", bytes(wal)));
    }
    facts
}

/// Returns the total time of a statement, in nanoseconds.
fn time_ns(s: &StatementRecord) -> f64 {
    let mean = s.latency_ns.as_ref().map(|l| l.mean).or(s.latency_ns_mean);
    mean.unwrap_or_default() * s.executed as f64
}

fn statements(record: &RunRecord, html: &mut Html) {
    // In a pipeline all replies arrive at once: the first statement would seem to take all of the time.
    let pipeline = record.plan.params.get("pipeline").is_some_and(|value| value == "true");
    let mut used: Vec<_> = record.statements.iter().filter(|s| s.executed + s.failed > 0).collect();
    let all: f64 = used.iter().map(|s| time_ns(s)).sum();
    if pipeline || used.is_empty() || all <= 0.0 {
        return;
    }
    used.sort_by(|a, b| time_ns(b).total_cmp(&time_ns(a)));
    html.heading("Statements by their share of time");
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"statements\"><thead><tr>");
    html.raw("<th scope=\"col\">statement</th><th scope=\"col\" class=\"n\">share</th>");
    let has_rows = used.iter().any(|s| s.rows.is_some_and(|rows| rows > 0));
    let rows = has_rows.then_some("rows");
    for name in ["executed", "failed"].into_iter().chain(rows).chain(["mean ms", "p99 ms", "max ms"]) {
        html.raw("<th scope=\"col\" class=\"n\">").text(name).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for s in used.iter().take(STATEMENTS_MAX) {
        let share = time_ns(s) / all;
        html.raw("<tr><td><code>").text(&one_line(&s.sql)).raw("</code>");
        if let Some(transaction) = s.transaction.as_ref().filter(|_| record.transactions.len() > 1) {
            html.raw("<small> in ").text(transaction).raw("</small>");
        }
        html.raw("<svg class=\"bar\" aria-hidden=\"true\"><rect height=\"6\" rx=\"2\" width=\"");
        html.text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg></td><td class=\"n\">").text(&percent(share));
        let latency =
            |of: fn(&pgdyno_results::LatencyRecord) -> u64| s.latency_ns.as_ref().map(of).map_or("–".to_owned(), ms);
        let mean = s.latency_ns.as_ref().map(|l| l.mean).or(s.latency_ns_mean);
        let mean = mean.map_or("–".to_owned(), |mean| ms(mean as u64));
        let rows = has_rows.then(|| s.rows.map_or("–".to_owned(), count));
        let counts = [count(s.executed), count(s.failed)].into_iter().chain(rows);
        for cell in counts.chain([mean, latency(|l| l.p99), latency(|l| l.max)]) {
            html.raw("</td><td class=\"n\">").text(&cell);
        }
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    if let Some(left) = used.len().checked_sub(STATEMENTS_MAX).filter(|left| *left > 0) {
        html.raw("<p>").text(&format!("{left} more stand in run.json.")).raw("</p>\n");
    }
}

fn rules(record: &RunRecord, html: &mut Html) {
    if record.rules.is_empty() {
        return;
    }
    let verdict = |holds| match holds {
        Some(true) => "ok",
        Some(false) => "NOT MET",
        None => "not judged",
    };
    let row = |r: &pgdyno_results::RuleRecord| {
        vec![r.name.clone(), r.rule.clone(), r.found.clone(), verdict(r.holds).to_owned()]
    };
    let columns = [("rule", false), ("what it says", false), ("found", false), ("verdict", false)];
    html.heading("The workload's rules").table(&columns, &record.rules.iter().map(row).collect::<Vec<_>>());
}

fn checks(record: &RunRecord, html: &mut Html) {
    if record.checks.is_empty() {
        return;
    }
    html.heading("Checks of the data");
    for set in &record.checks {
        let broken: Vec<_> = set.checks.iter().filter(|check| !check.passes()).collect();
        let (all, broken_count) = (set.checks.len(), broken.len());
        if broken.is_empty() {
            let text = format!("{}: {}", set.when, crate::text::all_pass(set));
            html.raw("<p class=\"good all\">").text(&text).raw("</p>\n");
        } else {
            html.raw("<p class=\"bad all\">")
                .text(&format!("{}: {broken_count} of {all} are broken", set.when))
                .raw("</p>\n");
        }
        for check in broken {
            html.raw("<p>").text(&format!("{} does not hold: {}", check.name, check.condition)).raw("</p>\n");
            html.list(check.violations.iter().map(String::as_str));
        }
    }
    let all = record.checks.iter().flat_map(|set| set.checks.iter().map(move |check| (set, check)));
    let row = |(set, c): (&pgdyno_results::CheckSet, &pgdyno_results::CheckRecord)| {
        let holds = match (c.holds, &c.refused, &c.known) {
            (true, ..) => "holds",
            (false, Some(_), _) => "not checked",
            (false, None, Some(_)) => "known",
            (false, None, None) => "BROKEN",
        };
        vec![set.when.clone(), c.name.clone(), c.condition.clone(), holds.to_owned(), format!("{:.2}", c.seconds)]
    };
    let columns = [("when", false), ("check", false), ("condition", false), ("", false), ("s", true)];
    html.raw("<details><summary>Every check</summary>").table(&columns, &all.map(row).collect::<Vec<_>>());
    html.raw("</details>\n");
}

fn errors(record: &RunRecord, html: &mut Html) {
    if record.errors.is_empty() {
        return;
    }
    let row = |e: &pgdyno_results::ErrorRecord| vec![e.sqlstate.clone(), count(e.count), e.text()];
    let columns = [("SQLSTATE", false), ("count", true), ("first message", false)];
    html.heading("Errors of the server").table(&columns, &record.errors.iter().map(row).collect::<Vec<_>>());
}

fn notices(record: &RunRecord, html: &mut Html) {
    if record.notices.is_empty() {
        return;
    }
    let row = |n: &pgdyno_results::NoticeRecord| {
        vec![n.severity.clone(), n.sqlstate.clone(), count(n.count), n.message.clone()]
    };
    let columns = [("severity", false), ("SQLSTATE", false), ("count", true), ("first message", false)];
    html.heading("Notices of the server").table(&columns, &record.notices.iter().map(row).collect::<Vec<_>>());
}

fn load(record: &RunRecord, html: &mut Html) {
    if let Some(cached) = &record.cached_data {
        let text =
            format!("Copied from {} that an earlier run had loaded at {}.", bytes(cached.bytes), cached.loaded_at);
        html.heading("Data").raw("<p>").text(&text).raw("</p>\n");
    }
    let Some(load) = &record.load else { return };
    let row =
        |t: &pgdyno_results::LoadTable| vec![t.name.clone(), count(t.rows), bytes(t.copy_bytes), duration(t.copy_s)];
    let columns = [("table", false), ("rows", true), ("COPY data", true), ("COPY time of all loaders", true)];
    let text = format!("{} on {} connections.", duration(load.seconds), load.loaders);
    html.heading("Load").raw("<p>").text(&text).raw("</p>\n<details><summary>Its tables and phases</summary>");
    html.table(&columns, &load.tables.iter().map(row).collect::<Vec<_>>());
    let phases: Vec<_> = load.phases.iter().map(|(name, s)| vec![name.clone(), duration(*s)]).collect();
    html.table(&[("phase", false), ("time", true)], &phases).raw("</details>\n");
}
