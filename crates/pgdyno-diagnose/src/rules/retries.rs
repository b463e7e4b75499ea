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
    let codes = facts.record.errors.iter().filter(|error| matches!(error.sqlstate.as_str(), "40001" | "40P01"));
    evidence
        .extend(codes.map(|error| format!("{} × {}: {}", number(error.count as f64), error.sqlstate, error.text())));
    if let Some(deadlocks) = facts.rate(database::DEADLOCKS).filter(|rate| *rate > 0.0) {
        evidence.push(format!("{} deadlocks a second", number(deadlocks)));
    }
    let isolation = facts.setting_is("default_transaction_isolation").map_or_else(String::new, |is| format!(" ({is})"));
    Some(FindingRecord {
        rule: "retries".to_owned(),
        text: format!("{} of all tries ended in a deadlock or a failed serialization", percent(share)),
        weight: share,
        also_seen: false,
        evidence,
        advice: Some(format!(
            "lock rows in the same order in all transactions, or use fewer clients on the same rows{isolation}"
        )),
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
    }

    #[test]
    fn a_few_are_nothing() {
        let mut run = Run::new();
        run.summary().retries = 10;
        run.summary().failed_by_class.insert("data".to_owned(), 500);
        run.finds_nothing(look);
    }
}
