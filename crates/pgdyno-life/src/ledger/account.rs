//! Compares the commits that clients know with the markers that the server has.

use std::collections::{HashMap, HashSet};

use pgdyno_results::{LedgerEntry, LedgerRecord, MarkerClass, MarkersFound};

/// The SQLSTATE of a key that is taken.
const UNIQUE_VIOLATION: &str = "23505";

/// A marker: a client's number and its sequence; warehouse, district and number of an order; or the place of a script's table and a key.
pub(super) type Marker = [i64; 3];

/// The markers that the server has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Present {
    /// How often each marker is there.
    pub(super) times: HashMap<Marker, u64>,
    /// Markers without all of their rows, such as an order without its lines. They count as absent.
    pub(super) incomplete: HashSet<Marker>,
}

impl Present {
    fn has(&self, marker: &Marker) -> bool {
        self.times.contains_key(marker) && !self.incomplete.contains(marker)
    }
}

/// Returns how many commits of a class there are.
fn count(entries: &[LedgerEntry], class: MarkerClass) -> u64 {
    entries.iter().filter(|entry| entry.class == class).count() as u64
}

/// Fills in what the clients know.
pub(super) fn count_classes(entries: &[LedgerEntry], record: &mut LedgerRecord) {
    let unmarked = |entry: &&LedgerEntry| entry.class == MarkerClass::Acknowledged && entry.marker.is_none();
    record.unmarked = entries.iter().filter(unmarked).count() as u64;
    record.acknowledged = count(entries, MarkerClass::Acknowledged) - record.unmarked;
    record.locally_only = count(entries, MarkerClass::LocallyOnly);
    record.failed = count(entries, MarkerClass::Failed);
    record.unknown = count(entries, MarkerClass::Unknown);
}

/// Compares commits with the markers that are there. `shows_all`: the server was asked for all markers of the run, not only for those that
/// clients know.
pub(super) fn compare(entries: &[LedgerEntry], present: &Present, shows_all: bool) -> MarkersFound {
    let named = |class| {
        let of_class = move |entry: &&LedgerEntry| entry.class == class;
        entries.iter().filter(of_class).filter_map(|entry| entry.marker.map(|marker| (entry, marker)))
    };
    let there = |class| named(class).filter(|(_, marker)| present.has(marker)).count() as u64;
    // After a loss, the server gives the numbers of lost orders to new ones: as many markers as are there are those of the last commits.
    let mut moments: HashMap<Marker, Vec<u64>> = HashMap::new();
    for (entry, marker) in named(MarkerClass::Acknowledged) {
        moments.entry(marker).or_default().push(entry.ended_us);
    }
    moments.values_mut().for_each(|moments| moments.sort_unstable_by(|a, b| b.cmp(a)));
    let mut kept: HashMap<Marker, u64> = HashMap::new();
    let mut is_kept = |(entry, marker): &(&LedgerEntry, Marker)| {
        let times = if present.has(marker) { present.times.get(marker).copied().unwrap_or_default() } else { 0 };
        let later = moments.get(marker).map_or(0, |moments| moments.partition_point(|at| *at > entry.ended_us) as u64);
        let kept = kept.entry(*marker).or_default();
        let stays = later < times && *kept < times;
        *kept += u64::from(stays);
        stays
    };
    let lost: Vec<_> = named(MarkerClass::Acknowledged).filter(|commit| !is_kept(commit)).collect();
    let known: HashSet<Marker> = entries.iter().filter_map(|entry| entry.marker).collect();
    // An answer that is lost takes the number of its order with it: such an order shows only as one that no client has recorded.
    let nameless =
        entries.iter().filter(|entry| entry.class == MarkerClass::Unknown && entry.marker.is_none()).count() as u64;
    let unknown_unmarked = if shows_all { 0 } else { nameless };
    let others = present.times.keys().filter(|marker| !known.contains(*marker)).count() as u64;
    let unclaimed = named(MarkerClass::Unknown)
        .filter(|(_, marker)| present.has(marker) && !moments.contains_key(marker))
        .count() as u64;
    let unknown_present = unclaimed + others.min(nameless);
    let locally_only = named(MarkerClass::LocallyOnly).count() as u64;
    MarkersFound {
        lost: lost.len() as u64,
        locally_only_absent: locally_only - there(MarkerClass::LocallyOnly),
        unknown_present,
        unknown_absent: count(entries, MarkerClass::Unknown) - unknown_present - unknown_unmarked,
        unknown_unmarked,
        resurrected: resurrected(entries, present),
        duplicated: duplicated(entries, present),
        holes: holes(entries, &lost, present),
        unrecorded: others.saturating_sub(nameless),
        loss_window_s: window_s(lost.iter().map(|(entry, _)| entry.ended_us)),
        ..MarkersFound::default()
    }
}

