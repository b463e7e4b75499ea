//! The environment of a run, and how to run it again: server, driver, settings, plan, files.

use pgdyno_results::{GrowthRecord, RunRecord, ServerRecord};
use pgdyno_text::units::{bytes, duration, percent};

use super::ReportRun;
use super::again::{command_line, shell};
use super::markup::Html;
use crate::describe::{line_of_drive, line_of_place, line_of_server};

/// Settings that affect durability.
const DURABILITY: [&str; 7] = [
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_level",
    "wal_sync_method",
    "data_checksums",
];

/// Number of settings that are shown before the others are folded.
const SETTINGS_SHOWN: usize = 12;

/// Writes a description of the run, in sentences.
pub(super) fn what_ran(record: &RunRecord, html: &mut Html) {
    html.raw("<dl class=\"facts\">\n");
    let mut fact = |name: &str, text: &str| {
        html.raw("<div><dt>").text(name).raw("</dt><dd>").text(text).raw("</dd></div>\n");
    };
    if let Some(recipe) = &record.plan.recipe {
        let variant = if recipe.variant.is_empty() { String::new() } else { format!(", {}", recipe.variant) };
        fact("recipe", &format!("{}, size {}{variant}; {}", recipe.name, recipe.size, recipe.source));
        if let Some(fitted) = &recipe.fitted {
            fact("fitted", &fitted.rule);
        }
        if let Some(cut) = &recipe.shortened {
            let text = format!("times divided by {}: the document measures for {}", cut.by, duration(cut.time_s));
            fact("shortened", &text);
        }
        for departure in &recipe.departures {
            fact("departs from it", departure);
        }
    }
    fact("driven by", &line_of_drive(record));
    fact("server", &line_of_server(record));
    if let Some(line) = line_of_place(record) {
        fact("connected to", &line);
    }
    target(record, &mut fact);
    let client = &record.client;
    let busiest = client.thread_busy.iter().copied().reduce(f64::max);
    let busy = busiest.map_or_else(String::new, |busy| format!("; busiest engine thread {} on CPU", percent(busy)));
    let waiting = match client.run_delay {
        delay if delay > 0.0005 => format!(", {} waiting for one", percent(delay)),
        _ => String::new(),
    };
    let machine = format!("{}, {} CPUs, {}, {}", client.cpu, client.cpus, bytes(client.memory_bytes), client.os);
    fact("driver", &format!("{machine}{busy}{waiting}"));
    if let Some(server) = &record.server {
        fact("durability", &durability(server));
        fact("encryption", server.tls.as_deref().unwrap_or("none: the clients' connections are not encrypted"));
    }
    if let Some(copy) = &record.copy {
        fact("data", &format!("a fresh copy of database {}, made in {}", copy.template, duration(copy.seconds)));
    }
    if let Some(cost) = &record.cost {
        let nopm = cost
            .nopm_per_price
            .map_or_else(String::new, |n| format!(", {n:.0} NOPM for each {} an hour", cost.currency));
        let text = format!("{:.4} {} for a million transactions{nopm}", cost.per_million_transactions, cost.currency);
        fact("cost", &text);
    }
    html.raw("</dl>\n");
    if let Some(build) = record.server.as_ref().and_then(|server| server.build.as_ref()) {
        html.raw("<details><summary>How the server was built</summary>\n<p><code>").text(&build.bindir);
        html.raw("</code>, configured with</p>\n<pre class=\"again\">")
            .text(&build.configure)
            .raw("</pre></details>\n");
    }
}

fn target(record: &RunRecord, fact: &mut impl FnMut(&str, &str)) {
    let Some(target) = &record.target else { return fact("target", record.plan.target.as_str()) };
    let kind = if target.kind.is_empty() { String::new() } else { format!(", {}", target.kind) };
    let labels: String = target.labels.iter().map(|(name, value)| format!(", {name} {value}")).collect();
    let vcpus = target.vcpus.map_or_else(String::new, |n| format!(", {n} vCPUs"));
    let memory = target.memory_bytes.map_or_else(String::new, |n| format!(", {}", bytes(n)));
    fact("target", &format!("{}{kind}{vcpus}{memory}{labels}", target.name));
}

fn durability(server: &ServerRecord) -> String {
    let setting = |name: &&str| {
        let value = server.settings.get(*name).filter(|value| !value.is_empty())?;
        Some(format!("{name} {value}"))
    };
    let mut settings: Vec<_> = DURABILITY.iter().filter_map(setting).collect();
    settings.extend(server.synchronous_standbys.map(|n| format!("synchronous standbys {n}")));
    settings.join(", ")
}

