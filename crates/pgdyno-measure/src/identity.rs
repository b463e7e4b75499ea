//! Identities of counters. If one does not hold, the run is marked invalid.

use crate::{ThreadCounts, Totals};

/// An identity that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenIdentity {
    /// The identity, as in docs/measurement.md.
    pub identity: &'static str,
    /// The two sides, with their numbers.
    pub found: String,
}

impl std::fmt::Display for BrokenIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not hold: {}", self.identity, self.found)
    }
}

/// Returns the identities of `totals` that do not hold; `txn_names` are in the order of the parts.
#[must_use]
pub fn broken_identities(totals: &Totals, txn_names: &[&str]) -> Vec<BrokenIdentity> {
    let mut broken = Vec::new();
    let mut expect = |identity, left: u64, right: u64, what: &str| {
        if left != right {
            broken.push(BrokenIdentity { identity, found: format!("{what}: {left} and {right}") });
        }
    };
    let sum = |of: fn(&crate::TxnPart) -> u64| totals.part.txns.iter().map(of).sum::<u64>();
    expect(
        "in flight at the start + started = committed + rolled back + failed + unknown + in flight at the end",
        totals.in_flight_at_start + sum(|t| t.started),
        sum(|t| t.completed() + t.failures()) + totals.in_flight_at_end,
        "all transactions",
    );
    for (i, txn) in totals.part.txns.iter().enumerate() {
        let name = txn_names.get(i).copied().unwrap_or("?");
        expect("service times recorded = committed + rolled back", txn.service.count(), txn.completed(), name);
        if let Some(response) = &txn.response {
            expect("response times recorded = committed + rolled back", response.count(), txn.completed(), name);
        }
    }
    broken
}

/// Returns the identity of a schedule, if it does not hold. `phases` are all of one stage, of one group: another
/// group has another schedule, or none.
#[must_use]
pub fn broken_schedule(phases: &[&Totals]) -> Option<BrokenIdentity> {
    let mut run = ThreadCounts::default();
    phases.iter().for_each(|totals| run.merge(&totals.part));
    let scheduled = run.scheduled?;
    let all = run.all();
    let accounted = all.skipped + all.started + run.still_waiting;
    (scheduled != accounted).then(|| BrokenIdentity {
        identity: "scheduled = skipped + started + still waiting",
        found: format!("the whole run: {scheduled} and {accounted}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Phase, Recorder};

    fn totals(part: crate::ThreadCounts, in_flight: u64) -> Totals {
        let mut totals = Totals::default();
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: 1,
            part,
            in_flight,
            workers: vec![],
            groups: vec![],
        };
        totals.add(&interval, 0);
        totals
    }

    #[test]
    fn an_honest_recorder_breaks_none() {
        let mut r = Recorder::new(1, 0, true);
        for _ in 0..3 {
            r.started(0);
        }
        r.completed(0, true, 1, 1, false);
        r.completed(0, false, 1, 1, false);
        assert_eq!(broken_identities(&totals(r.take(), r.in_flight()), &["x"]), []);
    }

    #[test]
    fn a_transaction_that_vanished_is_noticed() {
        let mut r = Recorder::new(1, 0, false);
        r.started(0);
        let broken = broken_identities(&totals(r.take(), 0), &["x"]);
        assert_eq!(broken.len(), 1);
        assert!(broken[0].to_string().ends_with("all transactions: 1 and 0"), "{}", broken[0]);
    }

    #[test]
    fn an_arrival_that_vanished_is_noticed() {
        let found = |scheduled| {
            let mut r = Recorder::new(1, 0, true);
            r.started(0);
            r.completed(0, true, 1, 1, false);
            r.skipped(0, 1);
            r.still_waiting(2, 5);
            let window = totals(r.take(), 0);
            if let Some(scheduled) = scheduled {
                r.scheduled_until_end(scheduled);
            }
            broken_schedule(&[&window, &totals(r.take(), 0)]).map(|broken| broken.found)
        };
        assert_eq!((found(None), found(Some(4))), (None, None));
        assert_eq!(found(Some(5)).as_deref(), Some("the whole run: 5 and 4"));
    }

    #[test]
    fn a_counter_without_its_latency_is_noticed() {
        let mut r = Recorder::new(1, 0, false);
        r.started(0);
        r.completed(0, true, 1, 1, false);
        let mut part = r.take();
        part.txns[0].committed += 1;
        part.txns[0].started += 1;
        assert_eq!(broken_identities(&totals(part, 0), &["x"]).len(), 1);
    }
}
