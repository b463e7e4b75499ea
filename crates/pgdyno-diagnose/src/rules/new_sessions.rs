//! Other programs open many sessions.

use pgdyno_results::FindingRecord;
use pgdyno_samples::database;
use pgdyno_text::brief::number;

use super::UNKNOWN;
use crate::facts::Facts;

/// Fewer a second than this cost little.
const RATE_MIN: f64 = 10.0;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let begun = facts.rate(database::SESSIONS)?;
    let own = facts.summary.connections_opened.unwrap_or_default() as f64 / facts.seconds();
    // Without a warm-up, the server counts the clients' first sessions in the window.
    let others = begun - own - facts.connections() / facts.seconds();
    // Clients that reconnect are counted late or early by a second.
    if others < RATE_MIN || others < own {
        return None;
    }
    Some(FindingRecord {
        rule: "new-sessions".to_owned(),
        text: format!("{} sessions a second were begun in this database that are not the clients'", number(others)),
        weight: UNKNOWN,
        evidence: vec![format!("{} sessions a second in all, {} by the clients", number(begun), number(own))],
        advice: Some("let that program keep its connections open, or put a pooler before the server".to_owned()),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn sessions_of_others_are_reported_and_the_clients_own_are_not() {
        let mut run = Run::new().counters("database", &[("sessions", 40.0)]);
        assert!(run.finds(look).text.starts_with("39 sessions a second"));
        run.record.plan.drive.clients = 400;
        run.finds_nothing(look);
        run.record.plan.drive.clients = 8;
        run.summary().connections_opened = Some(390);
        run.finds_nothing(look);
        Run::new().counters("database", &[("sessions", 0.5)]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
