//! Streams of queries that go on for a time: a row for each query, then sets, what was still running, and how old the data
//! was that they saw.

use std::io::{self, Write};

use pgdyno_results::{AnalyticsRecord, FreshnessRecord, QueryRecord, RecordMetric, RunRecord, StreamsRecord};
use pgdyno_text::units::{count, duration, grouped, ms, percent, plural, seconds};
use pgdyno_text::wrap::hanging;
use pgdyno_untrusted::MarkdownText;

use crate::latency_table::aligned;

/// Heading of the first column.
pub(crate) const FIRST: &str = "query";

/// Returns true if the queries of a group have a table of their own.
pub(crate) fn has_table(record: &RunRecord, stage: &str, group: &str) -> bool {
    record.analytics.iter().flat_map(|a| &a.stages).any(|streams| streams.stage == stage && streams.group == group)
}

/// Returns headings and rows: the stage with transactions first, the other beside it.
pub(crate) fn table(analytics: &AnalyticsRecord) -> (Vec<String>, Vec<(String, Vec<String>)>) {
    let [first, others @ ..] = &analytics.stages[..] else { return Default::default() };
    let grows = first.queries.iter().any(|query| query.seconds_p50_by_growth.is_some());
    let time = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), seconds);
    let failures = |query: &QueryRecord| query.failed + query.conflicts + query.timed_out;
    let mut columns = vec!["done", "failed", "median s", "p95 s"];
    columns.extend(grows.then_some("at first size s"));
    let mut columns: Vec<_> = columns.into_iter().map(str::to_owned).collect();
    columns.extend(others.iter().map(|_| "alone s".to_owned()));
    columns.push("rows".to_owned());
    let row = |query: &QueryRecord| {
        let mut cells = vec![count(query.completed), count(failures(query))];
        cells.extend([time(query.seconds_p50), time(query.seconds_p95)]);
        cells.extend(grows.then(|| time(query.seconds_p50_by_growth)));
        for other in others {
            let same = other.queries.iter().find(|same| same.name == query.name);
            cells.push(time(same.and_then(|same| same.seconds_p50)));
        }
        cells.push(query.rows_mean.map_or_else(|| "-".to_owned(), |rows| count(rows.round() as u64)));
        (query.name.clone(), cells)
    };
    (columns, first.queries.iter().map(row).collect())
}

/// Returns what the table does not show, in sentences.
pub(crate) fn notes(record: &RunRecord, analytics: &AnalyticsRecord) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(beside_alone(record));
    if let Some(growth) = &analytics.growth {
        let grown = growth.rows_after.saturating_sub(growth.rows_before);
        if grown > 0 && growth.rows_before > 0 {
            notes.push(format!(
                "{} grew from about {} to {} rows, by {}; \"at first size\" is the time by the rows that the query met",
                growth.table,
                count(growth.rows_before),
                count(growth.rows_after),
                percent(grown as f64 / growth.rows_before as f64)
            ));
        }
    }
    notes.extend(dead_rows(analytics));
    for streams in &analytics.stages {
        notes.extend(of_stage(record, streams));
    }
    if let Some(server) = &analytics.server {
        let settings =
            server.settings.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        notes.push(format!("queries ran on {}:{}: {settings}", server.place.host, server.place.port));
        if let Some(lag) = server.replay_lag_s_max {
            notes.push(format!("its replay was up to {} behind", duration(lag)));
        }
    }
    notes.extend(repartitioned(analytics));
    for query in analytics.stages.iter().take(1).flat_map(|streams| &streams.queries) {
        notes.extend(query.why_no_rows.as_ref().map(|why| format!("{} returned no rows: {why}", query.name)));
    }
    notes
}

/// Tables that the note on dead rows names.
const TABLES_MAX: usize = 4;

