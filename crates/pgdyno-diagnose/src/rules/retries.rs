//! Work is done again after a deadlock or a failed serialization.

use pgdyno_results::FindingRecord;
use pgdyno_samples::database;
use pgdyno_text::brief::{number, percent};

use crate::facts::Facts;

/// A smaller share of all tries than this is nothing.
const LEAST: f64 = 0.02;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let summary = facts.summary;
    let failed = |class| summary.failed_by_class.get(class).copied().unwrap_or_default();
    let lost = (summary.retries + failed("serialization") + failed("deadlock")) as f64;
    let share = lost / (lost + (summary.committed + summary.rolled_back) as f64).max(1.0);
    if share < LEAST {
        return None;
    }
    let mut evidence =
        vec![format!("{} tries for nothing, {} transactions done", number(lost), number(summary.committed as f64))];
    let codes: Vec<_> =
        facts.record.errors.iter().filter(|error| matches!(error.sqlstate.as_str(), "40001" | "40P01")).collect();
    evidence.extend(
        codes.iter().map(|error| format!("{} × {}: {}", number(error.count as f64), error.sqlstate, error.text())),
    );
    if let Some(deadlocks) = facts.rate(database::DEADLOCKS).filter(|rate| *rate > 0.0) {
        evidence.push(format!("{} deadlocks a second", number(deadlocks)));
    }
    let isolation = facts.setting_is("default_transaction_isolation").map_or_else(String::new, |is| format!(" ({is})"));
    let is_of_replay = codes.iter().any(|error| error.message.contains("conflict with recovery"));
    let has_deadlocks = failed("deadlock") > 0 || codes.iter().any(|error| error.sqlstate == "40P01");
    let has_others = failed("serialization") > 0 || codes.iter().any(|error| error.sqlstate == "40001");
    let mut advice = Vec::new();
    if has_deadlocks || !has_others {
        advice
            .push("lock rows in the same order in all transactions, or use fewer clients on the same rows".to_owned());
    }
    if is_of_replay {
        advice.push(
            "set hot_standby_feedback to on at the standby, or raise max_standby_streaming_delay there".to_owned(),
        );
    } else if has_others {
        advice.push(format!(
            "use fewer clients on the same rows, shorter transactions, or a lower isolation level{isolation}"
        ));
    }
    Some(FindingRecord {
        rule: "retries".to_owned(),
        text: format!(
            "{} of all tries ended in a deadlock{}",
            percent(share),
            if is_of_replay {
                ", a failed serialization or a conflict with replay"
            } else {
                " or a failed serialization"
            }
        ),
        weight: share,
        also_seen: false,
        evidence,
        advice: Some(advice.join("; ")),
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;
    use pgdyno_results::ErrorRecord;

    #[test]
    fn tries_for_nothing_are_reported_with_their_errors() {
        let mut run = Run::new();
        run.summary().retries = 200;
        run.summary().failed_by_class.insert("deadlock".to_owned(), 50);
        let message = "ERROR: deadlock detected (SQLSTATE 40P01)".to_owned();
        run.record.errors =
            vec![ErrorRecord { sqlstate: "40P01".to_owned(), count: 250, message, ..ErrorRecord::default() }];
        let found = run.finds(look);
        assert!((found.weight - 0.2).abs() < 1e-9);
        assert_eq!(found.evidence[1], "250 × 40P01: ERROR: deadlock detected");
        assert!(found.advice.unwrap().starts_with("lock rows in the same order"));
    }

    #[test]
    fn the_advice_is_that_of_the_errors() {
        let advice = |text: &str| {
            let mut run = Run::new();
            run.summary().failed_by_class.insert("serialization".to_owned(), 50);
            let message = format!("ERROR: {text} (SQLSTATE 40001)");
            run.record.errors =
                vec![ErrorRecord { sqlstate: "40001".to_owned(), count: 50, message, ..ErrorRecord::default() }];
            run.finds(look).advice.unwrap()
        };
        assert!(advice("could not serialize access due to concurrent update").starts_with("use fewer clients"));
        let of_replay = advice("canceling statement due to conflict with recovery");
        assert!(of_replay.starts_with("set hot_standby_feedback to on at the standby"), "{of_replay}");
    }

    #[test]
    fn a_few_are_nothing() {
        let mut run = Run::new();
        run.summary().retries = 10;
        run.summary().failed_by_class.insert("data".to_owned(), 500);
        run.finds_nothing(look);
    }
}
