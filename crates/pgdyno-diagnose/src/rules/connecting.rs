//! Each transaction opens a connection of its own.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{duration, number, percent};

use super::SHARE_MIN;
use crate::facts::Facts;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let share = facts.account.share(facts.account.connecting);
    let opened = facts.summary.connections_opened? as f64 / facts.seconds();
    if share < SHARE_MIN {
        return None;
    }
    Some(FindingRecord {
        rule: "connecting".to_owned(),
        text: format!("{} {} went into opening connections", percent(share), facts.of_what()),
        weight: share,
        evidence: vec![format!(
            "{} connections a second, {} each",
            number(opened),
            duration(facts.summary.connection_s_mean.unwrap_or_default())
        )],
        advice: Some("keep connections open (run without -C), or put a pooler before the server".to_owned()),
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn connections_of_one_transaction_are_reported_with_their_cost() {
        let mut run = Run::new().waits(&[("CPU", "CPU", 1.0)]);
        run.summary().connections_opened = Some(4000);
        run.summary().connection_s_mean = Some(0.01);
        let found = run.finds(look);
        assert!((found.weight - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(found.evidence, ["400 connections a second, 10.0 ms each"]);
        run.summary().connections_opened = Some(100);
        run.finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
