//! Where the clients' time moved from one side to the other.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use pgdyno_results::{RunRecord, time_part_title};
use pgdyno_text::brief::percent;
use pgdyno_text::units::ms;

use crate::difference;

/// A part of the clients' time on both sides, as means of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePartChange {
    /// Its name, as in the records.
    pub name: String,
    /// Its share of BASE's time, 0 to 1.
    pub base_share: f64,
    /// Of NEW's.
    pub new_share: f64,
    /// The time of a committed transaction of BASE that it takes, in nanoseconds.
    pub base_ns: f64,
    /// Of NEW.
    pub new_ns: f64,
}

/// Smaller shares on both sides are left out.
const SHARE_MIN: f64 = 0.01;

/// A part whose share changes by less than this did not move, and a transaction whose time does has not changed.
const CHANGE_MIN: f64 = 0.05;

/// Returns the parts of both accounts, those that changed most first; empty unless all runs have an account.
pub(crate) fn changes<R: Borrow<RunRecord>>(base: &[R], new: &[R]) -> Vec<TimePartChange> {
    if base.iter().chain(new).any(|record| record.borrow().clients_time.is_empty()) {
        return Vec::new();
    }
    let mut parts: BTreeMap<&str, TimePartChange> = BTreeMap::new();
    for (side, records) in [base, new].into_iter().enumerate() {
        for record in records.iter().map(Borrow::borrow) {
            let transaction_ns = record.transaction_ns().unwrap_or_default();
            for part in &record.clients_time {
                let share = part.share / records.len() as f64;
                parts.entry(&part.name).or_insert_with(|| TimePartChange::new(&part.name)).add(
                    side,
                    share,
                    transaction_ns,
                );
            }
        }
    }
    let mut changes: Vec<_> = parts.into_values().collect();
    changes.retain(|part| part.base_share.max(part.new_share) >= SHARE_MIN);
    changes.sort_by(|a, b| b.by_ns().abs().total_cmp(&a.by_ns().abs()));
    changes
}

impl TimePartChange {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), base_share: 0.0, new_share: 0.0, base_ns: 0.0, new_ns: 0.0 }
    }

    fn add(&mut self, side: usize, share: f64, transaction_ns: f64) {
        let (of_share, of_ns) = match side {
            0 => (&mut self.base_share, &mut self.base_ns),
            _ => (&mut self.new_share, &mut self.new_ns),
        };
        *of_share += share;
        *of_ns += share * transaction_ns;
    }

    fn by(&self) -> f64 {
        self.new_share - self.base_share
    }

    /// Returns what reports call it.
    pub(crate) fn title(&self) -> &str {
        time_part_title(&self.name)
    }

    fn by_ns(&self) -> f64 {
        self.new_ns - self.base_ns
    }

    /// Returns the change of its time in a transaction: `-0.441 ms`.
    pub(crate) fn change(&self) -> String {
        let sign = if self.by_ns() < 0.0 { '-' } else { '+' };
        format!("{sign}{} ms", ms(self.by_ns().abs().round() as u64))
    }

    fn part(&self) -> difference::Part<'_> {
        difference::Part { name: &self.name, ns: [self.base_ns, self.new_ns], share: self.new_share }
    }
}

/// Returns which part of the clients' time makes the difference; `None` if none changed by much.
pub(crate) fn why(changes: &[TimePartChange]) -> Option<String> {
    let all = |of: fn(&TimePartChange) -> f64| changes.iter().map(of).sum::<f64>();
    let (base_ns, by_ns) = (all(|part| part.base_ns), all(TimePartChange::by_ns));
    let explains = |part: &&TimePartChange| part.by_ns() / by_ns >= difference::EXPLAINS_MIN;
    let most = changes.iter().filter(|_| by_ns.abs() >= CHANGE_MIN * base_ns).find(explains)?;
    let largest = changes.iter().max_by(|a, b| a.new_share.total_cmp(&b.new_share));
    Some(difference::why(most.part(), largest.map(TimePartChange::part), ["BASE", "NEW"]))
}

/// Returns the part that grew most, or fell most, in a sentence; `None` if none changed by much.
pub(crate) fn moved(changes: &[TimePartChange], has_grown: bool) -> Option<String> {
    let (verb, sign) = if has_grown { ("grew", 1.0) } else { ("fell", -1.0) };
    let most = changes.iter().max_by(|a, b| (sign * a.by()).total_cmp(&(sign * b.by())))?;
    let shares = format!("from {} to {}", percent(most.base_share), percent(most.new_share));
    (sign * most.by() >= CHANGE_MIN).then(|| format!("of the clients' time, {} {verb} {shares}", most.title()))
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
        assert_eq!([found[0].change(), found[1].change()], ["-6.30 ms", "+0.300 ms"]);
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
