//! Merges the parts of several sources, engine threads or drivers, into the intervals of a run.

use std::collections::BTreeMap;

use crate::{GroupInterval, Interval, Phase, ThreadCounts, Totals, WorkerUsage};

/// The part of an interval that one source contributes: an engine thread, or a driver with all its threads.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalPart {
    /// The phase.
    pub phase: Phase,
    /// Number of the interval within the source and the stage.
    pub index: u64,
    /// Start, since the start of the stage.
    pub start_ns: u64,
    /// End, since the start of the stage.
    pub end_ns: u64,
    /// By group of clients, also if there is only one.
    pub groups: Vec<GroupInterval>,
    /// By thread of the source.
    pub workers: Vec<WorkerUsage>,
}

impl From<&Interval> for IntervalPart {
    /// Returns an interval of a run with one stage as the part of a larger run.
    fn from(interval: &Interval) -> Self {
        let groups = match interval.groups.as_slice() {
            [] => vec![GroupInterval { part: interval.part.clone(), in_flight: interval.in_flight }],
            groups => groups.to_vec(),
        };
        Self {
            phase: interval.phase,
            index: interval.index,
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            groups,
            workers: interval.workers.clone(),
        }
    }
}

/// The totals of each phase of a stage.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// Warm-up.
    pub ramp: Totals,
    /// The measured window.
    pub measured: Totals,
    /// Transactions that ended after the window.
    pub drain: Totals,
}

impl Phases {
    fn of(&mut self, phase: Phase) -> &mut Totals {
        match phase {
            Phase::Ramp => &mut self.ramp,
            Phase::Measure => &mut self.measured,
            Phase::Drain => &mut self.drain,
        }
    }
}

/// The place of a stage within a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct StagePlace {
    /// Number of the stage.
    pub stage: usize,
    /// Time from the start of the run to the start of the stage.
    pub offset_ns: u64,
    /// Number of the stage's first interval.
    pub first_interval: u64,
}

/// Position of an interval within a stage: its phase, and its number within the source.
type Position = (Phase, u64);

/// An interval that some sources have not closed yet.
struct Open {
    start_ns: u64,
    end_ns: u64,
    workers: Vec<WorkerUsage>,
    /// By group.
    parts: Vec<ThreadCounts>,
    /// Transactions in flight at its end, by source and group; `None` if the source did not close it.
    in_flight: Vec<Option<Vec<u64>>>,
}

/// Merges the parts of one stage's intervals. All counts are integers: the result does not depend on how clients are
/// divided into sources, nor on the order in which parts arrive.
pub struct Merger {
    place: StagePlace,
    /// Number of each source's first thread.
    first_thread: Vec<usize>,
    threads: usize,
    open: BTreeMap<Position, Open>,
    /// The last interval that each source closed. If the run ends early, sources may close different ones.
    passed: Vec<Option<Position>>,
    /// Transactions in flight, by source and group, at the end of the last merged interval.
    in_flight: Vec<Vec<u64>>,
    next_interval: u64,
    /// By group, whether the figures of the stage include it.
    headline: Vec<bool>,
    all: Phases,
    /// By group, if there are several.
    by_group: Vec<Phases>,
}

impl Merger {
    /// Returns a merger of sources with so many threads each. `headline` says for each group of clients whether the
    /// figures of the stage include it.
    #[must_use]
    pub fn new(threads: &[usize], headline: &[bool], place: StagePlace) -> Self {
        let groups = headline.len();
        let first_thread = threads.iter().scan(0, |next, threads| Some(std::mem::replace(next, *next + threads)));
        Self {
            place,
            first_thread: first_thread.collect(),
            threads: threads.iter().sum(),
            open: BTreeMap::new(),
            passed: vec![None; threads.len()],
            in_flight: vec![vec![0; groups]; threads.len()],
            next_interval: place.first_interval,
            headline: headline.to_vec(),
            all: Phases::default(),
            by_group: if groups > 1 { vec![Phases::default(); groups] } else { Vec::new() },
        }
    }

    /// Sets the time from the start of the run to the start of the stage. Several drivers agree on it when all of them have
    /// connected; parts come after that.
    pub fn begins_after(&mut self, offset_ns: u64) {
        self.place.offset_ns = offset_ns;
    }

