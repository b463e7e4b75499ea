//! Where the clients' time moved from one side to the other.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use pgdyno_results::{RunRecord, time_part_title};
use pgdyno_text::brief::percent;

/// A part of the clients' time on both sides, as mean shares of the runs, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePartChange {
    /// Its name, as in the records.
    pub name: String,
    /// Of BASE.
    pub base_share: f64,
    /// Of NEW.
    pub new_share: f64,
}

/// Smaller shares on both sides are left out.
const SHARE_MIN: f64 = 0.01;

/// A part whose share changes by less than this explains nothing.
const CHANGE_MIN: f64 = 0.05;

/// Returns the parts of both accounts, those that changed most first; empty unless all runs have an account.
pub(crate) fn changes<R: Borrow<RunRecord>>(base: &[R], new: &[R]) -> Vec<TimePartChange> {
    if base.iter().chain(new).any(|record| record.borrow().clients_time.is_empty()) {
        return Vec::new();
    }
    let mut parts: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (side, records) in [base, new].into_iter().enumerate() {
        for part in records.iter().flat_map(|record| &record.borrow().clients_time) {
            parts.entry(&part.name).or_default()[side] += part.share / records.len() as f64;
        }
    }
    let change = |(name, [base_share, new_share]): (&str, [f64; 2])| TimePartChange {
        name: name.to_owned(),
        base_share,
        new_share,
    };
    let mut changes: Vec<_> = parts.into_iter().map(change).collect();
    changes.retain(|part| part.base_share.max(part.new_share) >= SHARE_MIN);
    changes.sort_by(|a, b| b.by().abs().total_cmp(&a.by().abs()));
    changes
}

impl TimePartChange {
    fn by(&self) -> f64 {
        self.new_share - self.base_share
    }

    /// Returns what reports call it.
    pub(crate) fn title(&self) -> &str {
        time_part_title(&self.name)
    }

    /// Returns the change in points: `-61 points`.
    pub(crate) fn points(&self) -> String {
        format!("{:+.1} points", self.by() * 100.0)
    }
}

/// Returns where the time moved, in a sentence; `None` if no part changed by much.
pub(crate) fn why(changes: &[TimePartChange]) -> Option<String> {
    let most = changes.first().filter(|part| part.by().abs() >= CHANGE_MIN)?;
    let shares =
        |part: &TimePartChange| format!("{} {} → {}", part.title(), percent(part.base_share), percent(part.new_share));
    let largest = changes.iter().max_by(|a, b| a.new_share.total_cmp(&b.new_share))?;
    let now = if largest == most { String::new() } else { format!("; most of it now: {}", shares(largest)) };
    Some(format!("of the clients' time, {}{now}", shares(most)))
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

    fn record(parts: &[(&str, f64)]) -> RunRecord {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        let part = |(name, share): &(&str, f64)| TimePartRecord { name: (*name).to_owned(), share: *share };
        record.clients_time = parts.iter().map(part).collect();
        record
    }

    #[test]
    fn the_part_that_changed_most_comes_first_and_the_largest_one_now_is_named() {
        let base = [record(&[("WAL flush", 0.6), ("CPU", 0.4)]), record(&[("WAL flush", 0.7), ("CPU", 0.3)])];
        let new = [record(&[("WAL flush", 0.04), ("CPU", 0.95), ("driver", 0.005)])];
        let found = changes(&base, &new);
        let names: Vec<_> = found.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["WAL flush", "CPU"]);
        assert_eq!(found[0].points(), "-61.0 points");
        assert_eq!(
            why(&found).unwrap(),
            "of the clients' time, WAL flush 65 % → 4.0 %; most of it now: CPU 35 % → 95 %"
        );
        assert_eq!(moved(&found, true).unwrap(), "of the clients' time, CPU grew from 35 % to 95 %");
        assert_eq!(moved(&found, false).unwrap(), "of the clients' time, WAL flush fell from 65 % to 4.0 %");
        assert_eq!(moved(&found[1..], false), None);
    }

    #[test]
    fn runs_without_an_account_and_small_changes_say_nothing() {
        let with = record(&[("CPU", 1.0)]);
        assert_eq!(changes(std::slice::from_ref(&with), &[record(&[])]), []);
        assert_eq!(why(&changes(std::slice::from_ref(&with), std::slice::from_ref(&with))), None);
    }
}