/// Returns how many dead rows there were, and how long a snapshot kept them.
fn dead_rows(analytics: &AnalyticsRecord) -> Option<String> {
    let mut tables: Vec<_> = analytics.dead_rows_max.iter().collect();
    tables.sort_by_key(|(_, rows)| std::cmp::Reverse(**rows));
    let tables = tables.iter().take(TABLES_MAX).map(|(name, rows)| format!("{name} {}", count(**rows)));
    let tables = tables.collect::<Vec<_>>().join(", ");
    let oldest = analytics
        .oldest_snapshot_s_max
        .map(|held| format!("oldest snapshot or transaction sampled: {}", duration(held)));
    let dead = (!tables.is_empty()).then(|| format!("most dead rows sampled: {tables}"));
    let both: Vec<_> = dead.into_iter().chain(oldest).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Returns the queries that move rows between the nodes of Citus, and what they do to the mean.
fn repartitioned(analytics: &AnalyticsRecord) -> Option<String> {
    let moved = &analytics.repartitioned;
    let queries = &analytics.stages.first().filter(|_| !moved.is_empty())?.queries;
    let mean = |wanted: &dyn Fn(&QueryRecord) -> bool| {
        let medians: Vec<f64> =
            queries.iter().filter(|query| wanted(query)).filter_map(|query| query.seconds_p50).collect();
        (!medians.is_empty()).then(|| (medians.iter().map(|s| s.ln()).sum::<f64>() / medians.len() as f64).exp())
    };
    let means = mean(&|_| true).zip(mean(&|query| !moved.contains(&query.name)));
    let means = means.map_or_else(String::new, |(with, without)| {
        format!("; geometric mean of medians {} s with them, {} s without", seconds(with), seconds(without))
    });
    Some(format!("{} move rows between the nodes for a join (repartition){means}", moved.join(", ")))
}

fn of_stage(record: &RunRecord, streams: &StreamsRecord) -> Vec<String> {
    let stage = if record.stages.len() > 1 { format!("{}: ", streams.stage) } else { String::new() };
    let mut notes = Vec::new();
    let sets = match (streams.first_set_s, streams.last_set_s) {
        (Some(first), Some(last)) => {
            format!("; the first took {}, the last {} (means of the streams)", duration(first), duration(last))
        }
        (Some(only), None) => format!(" in {}", duration(only)),
        (None, _) => String::new(),
    };
    notes.push(format!("{stage}{} of all queries ended{sets}", plural(streams.sets, "set")));
    if let Some([low, high]) = streams.queries_per_hour_interval {
        let (low, high) = (grouped(low), grouped(high));
        notes.push(format!("{stage}95 % interval of queries/h, by the times of whole sets: {low} to {high}"));
    }
    let conflicts: u64 = streams.queries.iter().map(|query| query.conflicts).sum();
    if conflicts > 0 {
        notes.push(format!(
            "{stage}the standby cancelled {} (40001), because {} in the way of replay",
            queries(conflicts),
            if conflicts == 1 { "it stood" } else { "they stood" }
        ));
    }
    let timed_out: u64 = streams.queries.iter().map(|query| query.timed_out).sum();
    if timed_out > 0 {
        notes.push(format!("{stage}{} took longer than allowed (57014)", queries(timed_out)));
    }
    if !streams.unfinished.is_empty() {
        let running = streams.unfinished.iter().map(|u| format!("{} for {}", u.name, duration(u.seconds)));
        notes.push(format!(
            "{stage}still running at the end and left out of the times above: {}",
            running.collect::<Vec<_>>().join(", ")
        ));
    }
    notes.extend(streams.freshness.as_ref().map(|fresh| format!("{stage}{}", freshness(fresh))));
    notes
}

/// Returns a number of queries: `1 query`, `22 queries`.
pub(crate) fn queries(n: u64) -> String {
    if n == 1 { "1 query".to_owned() } else { format!("{} queries", count(n)) }
}

/// Returns how old the data was that queries saw.
fn freshness(fresh: &FreshnessRecord) -> String {
    let all = [fresh.age_s_p50, fresh.age_s_p95, fresh.age_s_p99, fresh.age_s_max];
    let saw =
        format!("{} of {} saw every commit that was acknowledged before", count(fresh.fresh), queries(fresh.queries));
    if all[3] <= 0.0 {
        return format!("age of the answers: 0 s; {saw}");
    }
    let [p50, p95, p99, max] = all.map(age);
    format!("age of the answers: p50 {p50}, p95 {p95}, p99 {p99}, max {max}; {saw}")
}

/// Returns the age of an answer: 0 only if it misses no commit.
fn age(seconds: f64) -> String {
    match seconds {
        s if s <= 0.0 => "0 s".to_owned(),
        s if s < 0.1 => format!("{} ms", ms((s * 1e9).round() as u64)),
        s => duration(s),
    }
}

/// Returns each side's figure together and alone. There is no figure of both.
fn beside_alone(record: &RunRecord) -> Option<String> {
    let pair = |together: &str, alone: &str| {
        let metric = RecordMetric::named(together, std::iter::once(record))?;
        let [with, without] = [together, alone].map(|name| record.metrics.get(name).map(|metric| metric.value));
        let (with, without) = (with?, without.filter(|value| *value > 0.0)?);
        Some(format!(
            "{} {} of {} alone ({})",
            metric.title(),
            grouped(with),
            grouped(without),
            percent(with / without)
        ))
    };
    let both = [pair("nopm", "nopm-alone"), pair("analytics-per-hour", "analytics-per-hour-alone")];
    let both: Vec<_> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("together: {}", both.join("; ")))
}

/// Writes table and notes for a terminal.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let Some(analytics) = &record.analytics else { return Ok(()) };
    let (columns, rows) = table(analytics);
    aligned(FIRST, &columns, &rows, out)?;
    for note in notes(record, analytics) {
        hanging(out, "  - ", 4, &note)?;
    }
    writeln!(out)
}

/// Writes both as Markdown.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let Some(analytics) = &record.analytics else { return Ok(()) };
    let (columns, rows) = table(analytics);
    writeln!(out, "| {FIRST} | {} |", columns.join(" | "))?;
    writeln!(out, "| --- |{}", " ---: |".repeat(columns.len()))?;
    for (name, cells) in rows {
        writeln!(out, "| {} | {} |", MarkdownText(&name), cells.join(" | "))?;
    }
    writeln!(out)?;
    for note in notes(record, analytics) {
        writeln!(out, "- {}", MarkdownText(&note))?;
    }
    writeln!(out)
}
