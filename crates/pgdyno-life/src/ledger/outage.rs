//! When there were no commits: the longest gap of the cluster and of each client, what clients saw meanwhile, and the recovery.

use std::collections::BTreeMap;

use pgdyno_results::{LedgerEndpointRecord, LedgerEntry, LedgerRecord, MarkerClass, OutageRecord};

use super::course::OutageSpan;

/// A gap is an outage if it is longer than this many times the mean time between two acknowledgements, and longer than this.
const TIMES_LONGER: f64 = 20.0;
const OUTAGE_US_MIN: u64 = 500_000;

/// The share of the former rate that counts as recovered, and the number of seconds for which it must last.
const RECOVERED: f64 = 0.9;
const LASTING_S: usize = 10;

/// Share of the time limit of a reply from which on it counts as one that hung.
const HUNG: f64 = 0.95;

/// Fills in when there were no commits, and which servers acknowledged them. `timeout_s` is the time limit of a reply, `until_us` the
/// end of the measured window; 0 if that is not known.
pub(super) fn fill(entries: &[LedgerEntry], timeout_s: f64, until_us: u64, record: &mut LedgerRecord) {
    let Some(origin_us) = entries.iter().map(|entry| entry.begun_us).min() else { return };
    record.outage = outage(entries, origin_us, timeout_s, until_us);
    record.endpoints = endpoints(entries, origin_us);
    record.overlap_s = overlap_s(entries);
}

/// Returns the moments of acknowledgements in their order.
fn acknowledgements(entries: &[LedgerEntry]) -> Vec<u64> {
    let mut moments: Vec<u64> =
        entries.iter().filter(|entry| entry.class.is_acknowledged()).map(|entry| entry.ended_us).collect();
    moments.sort_unstable();
    moments
}

/// Returns the longest time between two of these moments, in their order, and its start.
fn longest_gap(moments: &[u64]) -> Option<(u64, u64)> {
    moments.windows(2).map(|pair| (pair[1] - pair[0], pair[0])).max()
}

fn outage(entries: &[LedgerEntry], origin_us: u64, timeout_s: f64, until_us: u64) -> OutageRecord {
    let moments = acknowledgements(entries);
    let (Some(first), Some(last)) = (moments.first().copied(), moments.last().copied()) else {
        return OutageRecord::default();
    };
    let resolution_s = seconds(last - first) / (moments.len().max(2) - 1) as f64;
    let (client_outage_s_median, client_outage_s_max) = of_clients(entries);
    let hung = |entry: &&LedgerEntry| seconds(entry.ended_us - entry.begun_us) >= timeout_s * HUNG;
    let record = OutageRecord {
        resolution_s,
        hung: unanswered(entries).filter(hung).count() as u64,
        client_outage_s_median,
        client_outage_s_max,
        ..OutageRecord::default()
    };
    // An outage may last to the end of the run, or longer.
    let end = unanswered(entries).map(|entry| entry.ended_us).chain([until_us]).max().filter(|end| *end > last);
    let whole: Vec<u64> = moments.iter().copied().chain(end).collect();
    let Some((gap, from)) = longest_gap(&whole) else { return record };
    if gap < OUTAGE_US_MIN || seconds(gap) < TIMES_LONGER * resolution_s {
        return record;
    }
    let first_error =
        unanswered(entries).map(|entry| entry.ended_us).filter(|at| (from..=from + gap).contains(at)).min();
    let recovered = recovery_us(&moments, from, from + gap);
    let end_us = end.unwrap_or(last);
    let recovered_us = recovered.unwrap_or(end_us);
    let span = OutageSpan { entries, origin_us, gap: from..from + gap, recovered_us, end_us };
    OutageRecord {
        work_lost: Some(span.work_lost()),
        course: Some(span.course()),
        outage_s: Some(seconds(gap)),
        outage_from_s: Some(seconds(from - origin_us)),
        is_over: from + gap <= last,
        first_error_s: first_error.map(|at| seconds(at - from)),
        recovery_s: recovered.map(|at| seconds(at - from)),
        ..record
    }
}

