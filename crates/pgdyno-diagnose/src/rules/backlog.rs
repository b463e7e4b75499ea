//! Transactions of a schedule wait for a free client.

use pgdyno_plan::Pace;
use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::SHARE_MIN;
use crate::facts::Facts;

/// A target of which this share is committed is met: arrivals are random.
const MET: f64 = 0.97;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let Pace::Rate(rate) = facts.record.plan.drive.pace else { return None };
    let share = facts.account.share(facts.account.connection);
    if share < SHARE_MIN || facts.waits.is_unknown() || facts.record.plan.drive.connections.is_some() {
        return None;
    }
    let is_met = facts.summary.tps >= MET * rate.per_s;
    let mut evidence = vec![format!(
        "the target of {} transactions a second was {}",
        number(rate.per_s),
        if is_met { "met".to_owned() } else { format!("missed: {} were committed", number(facts.summary.tps)) }
    )];
    if facts.summary.still_waiting > 0 {
        evidence.push(format!("{} were due and had not begun at the end", number(facts.summary.still_waiting as f64)));
    }
    Some(FindingRecord {
        rule: "backlog".to_owned(),
        text: format!(
            "{} {} was the wait for a free client: at times {} busy",
            percent(share),
            facts.of_what(),
            match facts.record.plan.drive.clients {
                1 => "the client was".to_owned(),
                clients => format!("all {clients} clients were"),
            }
        ),
        weight: share,
        evidence,
        advice: Some(format!(
            "{}add clients where the server has room (-c is {})",
            if is_met { "" } else { "lower --rate, or " },
            facts.record.plan.drive.clients
        )),
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;
    use pgdyno_plan::{Arrivals, Rate};
    use pgdyno_results::LatencyRecord;

    #[test]
    fn a_rate_that_is_too_high_is_reported() {
        let mut run = Run::new().waits(&[("CPU", "CPU", 2.0)]);
        run.record.plan.drive.pace = Pace::Rate(Rate { per_s: 200.0, arrivals: Arrivals::Poisson });
        let mean = |ms: f64| Some(LatencyRecord { mean: ms * 1e6, ..LatencyRecord::default() });
        run.summary().service_latency_ns = mean(25.0);
        run.summary().schedule_lag_ns = mean(75.0);
        run.summary().response_latency_ns = mean(100.0);
        let found = run.finds(look);
        assert!((found.weight - 0.75).abs() < 1e-9, "{found:?}");
        assert_eq!(
            found.text,
            "75 % of the response time was the wait for a free client: at times all 8 clients were busy"
        );
        run.record.plan.drive.pace = Pace::ClosedLoop;
        run.finds_nothing(look);
    }
}