/// Returns the markers that are there more often than clients tried to write them.
fn duplicated(entries: &[LedgerEntry], present: &Present) -> u64 {
    let mut tries: HashMap<Marker, u64> = HashMap::new();
    for marker in entries.iter().filter(|entry| entry.class != MarkerClass::Failed).filter_map(|entry| entry.marker) {
        *tries.entry(marker).or_default() += 1;
    }
    let is_more = |(marker, times): &(&Marker, &u64)| **times > tries.get(*marker).copied().unwrap_or(1);
    present.times.iter().filter(is_more).count() as u64
}

/// Returns the failed commits that are there, unless another try of the same marker was not a failure: the server gives the number
/// of an order that failed to the next one.
fn resurrected(entries: &[LedgerEntry], present: &Present) -> u64 {
    let not_failed = entries.iter().filter(|entry| entry.class != MarkerClass::Failed);
    let explained: HashSet<Marker> = not_failed.filter_map(|entry| entry.marker).collect();
    // A key that was taken is there because of another row.
    let is_taken = |entry: &&LedgerEntry| entry.sqlstate.as_deref() == Some(UNIQUE_VIOLATION);
    let failed = entries.iter().filter(|entry| entry.class == MarkerClass::Failed && !is_taken(entry));
    let failed = failed.filter_map(|entry| entry.marker);
    failed.filter(|marker| present.has(marker) && !explained.contains(marker)).count() as u64
}

/// Returns the lost commits of clients that have a later commit on the server.
fn holes(entries: &[LedgerEntry], lost: &[(&LedgerEntry, Marker)], present: &Present) -> u64 {
    let mut last: HashMap<u32, u64> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.marker.is_some_and(|marker| present.has(&marker))) {
        let number = last.entry(entry.client).or_default();
        *number = entry.number.max(*number);
    }
    lost.iter().filter(|(entry, _)| last.get(&entry.client).is_some_and(|last| *last > entry.number)).count() as u64
}

