//! The engine's specification of a plan.

use pgdyno_engine::{Rules, RunSpec};
use pgdyno_plan::Plan;

/// Returns the engine's specification of the plan.
pub(crate) fn spec(plan: &Plan, pin: Vec<usize>) -> RunSpec {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    RunSpec {
        clients: plan.clients,
        connections: plan.connections,
        threads: plan.threads,
        share: None,
        stage: None,
        mode: plan.mode,
        wire: plan.wire,
        pin,
        rate: plan.pace.rate(),
        rules: Rules {
            max_tries: plan.max_tries,
            latency_limit_ns: plan.latency_limit_ms.map(|ms| (ms * 1e6) as u64),
            transactions: plan.transactions,
            ..Rules::default()
        },
        ramp_ns: ns(plan.ramp_s),
        measure_ns: plan.time_s.map(ns),
        interval_ns: 1_000_000_000,
        grace_ns: ns(plan.grace_s),
        reconnect_ns: ns(plan.reconnect_s),
        probe: None,
        coalesce_ns: plan.coalesce_us.map_or(0, |us| (us * 1e3) as u64),
        seed: plan.seed,
    }
}