    /// Adds a part of a source, which sends its parts in order. Returns the intervals that all sources have closed now.
    pub fn add(&mut self, source: usize, part: IntervalPart) -> Vec<Interval> {
        let IntervalPart { phase, index, start_ns, end_ns, groups, workers } = part;
        let (threads, sources) = (self.threads, self.passed.len());
        let open = self.open.entry((phase, index)).or_insert_with(|| Open {
            start_ns,
            end_ns,
            workers: vec![WorkerUsage::default(); threads],
            parts: vec![ThreadCounts::default(); groups.len()],
            in_flight: vec![None; sources],
        });
        open.end_ns = open.end_ns.max(end_ns);
        for (all, group) in open.parts.iter_mut().zip(&groups) {
            all.merge(&group.part);
        }
        for (all, usage) in open.workers[self.first_thread[source]..].iter_mut().zip(workers) {
            all.add(usage);
        }
        open.in_flight[source] = Some(groups.into_iter().map(|group| group.in_flight).collect());
        self.passed[source] = Some((phase, index));
        let all_passed = self.passed.iter().copied().min().flatten();
        let mut closed = Vec::new();
        while let Some(entry) = self.open.first_entry().filter(|entry| Some(*entry.key()) <= all_passed) {
            let (position, open) = entry.remove_entry();
            closed.push(self.close(position, open));
        }
        closed
    }