/// Returns the time from the first to the last of these moments.
fn window_s(moments_us: impl Iterator<Item = u64>) -> Option<f64> {
    let (first, last) = moments_us.fold((u64::MAX, 0), |(first, last), at| (at.min(first), at.max(last)));
    (first <= last).then(|| (last - first) as f64 / 1e6)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a commit of client 1 that ended so many seconds after the start.
    pub(crate) fn entry(number: u64, class: MarkerClass, ended_s: f64) -> LedgerEntry {
        let ended_us = (ended_s * 1e6) as u64;
        LedgerEntry {
            client: 1,
            number,
            class,
            begun_us: ended_us.saturating_sub(1_000),
            ended_us,
            marker: Some([1, number.cast_signed(), 0]),
            key: None,
            sqlstate: None,
            server: "a:5432".into(),
        }
    }

    fn present(numbers: &[i64]) -> Present {
        Present { times: numbers.iter().map(|number| ([1, *number, 0], 1)).collect(), incomplete: HashSet::new() }
    }

    #[test]
    fn what_was_acknowledged_and_is_absent_is_lost() {
        use MarkerClass::{Acknowledged, Failed, LocallyOnly, Unknown};
        let classes = [Acknowledged, Acknowledged, Acknowledged, LocallyOnly, Failed, Unknown, Unknown, Acknowledged];
        let entries: Vec<_> =
            (1..).zip(classes).map(|(number, class)| entry(number, class, number as f64 / 10.0)).collect();
        let found = compare(&entries, &present(&[1, 6, 8]), true);
        let loss = (found.lost, found.holes, found.locally_only_absent);
        assert_eq!(loss, (2, 2, 1), "2 and 3, and 4 was on one server only");
        assert_eq!(found.loss_window_s.map(|s| (s * 10.0).round()), Some(1.0));
        assert_eq!((found.unknown_present, found.unknown_absent, found.resurrected, found.unrecorded), (1, 1, 0, 0));
        // Threads write their commits one after the other.
        let backwards: Vec<_> = entries.iter().rev().cloned().collect();
        assert_eq!(compare(&backwards, &present(&[1, 6, 8]), true), found);
        let last = compare(&entries, &present(&[1, 2, 3, 4]), true);
        assert_eq!((last.lost, last.holes), (1, 0), "nothing came after 8");
        let found = compare(&entries, &present(&[1, 2, 3, 4, 5, 8, 9]), true);
        assert_eq!((found.lost, found.loss_window_s, found.resurrected), (0, None, 1));
        assert_eq!((found.unknown_absent, found.unrecorded, found.duplicated), (2, 1, 0), "no client has recorded 9");
    }

    #[test]
    fn a_marker_that_is_there_twice_or_in_part_is_seen() {
        let entries = [1, 2].map(|number| entry(number, MarkerClass::Acknowledged, 1.0));
        let mut present = present(&[1, 2]);
        present.times.insert([1, 1, 0], 2);
        present.incomplete.insert([1, 2, 0]);
        let found = compare(&entries, &present, true);
        assert_eq!((found.duplicated, found.lost), (1, 1));
    }

    #[test]
    fn a_commit_that_failed_explains_no_second_row() {
        let entries = [MarkerClass::Failed, MarkerClass::Acknowledged].map(|class| entry(1, class, 1.0));
        let mut there = present(&[1]);
        there.times.insert([1, 1, 0], 2);
        assert_eq!(compare(&entries, &there, true).duplicated, 1);
        // A row that is there in part is no commit that came back.
        there.incomplete.insert([1, 1, 0]);
        assert_eq!(compare(&entries[..1], &there, true).resurrected, 0);
    }

    #[test]
    fn a_later_commit_of_another_client_leaves_no_hole() {
        let other = LedgerEntry { client: 2, marker: Some([2, 9, 0]), ..entry(9, MarkerClass::Acknowledged, 2.0) };
        let entries = [entry(1, MarkerClass::Acknowledged, 1.0), other];
        let there = Present { times: [([2, 9, 0], 1)].into(), incomplete: HashSet::new() };
        let found = compare(&entries, &there, true);
        assert_eq!((found.lost, found.holes), (1, 0));
    }

    #[test]
    fn an_order_whose_answer_was_lost_is_known_by_its_number_alone() {
        let unknown = |number| LedgerEntry { marker: None, ..entry(number, MarkerClass::Unknown, 1.0) };
        let entries = [entry(1, MarkerClass::Acknowledged, 1.0), unknown(2), unknown(3)];
        let found = compare(&entries, &present(&[1, 7]), true);
        assert_eq!((found.unknown_present, found.unknown_absent, found.unrecorded, found.lost), (1, 1, 0, 0));
        let found = compare(&entries, &present(&[1, 7, 8, 9]), true);
        assert_eq!((found.unknown_present, found.unknown_absent, found.unrecorded), (2, 0, 1));
    }

    #[test]
    fn a_lost_order_is_lost_although_another_one_has_its_number_now() {
        let again = LedgerEntry { marker: Some([1, 1, 0]), ..entry(5, MarkerClass::Acknowledged, 9.0) };
        let found = compare(&[entry(1, MarkerClass::Acknowledged, 1.0), again.clone()], &present(&[1]), true);
        assert_eq!((found.lost, found.duplicated, found.holes), (1, 0, 1), "the first one is lost");
        let at_once = LedgerEntry { number: 6, ..again.clone() };
        assert_eq!(compare(&[again, at_once], &present(&[1]), true).lost, 1, "both in the same microsecond");
    }

    #[test]
    fn a_key_that_is_not_unique_is_there_as_often_as_it_was_written() {
        let twice = [1.0, 2.0]
            .map(|at| LedgerEntry { marker: Some([0, 5, 0]), ..entry(at as u64, MarkerClass::Acknowledged, at) });
        let there = |times| Present { times: [([0, 5, 0], times)].into(), incomplete: HashSet::new() };
        let of = |times| {
            let found = compare(&twice, &there(times), false);
            (found.lost, found.duplicated)
        };
        assert_eq!([of(1), of(2), of(3)], [(1, 0), (0, 0), (0, 1)]);
    }

    #[test]
    fn a_commit_whose_key_no_client_knows_is_neither_there_nor_absent() {
        let nameless = |class| LedgerEntry { marker: None, ..entry(2, class, 1.0) };
        let entries =
            [nameless(MarkerClass::Unknown), nameless(MarkerClass::Acknowledged), entry(1, MarkerClass::Unknown, 1.0)];
        let found = compare(&entries, &present(&[]), false);
        assert_eq!((found.unknown_absent, found.unknown_unmarked, found.lost), (1, 1, 0));
        let mut record = LedgerRecord::default();
        count_classes(&entries, &mut record);
        assert_eq!((record.acknowledged, record.unmarked, record.unknown), (0, 1, 2));
    }

    #[test]
    fn the_number_of_a_failed_order_may_be_that_of_the_next() {
        let entries = [
            entry(1, MarkerClass::Failed, 1.0),
            LedgerEntry { marker: Some([1, 1, 0]), ..entry(2, MarkerClass::Acknowledged, 2.0) },
        ];
        assert_eq!(compare(&entries, &present(&[1]), true).resurrected, 0);
        let failed = |code: &str| {
            let entry = LedgerEntry { sqlstate: Some(code.to_owned()), ..entry(1, MarkerClass::Failed, 1.0) };
            compare(&[entry], &present(&[1]), false).resurrected
        };
        assert_eq!((failed("40001"), failed("23505")), (1, 0), "a key that was taken is that of another row");
    }
}