/// Returns the commits that failed or are unknown.
fn unanswered(entries: &[LedgerEntry]) -> impl Iterator<Item = &LedgerEntry> {
    entries.iter().filter(|entry| matches!(entry.class, MarkerClass::Failed | MarkerClass::Unknown))
}

/// Returns the median and the maximum of the longest gaps of the clients.
fn of_clients(entries: &[LedgerEntry]) -> (Option<f64>, Option<f64>) {
    let mut by_client: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.class.is_acknowledged()) {
        by_client.entry(entry.client).or_default().push(entry.ended_us);
    }
    by_client.values_mut().for_each(|moments| moments.sort_unstable());
    let mut gaps: Vec<u64> =
        by_client.values().filter_map(|moments| longest_gap(moments)).map(|(gap, _)| gap).collect();
    gaps.sort_unstable();
    (gaps.get(gaps.len() / 2).copied().map(seconds), gaps.last().copied().map(seconds))
}

/// Returns the start of the first second after an outage at which the former rate is nearly reached and lasts.
fn recovery_us(moments: &[u64], from: u64, until: u64) -> Option<u64> {
    const SECOND_US: u64 = 1_000_000;
    let (first, last) = (*moments.first()?, *moments.last()?);
    let before = moments.partition_point(|at| *at <= from);
    // A rate of less than a second is none.
    let former_per_s = before as f64 / seconds((from - first).max(SECOND_US));
    let whole_seconds = ((last.checked_sub(until)? + 1) / SECOND_US) as usize;
    let count = |second: usize| {
        let start = until + second as u64 * SECOND_US;
        let within = moments.partition_point(|at| *at < start)..moments.partition_point(|at| *at < start + SECOND_US);
        within.len() as f64
    };
    let rates: Vec<f64> = (0..whole_seconds).map(count).collect();
    let lasts = |second: &usize| {
        let rest = &rates[*second..whole_seconds.min(second + LASTING_S)];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        rest[0] >= RECOVERED * former_per_s && mean >= RECOVERED * former_per_s
    };
    (0..whole_seconds).find(lasts).map(|second| until + second as u64 * SECOND_US)
}

fn endpoints(entries: &[LedgerEntry], origin_us: u64) -> Vec<LedgerEndpointRecord> {
    let mut servers: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.class.is_acknowledged()) {
        let (number, first, last) = servers.entry(&entry.server).or_insert((0, u64::MAX, 0));
        *number += 1;
        (*first, *last) = (entry.ended_us.min(*first), entry.ended_us.max(*last));
    }
    let record = |(address, (acknowledged, first, last)): (&str, (u64, u64, u64))| LedgerEndpointRecord {
        address: address.to_owned(),
        acknowledged,
        first_s: seconds(first - origin_us),
        last_s: seconds(last - origin_us),
    };
    let mut records: Vec<_> = servers.into_iter().map(record).collect();
    records.sort_by(|a, b| a.first_s.total_cmp(&b.first_s));
    records
}

/// Returns how long two servers acknowledged commits at the same time.
fn overlap_s(entries: &[LedgerEntry]) -> Option<f64> {
    let spells: Vec<_> = spells(entries).into_values().collect();
    let pairs =
        spells.iter().enumerate().flat_map(|(nth, one)| spells[nth + 1..].iter().map(move |other| (one, other)));
    let overlap = |(one, other): (&Vec<Spell>, &Vec<Spell>)| {
        let both = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
        both.map(|(one, other)| one.beside(other)).sum()
    };
    pairs.map(overlap).max().filter(|overlap: &u64| *overlap > 0).map(seconds)
}

/// A time in which a server acknowledged commits.
struct Spell {
    first_us: u64,
    last_us: u64,
}

