//! Where the clients' time moved from one side to the other.

use std::borrow::Borrow;

use pgdyno_results::{AbTime, RunRecord, clients_time_of, time_part_title};
use pgdyno_text::brief::percent;

use crate::difference::{self, signed_ms};

/// Smaller shares on both sides are left out.
const SHARE_MIN: f64 = 0.01;

/// A part whose share changes by less than this did not move, and a transaction whose time does has not changed.
const CHANGE_MIN: f64 = 0.05;

/// Returns the parts of both accounts, those that changed most first; empty unless all runs have an account.
pub(crate) fn changes<R: Borrow<RunRecord>>(base: &[R], new: &[R]) -> Vec<AbTime> {
    let mut changes = clients_time_of([base, new]);
    changes.retain(|part| part.a_share.max(part.b_share) >= SHARE_MIN);
    changes.sort_by(|a, b| b.change_ns().abs().total_cmp(&a.change_ns().abs()));
    changes
}

fn by_share(part: &AbTime) -> f64 {
    part.b_share - part.a_share
}

/// Returns the change of its time in a transaction: `-0.441 ms`.
pub(crate) fn change(part: &AbTime) -> String {
    format!("{} ms", signed_ms(part.change_ns()))
}

/// Returns which part of the clients' time makes the difference; `None` if none changed by much.
pub(crate) fn why(changes: &[AbTime]) -> Option<String> {
    let all = |of: fn(&AbTime) -> f64| changes.iter().map(of).sum::<f64>();
    let (base_ns, by_ns) = (all(|part| part.a_ns), all(AbTime::change_ns));
    let explains = |part: &&AbTime| part.change_ns() / by_ns >= difference::EXPLAINS_MIN;
    let most = changes.iter().filter(|_| by_ns.abs() >= CHANGE_MIN * base_ns).find(explains)?;
    let largest = changes.iter().max_by(|a, b| a.b_share.total_cmp(&b.b_share));
    Some(difference::why(most, largest, ["BASE", "NEW"]))
}

/// Returns the part that grew most, or fell most, in a sentence; `None` if none changed by much.
pub(crate) fn moved(changes: &[AbTime], has_grown: bool) -> Option<String> {
    let (verb, sign) = if has_grown { ("grew", 1.0) } else { ("fell", -1.0) };
    let most = changes.iter().max_by(|a, b| (sign * by_share(a)).total_cmp(&(sign * by_share(b))))?;
    let shares = format!("from {} to {}", percent(most.a_share), percent(most.b_share));
    (sign * by_share(most) >= CHANGE_MIN)
        .then(|| format!("of the clients' time, {} {verb} {shares}", time_part_title(&most.name)))
}

#[cfg(test)]
mod tests {
    use pgdyno_results::TimePartRecord;

    use super::*;

    /// A run with this account of its clients' time, of which each transaction took so much.
    fn record(transaction_ms: f64, parts: &[(&str, f64)]) -> RunRecord {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        let part = |(name, share): &(&str, f64)| TimePartRecord { name: (*name).to_owned(), share: *share };
        record.clients_time = parts.iter().map(part).collect();
        let summary = record.summary.as_mut().unwrap();
        summary.duration_s = transaction_ms / 1e3 * summary.committed as f64 / f64::from(record.plan.drive.clients);
        record
    }

    #[test]
    fn the_part_that_makes_the_difference_is_named_with_the_largest_one_now() {
        let base =
            [record(10.0, &[("WAL flush", 0.6), ("CPU", 0.4)]), record(10.0, &[("WAL flush", 0.7), ("CPU", 0.3)])];
        let new = [record(4.0, &[("WAL flush", 0.05), ("CPU", 0.95), ("driver", 0.005)])];
        let found = changes(&base, &new);
        let names: Vec<_> = found.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["WAL flush", "CPU"]);
        assert_eq!([change(&found[0]), change(&found[1])], ["-6.30 ms", "+0.300 ms"]);
        assert_eq!(
            why(&found).unwrap(),
            "WAL flush: 6.50 ms of each transaction on BASE, 0.200 ms on NEW; the largest part of NEW's time is now CPU (95 %)"
        );
        assert_eq!(moved(&found, true).unwrap(), "of the clients' time, CPU grew from 35 % to 95 %");
        assert_eq!(moved(&found, false).unwrap(), "of the clients' time, WAL flush fell from 65 % to 5.0 %");
        assert_eq!(moved(&found[1..], false), None);
    }

    #[test]
    fn runs_without_an_account_and_small_changes_say_nothing() {
        let with = [record(10.0, &[("CPU", 1.0)])];
        assert_eq!(changes(&with, &[record(10.0, &[])]), []);
        assert_eq!(why(&changes(&with, &with)), None);
        assert_eq!(why(&changes(&with, &[record(10.4, &[("CPU", 1.0)])])), None);
        assert!(why(&changes(&with, &[record(10.6, &[("CPU", 1.0)])])).is_some());
    }
}
