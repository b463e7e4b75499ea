//! The columns, and their values in a record.

use std::collections::BTreeMap;

use pgdyno_plan::{Pace, Rate, RecipePlan, SuitePlan};
use serde_json::Value;

use super::{Cell, CellKind, Column};
use crate::record::{LatencyRecord, RunRecord, Summary};

/// The columns of `results.csv`. New ones are added at the end.
pub const RESULTS: &[Column] = EXPORT.split_at(49).0;

/// The columns of an export: those of `results.csv`, and objects.
pub const EXPORT: &[Column] = &[
    text("id", |r| r.id.as_str().into()),
    column("started_at", CellKind::Time, |r| r.started_at.parse().map_or(Cell::Missing, Cell::Time)),
    text("status", |r| r.status.name().into()),
    count("exit_code", |r| u64::from(r.exit_code).into()),
    text("pgdyno_version", |r| r.pgdyno_version.as_str().into()),
    text("workload", |r| r.plan.workload.as_str().into()),
    text("scale_name", |r| r.plan.scale_name.as_str().into()),
    // A fraction is among the parameters.
    count("scale", |r| r.plan.fraction().is_none().then_some(r.plan.scale).into()),
    text("target", |r| r.plan.target.as_str().into()),
    count("server_version", |r| r.server.as_ref().map(|server| u64::from(server.version_num)).into()),
    count("clients", |r| u64::from(r.plan.drive.clients).into()),
    count("threads", |r| (r.plan.drive.threads as u64).into()),
    text("mode", |r| r.plan.drive.mode.name().into()),
    number("rate_per_s", |r| match r.plan.drive.pace {
        Pace::ClosedLoop => Cell::Missing,
        Pace::Rate(Rate { per_s, .. }) => Cell::Number(per_s),
    }),
    number("duration_s", |r| figure(r, |s| Some(s.duration_s))),
    number("tps", |r| figure(r, |s| Some(s.tps))),
    number("nopm", |r| figure(r, |s| s.nopm)),
    number("tpm", |r| figure(r, |s| s.tpm)),
    number("tpm_client", |r| figure(r, |s| Some(s.tpm_client))),
    number("qps", |r| figure(r, |s| Some(s.qps))),
    count("committed", |r| counter(r, |s| s.committed)),
    count("rolled_back", |r| counter(r, |s| s.rolled_back)),
    count("failed", |r| counter(r, |s| s.failed)),
    count("retries", |r| counter(r, |s| s.retries)),
    count("skipped", |r| counter(r, |s| s.skipped)),
    count("response_latency_ns_p50", |r| latency(r, |l| l.p50)),
    count("response_latency_ns_p95", |r| latency(r, |l| l.p95)),
    count("response_latency_ns_p99", |r| latency(r, |l| l.p99)),
    count("response_latency_ns_max", |r| latency(r, |l| l.max)),
    number("client_cpu_us_per_tx", |r| figure(r, |s| s.client_cpu_us_per_tx)),
    count("warnings", |r| (r.warnings.len() as u64).into()),
    text("plan_hash", |r| r.plan_hash.as_str().into()),
    text("recipe", |r| recipe(r).map(|recipe| recipe.name.as_str()).into()),
    text("size", |r| recipe(r).map(|recipe| recipe.size.as_str()).into()),
    text("variant", |r| recipe(r).map(|recipe| recipe.variant.as_str()).into()),
    column("fitted", CellKind::Flag, |r| recipe(r).map_or(Cell::Missing, |recipe| Cell::Flag(recipe.fitted.is_some()))),
    number("short", |r| recipe(r).and_then(|recipe| recipe.shortened.as_ref()).map(|short| short.by).into()),
    text("suite", |r| suite(r).map(|suite| suite.suite.as_str()).into()),
    text("suite_id", |r| suite(r).map(|suite| suite.id.as_str()).into()),
    text("suite_run", |r| suite(r).map(|suite| suite.run.as_str()).into()),
    count("repetition", |r| suite(r).map(|suite| u64::from(suite.repetition)).into()),
    text("target_name", |r| r.target.as_ref().map(|target| target.name.as_str()).into()),
    text("labels", labels_of),
    column("cache_hit_ratio", CellKind::Number(6), |r| figure(r, |s| s.cache_hit_ratio)),
    column("os_cache_hit_ratio", CellKind::Number(6), |r| figure(r, |s| s.os_cache_hit_ratio)),
    number("price_per_hour", |r| r.target.as_ref().and_then(|target| target.price_per_hour).into()),
    text("currency", |r| {
        let priced = r.target.as_ref().filter(|target| target.price_per_hour.is_some());
        priced.map(|target| target.currency.as_str()).into()
    }),
    number("nopm_per_price", |r| r.cost.as_ref().and_then(|cost| cost.nopm_per_price).into()),
    text("reason", |r| r.reason.as_deref().into()),
    column("params", CellKind::Json, |r| object(&r.plan.params)),
    column("settings", CellKind::Json, |r| r.server.as_ref().map_or(Cell::Missing, |server| object(&server.settings))),
];

const fn column(name: &'static str, kind: CellKind, of: fn(&RunRecord) -> Cell) -> Column {
    Column { name, kind, of }
}

const fn text(name: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, CellKind::Text, of)
}

const fn count(name: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, CellKind::Count, of)
}

const fn number(name: &'static str, of: fn(&RunRecord) -> Cell) -> Column {
    column(name, CellKind::Number(3), of)
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