impl Spell {
    /// Returns how long it was at the same time as another server's; a single acknowledgement within that is a millisecond.
    fn beside(&self, other: &Self) -> u64 {
        const MOMENT_US: u64 = 1_000;
        let common = self.last_us.min(other.last_us).saturating_sub(self.first_us.max(other.first_us));
        let is_within = |one: &Self, other: &Self| other.first_us < one.first_us && one.last_us < other.last_us;
        if is_within(self, other) || is_within(other, self) { common.max(MOMENT_US) } else { common }
    }
}

/// Returns the spells of each server. One ends where the server acknowledges nothing for a second and another does: after a failover to
/// another server and back, each had its turn.
fn spells(entries: &[LedgerEntry]) -> BTreeMap<&str, Vec<Spell>> {
    const PAUSE_US: u64 = 1_000_000;
    let mut acknowledged: Vec<_> = entries.iter().filter(|entry| entry.class.is_acknowledged()).collect();
    acknowledged.sort_unstable_by_key(|entry| entry.ended_us);
    let mut spells: BTreeMap<&str, Vec<Spell>> = BTreeMap::new();
    for entry in acknowledged {
        let (server, at) = (&*entry.server, entry.ended_us);
        let last_of = |spells: &[Spell]| spells.last().map(|spell| spell.last_us);
        let others =
            spells.iter().filter(|(other, _)| **other != server).filter_map(|(_, spells)| last_of(spells)).max();
        let own = spells.entry(server).or_default();
        match own.last_mut() {
            Some(spell) if at - spell.last_us < PAUSE_US || others.is_none_or(|other| other <= spell.last_us) => {
                spell.last_us = at;
            }
            _ => own.push(Spell { first_us: at, last_us: at }),
        }
    }
    spells
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::account::tests::entry;
    use super::*;

    const ACKNOWLEDGED: MarkerClass = MarkerClass::Acknowledged;

    /// Returns 100 commits a second of client 1 in these seconds.
    fn commits(from_s: u32, until_s: u32) -> Vec<LedgerEntry> {
        let number = |nth: u32| u64::from(nth) + 1;
        (from_s * 100..until_s * 100)
            .map(|nth| entry(number(nth), ACKNOWLEDGED, 0.01 + f64::from(nth) / 100.0))
            .collect()
    }

    fn record(entries: &[LedgerEntry]) -> LedgerRecord {
        let mut record = LedgerRecord::default();
        fill(entries, 5.0, 0, &mut record);
        record
    }

    fn rounded(seconds: Option<f64>) -> Option<f64> {
        seconds.map(|seconds| (seconds * 100.0).round() / 100.0)
    }

    #[test]
    fn commits_without_a_gap_have_no_outage() {
        let outage = record(&commits(0, 10)).outage;
        assert_eq!((outage.outage_s, rounded(Some(outage.resolution_s))), (None, Some(0.01)));
        assert_eq!(rounded(outage.client_outage_s_max), Some(0.01));
    }

    #[test]
    fn an_outage_has_its_start_its_first_error_and_its_recovery() {
        let mut entries = commits(0, 10);
        entries.push(entry(8_999, MarkerClass::Failed, 5.0));
        entries.push(entry(9_000, MarkerClass::Unknown, 10.4));
        entries.push(LedgerEntry { begun_us: 7_000_000, ..entry(9_001, MarkerClass::Unknown, 12.0) });
        // A second of a slow start.
        entries.extend(commits(15, 16).into_iter().step_by(5));
        entries.extend(commits(16, 30));
        let outage = record(&entries).outage;
        assert_eq!((rounded(outage.outage_s), rounded(outage.outage_from_s)), (Some(5.01), Some(9.99)));
        assert_eq!((rounded(outage.first_error_s), outage.hung, outage.is_over), (Some(0.4), 1, true));
        assert_eq!(rounded(outage.recovery_s), Some(6.01));
        assert_eq!(rounded(outage.client_outage_s_median), Some(5.01));
        // Threads write their commits one after the other.
        entries.reverse();
        assert_eq!(record(&entries).outage, outage);
    }

    #[test]
    fn the_longest_of_several_gaps_is_the_outage_and_each_client_has_its_own() {
        let of = |client: u32, entries: Vec<LedgerEntry>| {
            entries.into_iter().map(move |entry| LedgerEntry { client, ..entry }).collect::<Vec<_>>()
        };
        let one = of(1, [commits(0, 5), commits(7, 20), commits(27, 30), commits(31, 40)].concat());
        // Another client is away for longer while the first one commits.
        let other = of(2, [commits(0, 10), commits(29, 40)].concat());
        let third = of(3, [commits(0, 20), commits(26, 40)].concat());
        let outage = record(&[one, other, third].concat()).outage;
        assert_eq!((rounded(outage.outage_s), rounded(outage.outage_from_s)), (Some(6.01), Some(19.99)));
        assert_eq!(rounded(outage.client_outage_s_median), Some(7.01));
        assert_eq!(rounded(outage.client_outage_s_max), Some(19.01));
    }

    #[test]
    fn a_short_gap_is_no_outage_nor_is_one_among_rare_commits() {
        let mut entries = commits(0, 10);
        entries.retain(|entry| !(5_000_000..5_300_000).contains(&entry.ended_us));
        assert_eq!(record(&entries).outage.outage_s, None);
        let rare: Vec<_> = [commits(0, 20), commits(23, 40)].concat().into_iter().step_by(50).collect();
        assert_eq!(record(&rare).outage.outage_s, None, "two commits a second, and a pause of 3 s");
    }

    #[test]
    fn a_rate_that_is_reached_for_a_second_only_is_no_recovery() {
        let slow = commits(16, 22).into_iter().step_by(5).collect();
        let entries = [commits(0, 10), commits(15, 16), slow, commits(22, 40)].concat();
        assert_eq!(rounded(record(&entries).outage.recovery_s), Some(12.01));
    }

    #[test]
    fn an_outage_that_does_not_end_is_one() {
        let mut entries = commits(0, 10);
        entries.push(entry(9_000, MarkerClass::Failed, 22.0));
        let outage = record(&entries).outage;
        assert_eq!((rounded(outage.outage_s), outage.is_over, outage.recovery_s), (Some(12.0), false, None));
        // Clients that only try to connect leave no trace: the end of the window shows it.
        let mut record = LedgerRecord::default();
        fill(&commits(0, 10), 5.0, 25_000_000, &mut record);
        assert_eq!((rounded(record.outage.outage_s), record.outage.is_over), (Some(15.0), false));
    }

    #[test]
    fn two_servers_that_acknowledge_at_the_same_time_are_seen() {
        let on = |server: &str, from_s, until_s| {
            commits(from_s, until_s)
                .into_iter()
                .map(|entry| LedgerEntry { server: server.into(), ..entry })
                .collect::<Vec<_>>()
        };
        let apart = record(&[on("a", 0, 5), on("b", 6, 9)].concat());
        assert_eq!((apart.overlap_s, apart.endpoints.len(), apart.endpoints[1].acknowledged), (None, 2, 300));
        let both = [on("a", 0, 5), on("b", 3, 9)].concat();
        let backwards: Vec<_> = both.iter().rev().cloned().collect();
        let both = record(&both);
        assert_eq!(record(&backwards).endpoints, both.endpoints);
        assert_eq!(rounded(both.overlap_s), Some(1.99));
        // Of three servers, the first and the last acknowledged together for the longest time.
        let three = record(&[on("a", 0, 9), on("b", 1, 2), on("c", 5, 8)].concat());
        assert_eq!(rounded(three.overlap_s), Some(2.99));
        // To another server and back: one after the other.
        let back = record(&[on("a", 0, 3), on("b", 4, 9), on("a", 10, 12)].concat());
        assert_eq!((back.overlap_s, back.endpoints.len()), (None, 2));
        // A former primary that acknowledges now and then beside the new one.
        let now_and_then: Vec<_> = on("a", 0, 9).into_iter().step_by(150).chain(on("b", 2, 8)).collect();
        assert!(record(&now_and_then).overlap_s.is_some_and(|overlap_s| overlap_s >= 0.001));
    }
}
