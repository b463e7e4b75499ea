//! The engine's specification of a plan.

use pgdyno_engine::{ClientRules, RunSpec};
use pgdyno_plan::Plan;

/// Returns the engine's specification of the plan.
pub(crate) fn spec(plan: &Plan, pin: Vec<usize>) -> RunSpec {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    RunSpec {
        clients: plan.drive.clients,
        connections: plan.drive.connections,
        threads: plan.drive.threads,
        share: None,
        stage: None,
        mode: plan.drive.mode,
        wire: plan.drive.wire,
        pin,
        rate: plan.drive.pace.rate(),
        rate_steps: plan.drive.rate_steps.clone(),
        rules: ClientRules {
            max_tries: plan.drive.max_tries,
            latency_limit_ns: plan.drive.latency_limit_ms.map(|ms| (ms * 1e6) as u64),
            transactions: plan.drive.transactions,
            lasts_while_replaced: plan.drive.ledger.is_some(),
            commit_timeout_ns: plan.drive.ledger.map(|ledger| ns(ledger.commit_timeout_s)),
            ..ClientRules::default()
        },
        ramp_ns: ns(plan.drive.ramp_s),
        measure_ns: plan.drive.time_s.map(ns),
        interval_ns: 1_000_000_000,
        grace_ns: ns(plan.drive.grace_s),
        reconnect_ns: ns(plan.drive.reconnect_s),
        probe: None,
        coalesce_ns: plan.drive.coalesce_us.map_or(0, |us| (us * 1e3) as u64),
        seed: plan.seed,
    }
}
