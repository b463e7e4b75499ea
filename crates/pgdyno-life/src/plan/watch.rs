//! What is sampled while clients run.

use pgdyno_plan::{TargetFacts, WatchOrder, WatchPlan};
use pgdyno_server::os::OsMetrics;

/// Returns the plan of what is sampled.
pub(crate) fn planned(order: &WatchOrder, target: &TargetFacts) -> WatchPlan {
    let asked = order.os_metrics.as_ref().map(|how| OsMetrics::parse(how, None).name());
    let os = asked.or_else(|| target.os.clone()).filter(|_| !order.no_samples);
    WatchPlan {
        off: order.no_samples,
        os,
        statement_plans: order.statement_plans.unwrap_or_default(),
        plans: order.plans,
        perf: order.perf,
    }
}
