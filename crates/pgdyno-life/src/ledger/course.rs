//! The course of an outage: commits, failures and latencies step by step, the gap of each client, and the work that was lost.

use std::collections::BTreeMap;
use std::ops::Range;

use pgdyno_results::{
    ClientOutageRecord, LedgerEntry, MarkerClass, OutageCourseRecord, OutageFailuresRecord, WorkLostRecord,
};

/// Steps of a course, at most.
const STEPS_MAX: u64 = 100;
/// A step is not shorter.
const STEP_US_MIN: u64 = 100_000;
/// Time before and after an outage that the course shows: this share of its length, and not less.
const AROUND: f64 = 0.4;
const AROUND_US_MIN: u64 = 3_000_000;
/// Clients whose gaps are kept.
const CLIENTS_MAX: usize = 200;

/// An outage: the time between two acknowledgements, in microseconds since 1970.
pub(super) struct OutageSpan<'a> {
    pub(super) entries: &'a [LedgerEntry],
    /// The start of the first transaction.
    pub(super) origin_us: u64,
    pub(super) gap: Range<u64>,
    /// When the former rate was nearly reached again; if it was not, the last moment that is known.
    pub(super) recovered_us: u64,
    /// The last moment that is known.
    pub(super) end_us: u64,
}

impl OutageSpan<'_> {
    /// Returns the commits that were acknowledged.
    fn acknowledged(&self) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(|entry| entry.class.is_acknowledged())
    }

    fn unanswered(&self) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(|entry| matches!(entry.class, MarkerClass::Failed | MarkerClass::Unknown))
    }

    fn seconds(&self, at_us: u64) -> f64 {
        at_us.saturating_sub(self.origin_us) as f64 / 1e6
    }

    /// Returns the time for which each client had no commits.
    fn clients(&self) -> Vec<ClientOutageRecord> {
        let mut gaps: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for entry in self.entries {
            gaps.entry(entry.client).or_insert((self.origin_us, self.end_us));
        }
        for entry in self.acknowledged() {
            let gap = gaps.entry(entry.client).or_default();
            if entry.ended_us <= self.gap.start {
                gap.0 = entry.ended_us.max(gap.0);
            } else if entry.ended_us >= self.gap.end {
                gap.1 = entry.ended_us.min(gap.1);
            }
        }
        let record = |(client, (from, until)): (u32, (u64, u64))| ClientOutageRecord {
            client,
            from_s: self.seconds(from),
            until_s: self.seconds(until),
        };
        let mut clients: Vec<_> = gaps.into_iter().map(record).collect();
        clients.sort_by(|a, b| a.from_s.total_cmp(&b.from_s).then(a.until_s.total_cmp(&b.until_s)));
        clients
    }

    /// Returns the work that was lost.
    pub(super) fn work_lost(&self) -> WorkLostRecord {
        let ended_in = |entry: &&LedgerEntry| self.gap.start <= entry.ended_us && entry.ended_us <= self.gap.end;
        let aborted: Vec<_> = self.unanswered().filter(ended_in).collect();
        let noticed = aborted.iter().map(|entry| entry.ended_us).min();
        let in_flight = aborted.iter().filter(|entry| noticed.is_some_and(|noticed| entry.begun_us <= noticed)).count();
        let (first, mut before, mut meanwhile) = (self.acknowledged().map(|entry| entry.ended_us).min(), 0_u64, 0_u64);
        for entry in self.acknowledged() {
            before += u64::from(entry.ended_us <= self.gap.start);
            meanwhile += u64::from((self.gap.end..self.recovered_us).contains(&entry.ended_us));
        }
        // A rate of less than a second is none.
        let former_s = (self.gap.start.saturating_sub(first.unwrap_or_default()) as f64 / 1e6).max(1.0);
        let expected = before as f64 / former_s * (self.recovered_us.saturating_sub(self.gap.start) as f64 / 1e6);
        WorkLostRecord {
            aborted: aborted.len() as u64,
            in_flight: in_flight as u64,
            client_s: self.clients().iter().map(|client| client.until_s - client.from_s).sum(),
            commits: (expected as u64).saturating_sub(meanwhile),
        }
    }

    /// Returns its course.
    pub(super) fn course(&self) -> OutageCourseRecord {
        let around = ((self.gap.end - self.gap.start) as f64 * AROUND) as u64;
        let around = around.max(AROUND_US_MIN);
        let from = self.gap.start.saturating_sub(around).max(self.origin_us);
        let until = self.recovered_us.max(self.gap.end).saturating_add(around).min(self.end_us).max(from + 1);
        let step = ((until - from) / STEPS_MAX).max(STEP_US_MIN);
        let steps = ((until - from) / step + 1) as usize;
        let place = |at: u64| usize::try_from(at.checked_sub(from)? / step).ok().filter(|place| *place < steps);
        let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); steps];
        for entry in self.acknowledged() {
            if let Some(place) = place(entry.ended_us) {
                latencies[place].push(entry.ended_us - entry.begun_us);
            }
        }
        let mut failures: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for entry in self.unanswered() {
            if let Some(place) = place(entry.ended_us) {
                failures.entry(class(entry)).or_insert_with(|| vec![0; steps])[place] += 1;
            }
        }
        latencies.iter_mut().for_each(|step| step.sort_unstable());
        let ms = |us: &u64| *us as f64 / 1e3;
        OutageCourseRecord {
            from_s: self.seconds(from),
            step_s: step as f64 / 1e6,
            acknowledged: latencies.iter().map(|step| step.len() as u64).collect(),
            failures: failures.into_iter().map(|(class, counts)| OutageFailuresRecord { class, counts }).collect(),
            latency_ms_p50: latencies.iter().map(|step| step.get(step.len() / 2).map(ms)).collect(),
            latency_ms_max: latencies.iter().map(|step| step.last().map(ms)).collect(),
            clients: evenly(self.clients(), CLIENTS_MAX),
        }
    }
}

