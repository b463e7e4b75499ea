//! Clients sleep in their scripts.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, SHARE_MIN};
use crate::facts::Facts;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let sessions = facts.account.script;
    let share = facts.account.share(sessions);
    if facts.waits.looks < SAMPLES_MIN || share < SHARE_MIN {
        return None;
    }
    let mut evidence = vec![format!(
        "{} of {} clients were between two statements of a script that has \\sleep or \\shell",
        number(sessions),
        number(facts.account.whole)
    )];
    if facts.waits.in_transaction > 0.0 {
        evidence.push(format!("{} sessions were idle in a transaction", number(facts.waits.in_transaction)));
    }
    Some(FindingRecord {
        rule: "script".to_owned(),
        text: format!("{} {} went into \\sleep and other commands of the scripts", percent(share), facts.of_what()),
        weight: share,
        evidence,
        advice: Some(format!(
            "if the server is to be loaded more, add clients (-c is {}) or shorten the pauses",
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
    use pgdyno_results::{LatencyRecord, StatementRecord};

    #[test]
    fn pauses_of_a_script_are_its_own() {
        let mean = |ms: f64| Some(LatencyRecord { mean: ms * 1e6, ..LatencyRecord::default() });
        let mut run = Run::new().waits(&[("CPU", "CPU", 0.1)]);
        run.summary().service_latency_ns = mean(80.0);
        run.record.client.run_delay = 0.5;
        let statement = |sql: &str, latency_ns| StatementRecord {
            sql: sql.to_owned(),
            executed: 1000,
            latency_ns,
            ..StatementRecord::default()
        };
        run.record.statements = vec![statement("SELECT 1;", mean(1.0)), statement("\\sleep 79 ms", mean(79.0))];
        let found = run.finds(look);
        assert!((found.weight - 0.9875).abs() < 1e-9, "{found:?}");
        let all = run.ask(super::super::findings);
        assert!(all[0].rule == "script" && all.len() == 1, "a thread that is late has no part in it: {all:?}");
        run.record.statements[1].sql = "SELECT 2".to_owned();
        run.finds_nothing(look);
    }
}
