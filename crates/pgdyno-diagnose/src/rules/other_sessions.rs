//! Sessions of other programs are active on the server.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::number;

use super::{SAMPLES_MIN, UNKNOWN};
use crate::facts::Facts;

/// Fewer active sessions than this, on average, are a look now and then.
const LEAST_SESSIONS: f64 = 0.2;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let others = facts.waits.others();
    if facts.waits.looks < SAMPLES_MIN || others < LEAST_SESSIONS {
        return None;
    }
    Some(FindingRecord {
        rule: "other-sessions".to_owned(),
        text: format!("{} sessions of other programs were active on the server", number(others)),
        weight: UNKNOWN,
        evidence: vec![format!("beside {} of the run's own, on average", number(facts.waits.total()))],
        advice: Some("see in pg_stat_activity who they are, and measure while they are away".to_owned()),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn sessions_of_others_are_reported_beside_the_clients() {
        let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["client backend", "CPU", "CPU", "20", "10"]),
            row(["other session", "Timeout", "PgSleep", "10", "10"]),
        ];
        let run = Run::new().table("waits", &columns, &rows);
        let found = run.finds(look);
        assert_eq!(found.text, "1.0 sessions of other programs were active on the server");
        let all = run.ask(super::super::findings);
        assert!(all.iter().all(|finding| !finding.text.contains("PgSleep")), "{all:?}");
        Run::new().waits(&[("CPU", "CPU", 2.0)]).finds_nothing(look);
    }

    #[test]
    fn clients_that_were_never_seen_at_work_do_not_make_others_theirs() {
        let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        let row = ["other session", "Timeout", "PgSleep", "10", "10"].map(str::to_owned).to_vec();
        let mut run = Run::new().table("waits", &columns, &[row]);
        assert!(run.finds(look).evidence[0].contains("beside 0.00 of the run's own"));
        // A script that names its sessions hides which of them are clients.
        let sql = "SET application_name = 'mine'".to_owned();
        run.record.statements = vec![pgdyno_results::StatementRecord { sql, ..Default::default() }];
        run.finds_nothing(look);
    }
}
