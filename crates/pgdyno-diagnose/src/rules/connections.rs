//! Clients wait for one of the connections that they share.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::SHARE_MIN;
use crate::facts::Facts;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let connections = facts.record.plan.drive.connections?;
    let (response, lag) = (facts.summary.response_latency_ns.as_ref()?, facts.summary.schedule_lag_ns.as_ref()?);
    let share = facts.account.share(facts.account.connection);
    // That nothing was sampled may mean that a server has none to share.
    if share < SHARE_MIN || facts.waits.is_unknown() {
        return None;
    }
    let mut evidence = vec![format!(
        "{} ms of {} ms of the mean response time, for {} clients",
        number(lag.mean / 1e6),
        number(response.mean / 1e6),
        facts.record.plan.drive.clients
    )];
    evidence.push(format!("{} of {connections} connections were active on average", number(facts.waits.total())));
    evidence.extend(facts.setting_is("max_connections"));
    Some(FindingRecord {
        rule: "connections".to_owned(),
        text: format!(
            "{} {} was the wait for one of {connections} shared connections",
            percent(share),
            facts.of_what()
        ),
        weight: share,
        evidence,
        advice: Some(format!("use more --connections (it is {connections})")),
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;
    use pgdyno_results::LatencyRecord;

    fn run(lag_ms: f64) -> Run {
        let mut run = Run::new().waits(&[("CPU", "CPU", 2.0)]);
        run.record.plan.drive.connections = Some(2);
        let mean = |ms: f64| Some(LatencyRecord { mean: ms * 1e6, ..LatencyRecord::default() });
        run.summary().response_latency_ns = mean(10.0);
        run.summary().schedule_lag_ns = mean(lag_ms);
        // 800 transactions a second of 10 ms are all of the time of eight clients.
        run.summary().committed = 8000;
        run
    }

    #[test]
    fn the_wait_for_a_connection_is_reported() {
        let found = run(6.0).finds(look);
        assert!((found.weight - 0.6).abs() < 1e-9);
        assert_eq!(found.evidence[0], "6.0 ms of 10 ms of the mean response time, for 8 clients");
    }

    #[test]
    fn short_waits_and_connections_of_one_s_own_are_nothing() {
        run(0.1).finds_nothing(look);
        let mut own = run(6.0);
        own.record.plan.drive.connections = None;
        own.finds_nothing(look);
    }
}
