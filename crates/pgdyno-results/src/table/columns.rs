//! The columns, and their values in a record.

use std::collections::BTreeMap;

use pgdyno_plan::{RecipePlan, SuitePlan};
use serde_json::Value;

use super::{Cell, CellKind, Column};
use crate::record::{LatencyRecord, RunRecord, Summary};

/// The columns of `results.csv`. New ones are added at the end.
pub const RESULTS: &[Column] = EXPORT.split_at(49).0;

/// The columns of an export: those of `results.csv`, and objects.
pub const EXPORT: &[Column] = &[
    text("id", "name of the run and of its directory", |r| r.id.as_str().into()),
    column("started_at", "begin of the run, UTC", CellKind::Time, |r| {
        r.started_at.parse().map_or(Cell::Missing, Cell::Time)
    }),
    text("status", "`complete`, `interrupted`, `invalid` or `failed`", |r| r.status.name().into()),
    count("exit_code", "of the program ([exit-codes.md](exit-codes.md))", |r| u64::from(r.exit_code).into()),
    text("pgdyno_version", "that made the run", |r| r.pgdyno_version.as_str().into()),
    text("workload", "its name, or the script's or directory's", |r| r.plan.workload.as_str().into()),
    text("scale_name", "what the scale counts: `warehouses`, `scale`", |r| r.plan.scale_name.as_str().into()),
    // A fraction is among the parameters.
    count("scale", "how many of them", |r| r.plan.fraction().is_none().then_some(r.plan.scale).into()),
    text("target", "where it ran, without passwords", |r| r.plan.target.as_str().into()),
    count("server_version", "`server_version_num`: 180001 is 18.1", |r| {
        r.server.as_ref().map(|server| u64::from(server.version_num)).into()
    }),
    count("clients", "clients", |r| u64::from(r.plan.drive.clients).into()),
    count("threads", "engine threads", |r| (r.plan.drive.threads as u64).into()),
    text("mode", "`simple`, `extended` or `prepared`", |r| r.plan.drive.mode.name().into()),
    number("rate_per_s", "the offered rate, over all groups of clients that have one; none in a closed loop", |r| {
        r.plan.offered().map_or(Cell::Missing, |offered| Cell::Number(offered.per_s))
    }),
    number("duration_s", "length of the measured window", |r| figure(r, |s| Some(s.duration_s))),
    number(
        "tps",
        "committed transactions a second ([measurement.md](measurement.md) has this formula and those below)",
        |r| figure(r, |s| Some(s.tps)),
    ),
    number("nopm", "committed New-Orders a minute", |r| figure(r, |s| s.nopm)),
    number("tpm", "transactions a minute as the server counts them", |r| figure(r, |s| s.tpm)),
    number("tpm_client", "the same as the client counts them", |r| figure(r, |s| Some(s.tpm_client))),
    number("qps", "SELECT, INSERT, UPDATE and DELETE statements a second", |r| figure(r, |s| Some(s.qps))),
    count("committed", "transactions", |r| counter(r, |s| s.committed)),
    count("rolled_back", "transactions that the workload rolled back", |r| counter(r, |s| s.rolled_back)),
    count("failed", "transactions that failed for good", |r| counter(r, |s| s.failed)),
    count("retries", "tries after the first", |r| counter(r, |s| s.retries)),
    count("skipped", "arrivals that were given up for being too late", |r| counter(r, |s| s.skipped)),
    count("response_latency_ns_p50", "median response time, intended start to end", |r| latency(r, |l| l.p50)),
    count("response_latency_ns_p95", "95th percentile", |r| latency(r, |l| l.p95)),
    count("response_latency_ns_p99", "99th percentile", |r| latency(r, |l| l.p99)),
    count("response_latency_ns_max", "the greatest", |r| latency(r, |l| l.max)),
    number("client_cpu_us_per_tx", "CPU time of pgdyno for each transaction", |r| {
        figure(r, |s| s.client_cpu_us_per_tx)
    }),
    count("warnings", "how many warnings the record has", |r| (r.warnings.len() as u64).into()),
    text("plan_hash", "the same for runs of the same plan", |r| r.plan_hash.as_str().into()),
    text("recipe", "the recipe that it follows", |r| recipe(r).map(|recipe| recipe.name.as_str()).into()),
    text("size", "the recipe's size whose numbers were taken", |r| recipe(r).map(|recipe| recipe.size.as_str()).into()),
    text("variant", "the variant of that size", |r| recipe(r).map(|recipe| recipe.variant.as_str()).into()),
    column(
        "fitted",
        "whether the recipe's numbers were scaled to the server (`--fit`); none without a recipe",
        CellKind::Flag,
        |r| recipe(r).map_or(Cell::Missing, |recipe| Cell::Flag(recipe.fitted.is_some())),
    ),
    number("short", "what the recipe's times were divided by (`--short`); none where they were not", |r| {
        recipe(r).and_then(|recipe| recipe.shortened.as_ref()).map(|short| short.by).into()
    }),
    text("suite", "the suite that it is a part of", |r| suite(r).map(|suite| suite.suite.as_str()).into()),
    text("suite_id", "the execution of the suite", |r| suite(r).map(|suite| suite.id.as_str()).into()),
    text("suite_run", "the cell of the suite's matrix; of a search the load, as in `rate=5000`", |r| {
        suite(r).map(|suite| suite.run.as_str()).into()
    }),
    count("repetition", "which repetition of it, from 1", |r| suite(r).map(|suite| u64::from(suite.repetition)).into()),
    text("target_name", "the target's name in `pgdyno.toml`", |r| {
        r.target.as_ref().map(|target| target.name.as_str()).into()
    }),
    text(
        "labels",
        "labels of the target and of the run, `name=value;name=value`, by name; `;`, `=` and `\\` within them have a `\\` before them",
        labels_of,
    ),
    column("cache_hit_ratio", "share of block reads that shared buffers answered, 0 to 1", CellKind::Number(6), |r| {
        figure(r, |s| s.cache_hit_ratio)
    }),
    column(
        "os_cache_hit_ratio",
        "share of the other reads that the system's cache answered, 0 to 1",
        CellKind::Number(6),
        |r| figure(r, |s| s.os_cache_hit_ratio),
    ),
    number("price_per_hour", "of the target, in `currency`", |r| {
        r.target.as_ref().and_then(|target| target.price_per_hour).into()
    }),
    text("currency", "of the price", |r| {
        let priced = r.target.as_ref().filter(|target| target.price_per_hour.is_some());
        priced.map(|target| target.currency.as_str()).into()
    }),
    number("nopm_per_price", "NOPM for each unit of currency an hour", |r| {
        r.cost.as_ref().and_then(|cost| cost.nopm_per_price).into()
    }),
    text("reason", "why it did not end as planned", |r| r.reason.as_deref().into()),
    column("params", "exports only: the workload's parameters, as a JSON object", CellKind::Json, |r| {
        object(&r.plan.params)
    }),
    column(
        "settings",
        "exports only: the server's settings that bear on the figures, as a JSON object",
        CellKind::Json,
        |r| r.server.as_ref().map_or(Cell::Missing, |server| object(&server.settings)),
    ),
];

