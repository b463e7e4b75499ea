//! The measurement itself: the driver's own time, and what could not be sampled.

use pgdyno_results::{ClientRecord, LatencyRecord, RunRecord, SamplesRecord};
use pgdyno_text::units::{bytes, count, duration, percent, plural};

use super::markup::Html;

pub(super) fn watched(record: &RunRecord, html: &mut Html) {
    if record.summary.is_some() {
        driver(record, html);
    }
    if let Some(samples) = &record.samples {
        sampling(samples, html);
    }
}

/// Returns a short time, such as those of clocks and timers.
fn short(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}

fn driver(record: &RunRecord, html: &mut Html) {
    let client = &record.client;
    let mut rows = vec![];
    let mut row = |what: &str, figure: String, meaning: &str| {
        rows.push(vec![what.to_owned(), figure, meaning.to_owned()]);
    };
    let busy: Vec<String> = client.thread_busy.iter().map(|busy| percent(*busy)).collect();
    if !busy.is_empty() {
        row("engine threads on a CPU", busy.join(", "), "share of the window; above 90 % the driver is the bottleneck");
    }
    if let Some(busy) = client.beside_busy {
        row("for queries beside transactions", percent(busy), "CPUs of these; no part of the clients' time");
    }
    row("waiting for a CPU", percent(client.run_delay), "share of the window, mean of the threads");
    for (what, latency, meaning) in delays(client) {
        let figure = format!(
            "{} median, {} p99, {} max",
            short(latency.p50 as f64),
            short(latency.p99 as f64),
            short(latency.max as f64)
        );
        row(what, figure, meaning);
    }
    if let Some(share) = client.unread_share {
        row("replies unread", percent(share), "share of the service time in which they lay there");
    }
    if let Some(source) = &client.clock_source {
        row("the clock", source.clone(), "what the kernel reads");
    }
    let clocks = [
        ("one reading of the clock", client.clock_read_ns, "measured before the run"),
        ("smallest step of the clock", client.clock_step_ns, "measured before the run"),
        ("a timer wakes late by", client.timer_ns, "median, measured before the run"),
    ];
    for (what, ns, meaning) in clocks {
        if let Some(ns) = ns {
            row(what, short(ns), meaning);
        }
    }
    if let Some(us) = record.summary.as_ref().and_then(|summary| summary.client_cpu_us_per_tx) {
        row("CPU a transaction", format!("{us:.1} µs"), "user and kernel, the whole program");
    }
    row("peak memory", bytes(client.rss_bytes_max), "");
    for (nth, driver) in record.drivers.iter().enumerate() {
        let busiest = driver.client.thread_busy.iter().copied().fold(0.0, f64::max);
        let figure = format!("{}, busiest thread {}", plural(u64::from(driver.clients), "client"), percent(busiest));
        let name = format!("driver {} on {}", nth + 1, driver.host);
        row(&name, figure, driver.lost.as_deref().unwrap_or("one of the machines that were one driver"));
    }
    html.heading("The driver").table(&[("", false), ("", true), ("", false)], &rows);
}

/// Returns the delays that the driver measured of itself.
fn delays(client: &ClientRecord) -> impl Iterator<Item = (&'static str, &LatencyRecord, &'static str)> {
    let known = [
        ("from readable to read", &client.read_delay_ns, "a part of every latency that is not the server's"),
        ("lateness of timers", &client.timer_lateness_ns, "from the moment that one was set for to its being served"),
    ];
    known.into_iter().filter_map(|(what, latency, meaning)| Some((what, latency.as_ref()?, meaning)))
}

fn sampling(samples: &SamplesRecord, html: &mut Html) {
    html.heading("How the server was sampled");
    if samples.queries > 0 {
        let cpu = samples.server_cpu_s.map_or_else(String::new, |s| {
            let share = if samples.watched_s > 0.0 { s / samples.watched_s } else { 0.0 };
            format!("; they took {s:.2} s of the server's CPU, {:.2} % of one CPU", share * 100.0)
        });
        let text = format!(
            "{} queries in {}, answered in {} in total{cpu}.",
            count(samples.queries),
            duration(samples.watched_s),
            duration(samples.query_s)
        );
        html.raw("<p>").text(&text).raw("</p>\n");
    }
    if !samples.sources.is_empty() {
        html.raw("<p>Sampled: ").text(&samples.sources.join(", ")).raw(".</p>\n");
    }
    if let Some(plans) = &samples.plans {
        html.raw("<p>Plans of the weightiest statements: <code>").text(plans).raw("</code>.</p>\n");
    }
    html.list(samples.notes.iter().map(String::as_str));
    let rows: Vec<_> = samples.left_out.iter().map(|left| vec![left.source.clone(), left.why.clone()]).collect();
    html.table(&[("left out", false), ("why, and what would help", false)], &rows);
}