/// Writes the server's settings and the sizes of its tables; then how to run it again, and where the files are.
pub(super) fn appendix(run: &ReportRun, html: &mut Html) {
    let record = &run.record;
    if let Some(server) = &record.server {
        let rows: Vec<_> =
            server.settings_changed.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
        if !rows.is_empty() {
            html.heading("Settings that differ from their default");
            html.long_table(&[("setting", false), ("value", false)], &rows, SETTINGS_SHOWN);
        }
        tables(&server.tables, html);
    }
    steps(record, html);
    html.raw("<h2 id=\"again\">Run it again</h2>\n<p>The same plan, with the same random choices:</p>\n<pre class=\"again\">");
    html.text(&shell(&command_line(record))).raw("</pre>\n");
    // A workload of scripts can run again without its files if the record contains them.
    if record.plan.scripts.is_empty() || !record.plan.inputs.is_empty() {
        html.raw("<p>Or from its record, which has the texts of scripts, too: <code>pgdyno run --again ");
        html.text(&record.id).raw("</code></p>\n");
    }
    html.raw("<p>A password is not in it: it comes from where the run had it, such as <code>~/.pgpass</code>.</p>\n");
    files(run, html);
}

fn tables(tables: &[GrowthRecord], html: &mut Html) {
    if tables.is_empty() {
        return;
    }
    let row =
        |t: &GrowthRecord| vec![t.name.clone(), bytes(t.bytes_before), t.bytes_after.map_or("–".to_owned(), bytes)];
    let columns = [("table, with its indexes", false), ("before", true), ("after", true)];
    html.heading("Tables").table(&columns, &tables.iter().map(row).collect::<Vec<_>>());
}

fn steps(record: &RunRecord, html: &mut Html) {
    html.heading("Steps").raw("<details><summary>What was planned, and what was done around the run</summary>\n");
    let planned = pgdyno_plan::steps(&record.plan).into_iter();
    let planned = planned.map(|step| vec![step.name.to_owned(), step.what.replace('\n', "; ")]);
    html.table(&[("planned", false), ("", false)], &planned.collect::<Vec<_>>());
    let done = record.cycle.iter().map(|c| {
        let done = if c.done { "done" } else { "NOT done" };
        vec![c.step.clone(), c.what.clone(), done.to_owned(), duration(c.seconds)]
    });
    let columns = [("around the run", false), ("", false), ("", false), ("time", true)];
    html.table(&columns, &done.collect::<Vec<_>>());
    let set = record.settings_set.iter().map(|s| {
        let restored = match s.restored {
            Some(true) => "put back",
            Some(false) => "NOT put back",
            None => "",
        };
        vec![s.name.clone(), s.asked.clone(), s.shown.clone(), s.by.clone(), restored.to_owned()]
    });
    let columns = [("setting of the run", false), ("asked", false), ("shown", false), ("by", false), ("after", false)];
    html.table(&columns, &set.collect::<Vec<_>>()).raw("</details>\n");
}

fn files(run: &ReportRun, html: &mut Html) {
    let record = &run.record;
    html.heading("Files");
    let place = run.timeline.directory.as_ref().map_or_else(|| record.id.clone(), |path| path.display().to_string());
    html.raw("<p>In <code>").text(&place).raw("</code>: <code>run.json</code> has everything that is on this page; ");
    html.raw(
        "<code>intervals.csv</code> has a line for each interval, <code>latency.hlog</code> the latencies of each, ",
    );
    if !record.stages.is_empty() {
        html.raw("<code>intervals-by-group.csv</code> those of each stage and group of clients, ");
    }
    html.raw("<code>samples/</code> the samples of server and machines.</p>\n");
    let ended = record.ended_at.as_deref().map_or_else(|| "not recorded".to_owned(), to_second);
    let text = format!(
        "Began {}, ended {ended}. Plan {}; pgdyno {}; record {}.",
        to_second(&record.started_at),
        record.plan_hash,
        record.pgdyno_version,
        record.id
    );
    html.raw("<p>").text(&text).raw("</p>\n");
}

/// Returns a time of a record to the second: `2026-11-27T23:34:50Z`.
fn to_second(at: &str) -> String {
    at.split_once('.').map_or_else(|| at.to_owned(), |(second, _)| format!("{second}Z"))
}