const fn column(name: &'static str, meaning: &'static str, kind: CellKind, of: fn(&RunRecord) -> Cell) -> Column {
    Column { name, meaning, kind, of }
}

const fn text(name: &'static str, meaning: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, meaning, CellKind::Text, of)
}

const fn count(name: &'static str, meaning: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, meaning, CellKind::Count, of)
}

const fn number(name: &'static str, meaning: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, meaning, CellKind::Number(3), of)
}

fn figure(record: &RunRecord, of: fn(&Summary) -> Option<f64>) -> Cell {
    record.summary.as_ref().and_then(of).into()
}

fn counter(record: &RunRecord, of: fn(&Summary) -> u64) -> Cell {
    record.summary.as_ref().map(of).into()
}

fn latency(record: &RunRecord, of: fn(&LatencyRecord) -> u64) -> Cell {
    record.summary.as_ref().and_then(|summary| summary.response_latency_ns.as_ref()).map(of).into()
}

fn recipe(record: &RunRecord) -> Option<&RecipePlan> {
    record.plan.recipe.as_ref()
}

fn suite(record: &RunRecord) -> Option<&SuitePlan> {
    record.plan.suite.as_ref()
}

/// Returns the labels of the target and of the run, whose own count where both have one.
fn labels_of(record: &RunRecord) -> Cell {
    let of_target = record.target.iter().flat_map(|target| &target.labels);
    labels(&of_target.chain(&record.labels).map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Formats `k=v;k=v`; characters that would end a name or value are escaped by a backslash.
fn labels(labels: &BTreeMap<String, String>) -> Cell {
    let escape = |text: &str| text.replace('\\', "\\\\").replace(';', "\\;").replace('=', "\\=");
    let pairs: Vec<_> = labels.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    pairs.join(";").as_str().into()
}

fn object(map: &BTreeMap<String, String>) -> Cell {
    let members = map.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    Cell::Json(Value::Object(members.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_all_but_objects() {
        assert!(RESULTS.iter().all(|column| column.kind != CellKind::Json));
        assert_eq!(RESULTS.last().map(|column| column.name), Some("reason"));
        assert!(EXPORT[RESULTS.len()..].iter().all(|column| column.kind == CellKind::Json));
    }

    #[test]
    fn labels_can_be_distinguished_again() {
        let given = [("cluster", "c4+2w8"), ("note", "a;b=c\\")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(labels(&given.into()), Cell::Text(r"cluster=c4+2w8;note=a\;b\=c\\".to_owned()));
        assert_eq!(labels(&BTreeMap::new()), Cell::Missing);
        let [mut record, _] = crate::fixture::all();
        record.labels = [("cluster", "c8"), ("commit", "abc")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        assert_eq!(labels_of(&record), Cell::Text("cluster=c8;commit=abc".to_owned()));
    }
}