/// Returns the class of a failure, with its SQLSTATE.
fn class(entry: &LedgerEntry) -> String {
    match &entry.sqlstate {
        Some(code) => format!("{} {code}", entry.class.name()),
        None => entry.class.name().to_owned(),
    }
}

/// Returns so many of these, evenly chosen, the first and the last among them.
fn evenly<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let count = all.len();
    if count <= most {
        return all;
    }
    let chosen: std::collections::BTreeSet<usize> = (0..most).map(|nth| nth * (count - 1) / (most - 1)).collect();
    all.into_iter().enumerate().filter(|(place, _)| chosen.contains(place)).map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::account::tests::entry;
    use super::*;

    /// 100 commits a second of each of two clients until 10 s and from 14 s on; the second client returns a second later.
    fn entries() -> Vec<LedgerEntry> {
        let of = |client: u32, seconds: Range<u32>| {
            seconds.flat_map(|second| (0..100).map(move |nth| f64::from(second) + 0.01 + f64::from(nth) / 100.0)).map(
                move |at_s| LedgerEntry { client, ..entry((at_s * 100.0) as u64, MarkerClass::Acknowledged, at_s) },
            )
        };
        let mut all: Vec<_> = of(1, 0..10).chain(of(1, 14..30)).chain(of(2, 0..10)).chain(of(2, 15..30)).collect();
        let failed = |class, at_s: f64, took_s: f64, code: Option<&str>| LedgerEntry {
            client: 2,
            begun_us: ((at_s - took_s) * 1e6) as u64,
            sqlstate: code.map(str::to_owned),
            ..entry(9_000, class, at_s)
        };
        all.push(failed(MarkerClass::Unknown, 10.2, 0.3, None));
        all.push(failed(MarkerClass::Failed, 10.3, 0.2, Some("57P01")));
        all.push(failed(MarkerClass::Failed, 12.0, 0.1, Some("57P01")));
        all
    }

    fn span(entries: &[LedgerEntry]) -> OutageSpan<'_> {
        let origin_us = entries.iter().map(|entry| entry.begun_us).min().unwrap();
        OutageSpan { entries, origin_us, gap: 10_000_000..14_010_000, recovered_us: 15_010_000, end_us: 30_000_000 }
    }

    #[test]
    fn the_work_that_was_lost_is_counted() {
        let entries = entries();
        let lost = span(&entries).work_lost();
        assert_eq!((lost.aborted, lost.in_flight), (3, 2), "the last one began later");
        assert!((lost.client_s - 4.01 - 5.01).abs() < 0.001, "{lost:?}");
        // 200 a second for 5 s, of which 100 were made.
        assert!((890..=915).contains(&lost.commits), "{lost:?}");
    }

    #[test]
    fn the_course_has_commits_failures_and_the_gap_of_each_client() {
        let entries = entries();
        let course = span(&entries).course();
        assert_eq!(((course.step_s * 100.0).round(), course.acknowledged.len()), (11.0, 101), "{course:?}");
        assert!((course.from_s - 7.0).abs() < 0.02, "{}", course.from_s);
        let at = |s: f64| ((s - course.from_s) / course.step_s) as usize;
        let rate = |s: f64| course.acknowledged[at(s)];
        assert!(rate(8.0) >= 20 && rate(12.0) == 0 && (10..13).contains(&rate(14.5)) && rate(16.0) >= 20, "{course:?}");
        let counts: Vec<_> =
            course.failures.iter().map(|of| (of.class.as_str(), of.counts.iter().sum::<u64>())).collect();
        assert_eq!(counts, [("failed 57P01", 2), ("unknown", 1)]);
        assert_eq!((course.latency_ms_p50[at(8.0)], course.latency_ms_max[at(12.0)]), (Some(1.0), None));
        let gaps: Vec<_> = course.clients.iter().map(|of| (of.client, (of.until_s - of.from_s).round())).collect();
        assert_eq!(gaps, [(1, 4.0), (2, 5.0)]);
    }

    #[test]
    fn of_many_clients_some_are_kept_evenly() {
        let kept = evenly((0..1000).collect(), 200);
        assert_eq!((kept.len(), kept[0], kept[199]), (200, 0, 999));
        assert!(kept.windows(2).all(|pair| (5..=6).contains(&(pair[1] - pair[0]))), "{kept:?}");
        assert_eq!(evenly(vec![1, 2], 200), [1, 2]);
    }
}
