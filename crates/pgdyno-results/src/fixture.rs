//! Records for tests.

use jiff::Timestamp;
use pgdyno_plan::{Fitted, Pace, Plan, Rate, RecipePlan, Shortened, SuitePlan};

use crate::record::{ClientRecord, CostRecord, LatencyRecord, RunRecord, ServerRecord, Status, Summary, TargetRecord};

/// Returns a plan with as few options as possible.
fn plan() -> Plan {
    let text = include_str!("../../../fixtures/runs/v1/run.json");
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(value["plan"].take()).unwrap()
}

fn begun(started: &str) -> RunRecord {
    let started: Timestamp = started.parse().unwrap();
    RunRecord::begin(format!("run-{started}"), started, plan(), "hash".to_owned(), ClientRecord::default())
}

/// Returns a record with everything, and one without optional parts.
pub(crate) fn all() -> [RunRecord; 2] {
    let mut full = begun("2026-01-02T03:04:05Z");
    full.status = Status::Complete;
    full.reason = Some("a reason".to_owned());
    full.plan.workload = "tproc-c".to_owned();
    full.plan.scale_name = "warehouses".to_owned();
    full.plan.target = "host=db1".into();
    full.plan.drive.pace = Pace::Rate(Rate { per_s: 1234.5, arrivals: pgdyno_plan::Arrivals::Poisson });
    full.plan.recipe = Some(RecipePlan {
        name: "alloydb/tpcc-full".to_owned(),
        size: "16vcpu".to_owned(),
        variant: "100M".to_owned(),
        fitted: Some(Fitted::default()),
        shortened: Some(Shortened { by: 20.0, time_s: 3900.0, ramp_s: 600.0 }),
        ..RecipePlan::default()
    });
    full.plan.suite = Some(SuitePlan {
        suite: "nightly".to_owned(),
        id: "a1".to_owned(),
        run: "clients=8".to_owned(),
        repetition: 2,
    });
    full.target = Some(TargetRecord {
        name: "big".to_owned(),
        labels: [("cluster".to_owned(), "c4+2w8".to_owned())].into(),
        price_per_hour: Some(2.5),
        currency: "EUR".to_owned(),
        ..TargetRecord::default()
    });
    full.cost = Some(CostRecord { nopm_per_price: Some(400.0), ..CostRecord::default() });
    full.server = Some(ServerRecord {
        version_num: 180_001,
        settings: [("fsync".to_owned(), "on".to_owned())].into(),
        ..ServerRecord::default()
    });
    full.summary = Some(Summary {
        tps: 1000.25,
        nopm: Some(1000.0),
        tpm: Some(2300.0),
        committed: 10_000,
        response_latency_ns: Some(LatencyRecord { p50: 1_000_000, p99: 9_000_000, ..LatencyRecord::default() }),
        client_cpu_us_per_tx: Some(12.5),
        cache_hit_ratio: Some(0.998_877),
        os_cache_hit_ratio: Some(0.25),
        ..Summary::default()
    });
    let mut empty = begun("2026-01-01T00:00:00Z");
    empty.status = Status::Failed;
    empty.plan.workload = "noop".to_owned();
    empty.plan.target = "none".into();
    empty.plan.scale_name.clear();
    [full, empty]
}