    /// Closes the intervals that are left: no source sends any more parts.
    pub fn finish(&mut self) -> Vec<Interval> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|(position, open)| self.close(position, open)).collect()
    }

    /// Returns the totals of the closed intervals.
    #[must_use]
    pub fn phases(&self) -> &Phases {
        &self.all
    }

    /// Returns the totals of all groups together and by group, if there are several groups.
    #[must_use]
    pub fn into_phases(self) -> (Phases, Vec<Phases>) {
        (self.all, self.by_group)
    }

    /// Returns the number of the next interval.
    #[must_use]
    pub fn next_interval(&self) -> u64 {
        self.next_interval
    }

    /// Returns the transactions in flight, by group.
    fn in_flight(&self) -> Vec<u64> {
        let groups = self.in_flight.first().map_or(0, Vec::len);
        (0..groups).map(|group| self.in_flight.iter().map(|by_group| by_group[group]).sum()).collect()
    }

    fn close(&mut self, (phase, index): Position, open: Open) -> Interval {
        let before = self.in_flight();
        for (mine, closed) in self.in_flight.iter_mut().zip(open.in_flight) {
            if let Some(closed) = closed {
                *mine = closed;
            }
        }
        let after = self.in_flight();
        let place = self.place;
        let interval = |part, in_flight, workers| Interval {
            index: place.first_interval + index,
            stage: place.stage,
            phase,
            start_ns: place.offset_ns + open.start_ns,
            end_ns: place.offset_ns + open.end_ns,
            part,
            in_flight,
            workers,
            groups: Vec::new(),
        };
        let mut sum = ThreadCounts::default();
        let mut groups = Vec::new();
        for (group, part) in open.parts.into_iter().enumerate() {
            let Some(totals) = self.by_group.get_mut(group) else {
                // The only group.
                sum = part;
                break;
            };
            if self.headline[group] {
                sum.merge(&part);
            }
            let interval = interval(part, after[group], Vec::new());
            totals.of(phase).add(&interval, before[group]);
            groups.push(GroupInterval { part: interval.part, in_flight: after[group] });
        }
        let headline =
            |counts: &[u64]| counts.iter().zip(&self.headline).filter(|(_, is)| **is).map(|(n, _)| n).sum::<u64>();
        let (before, after) = (headline(&before), headline(&after));
        let interval = Interval { groups, ..interval(sum, after, open.workers) };
        self.all.of(phase).add(&interval, before);
        self.next_interval = self.next_interval.max(interval.index + 1);
        interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ListBounds, Recorder};
    use proptest::prelude::*;

    const THREADS: usize = 6;
    const GROUPS: usize = 2;
    const INTERVALS: u64 = 4;

    /// Returns the parts of one thread: warm-up, two intervals of the window, and the drain.
    fn thread(thread: usize, latencies: &[u64]) -> Vec<IntervalPart> {
        let mut recorders: Vec<_> = (0..GROUPS).map(|_| Recorder::new(2, 3, false)).collect();
        (0..INTERVALS)
            .map(|index| {
                let recorded = latencies.iter().skip(index as usize * 3).take(7 + thread);
                for (nth, ns) in recorded.enumerate() {
                    let recorder = &mut recorders[nth % GROUPS];
                    recorder.started(nth % 2);
                    recorder.statement(nth % 3, ns / 2);
                    recorder.read_after(ns / 7);
                    if nth % 5 != 4 {
                        recorder.completed(nth % 2, nth % 3 != 0, *ns, *ns, false);
                    }
                }
                IntervalPart {
                    phase: [Phase::Ramp, Phase::Measure, Phase::Measure, Phase::Drain][index as usize],
                    index,
                    start_ns: index * 10,
                    end_ns: (index + 1) * 10,
                    groups: recorders
                        .iter_mut()
                        .map(|r| GroupInterval { part: r.take(), in_flight: r.in_flight() })
                        .collect(),
                    workers: vec![WorkerUsage {
                        user_ns: thread as u64,
                        sys_ns: index,
                        run_delay_ns: 1,
                        ..WorkerUsage::default()
                    }],
                }
            })
            .collect()
    }

    /// Returns all that a merger says, in words that show every digit.
    fn merged(threads: &[usize], parts: impl IntoIterator<Item = (usize, IntervalPart)>) -> (Vec<Interval>, String) {
        let mut merger = Merger::new(threads, &[true, false], StagePlace::default());
        let mut intervals: Vec<_> = parts.into_iter().flat_map(|(source, part)| merger.add(source, part)).collect();
        intervals.extend(merger.finish());
        let text = format!("{intervals:?} {:?} {:?}", merger.phases(), merger.by_group);
        (intervals, text)
    }

    proptest! {
        // A case has hundreds of histograms of 290 kB.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn several_drivers_are_as_one_to_the_last_digit(
            latencies in proptest::collection::vec(0u64..1 << 40, 30),
            order in proptest::collection::vec(any::<u16>(), THREADS * INTERVALS as usize),
            cut in 1..THREADS,
        ) {
            let parts: Vec<_> = (0..THREADS).map(|nth| thread(nth, &latencies)).collect();
            let alone = |threads: std::ops::Range<usize>| {
                let in_turn = (0..INTERVALS as usize).flat_map(|index| {
                    let (parts, first) = (&parts, threads.start);
                    threads.clone().map(move |nth| (nth - first, parts[nth][index].clone()))
                });
                merged(&vec![1; threads.len()], in_turn)
            };
            let (one, text) = alone(0..THREADS);
            prop_assert_eq!(one.len(), INTERVALS as usize);

            // Two drivers, whose reports arrive in some order, over a wire.
            let shape = ListBounds { groups: GROUPS, txns: 2, stmts: 3, tallies: 0, threads: THREADS, clients: 4 };
            let drivers = [alone(0..cut).0, alone(cut..THREADS).0];
            let mut queues = drivers.map(|intervals| intervals.iter().map(IntervalPart::from).collect::<Vec<_>>().into_iter());
            let mut arriving = Vec::new();
            for turn in order.iter().map(|n| usize::from(n % 2)).chain([0, 0, 0, 0, 1, 1, 1, 1]) {
                let next = queues[turn].next().map(|part| part.to_bytes());
                arriving.extend(next.map(|bytes| (turn, IntervalPart::from_bytes(&bytes, &shape).unwrap())));
            }
            prop_assert_eq!(merged(&[cut, THREADS - cut], arriving).1, text);
        }
    }

    #[test]
    fn an_interval_is_closed_when_its_last_source_is_past_it() {
        let (first, second) = (thread(0, &[5; 30]), thread(1, &[5; 30]));
        let mut merger =
            Merger::new(&[1, 1], &[true; GROUPS], StagePlace { stage: 1, offset_ns: 100, first_interval: 7 });
        assert!(merger.add(0, first[0].clone()).is_empty() && merger.add(0, first[1].clone()).is_empty());
        let closed = merger.add(1, second[0].clone());
        assert_eq!(
            closed.iter().map(|i| (i.index, i.stage, i.start_ns, i.end_ns)).collect::<Vec<_>>(),
            [(7, 1, 100, 110)]
        );
        // The second source is lost: what the first one counted is kept.
        let left = merger.finish();
        assert_eq!((left.len(), left[0].workers[1], merger.next_interval()), (1, WorkerUsage::default(), 9));
        assert_eq!(
            left[0].part.all().started,
            first[1].groups.iter().map(|group| group.part.all().started).sum::<u64>()
        );
    }
}
