//! Intervals of a run and the totals of its measured window.

use crate::ThreadCounts;

/// Phase of a stage, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Warming up: recorded, not counted.
    Ramp,
    /// The measured window.
    Measure,
    /// After the window: transactions in flight may end, and none begins.
    Drain,
}

impl Phase {
    /// Returns the name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ramp => "ramp",
            Self::Measure => "measure",
            Self::Drain => "drain",
        }
    }
}

/// Usage of one engine thread in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerUsage {
    /// CPU time of the thread in user mode.
    pub user_ns: u64,
    /// CPU time of the thread in the kernel.
    pub sys_ns: u64,
    /// Time in which the thread was runnable without a CPU; 0 if unknown.
    pub run_delay_ns: u64,
    /// Part of the CPU time: serving groups that are not in the stage's figures, such as streams of queries beside transactions.
    pub beside_ns: u64,
    /// Whole intervals in which the thread did not run at all although it was due at their ends: the process was stopped, or had
    /// no CPU.
    pub absent_ns: u64,
}

impl WorkerUsage {
    /// Returns the CPU time, user and kernel.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.sys_ns
    }

    /// Returns the CPU time without that for groups that are not in the stage's figures.
    #[must_use]
    pub fn headline_cpu_ns(&self) -> u64 {
        self.cpu_ns().saturating_sub(self.beside_ns)
    }

    /// Adds another usage.
    pub fn add(&mut self, other: Self) {
        self.user_ns += other.user_ns;
        self.sys_ns += other.sys_ns;
        self.run_delay_ns += other.run_delay_ns;
        self.beside_ns += other.beside_ns;
        self.absent_ns += other.absent_ns;
    }
}

/// Counts of all threads in one interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Number from 0, over all stages.
    pub index: u64,
    /// The stage, from 0.
    pub stage: usize,
    /// The phase; an interval never spans two.
    pub phase: Phase,
    /// Start, since the start of the run.
    pub start_ns: u64,
    /// End, since the start of the run.
    pub end_ns: u64,
    /// The sum over threads and groups.
    pub part: ThreadCounts,
    /// Transactions in flight at the end, over all threads and groups.
    pub in_flight: u64,
    /// By thread.
    pub workers: Vec<WorkerUsage>,
    /// By group of clients, if the stage has several.
    pub groups: Vec<GroupInterval>,
}

/// Counts of one group's clients in one interval, on all threads of a run or of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupInterval {
    /// The counts.
    pub part: ThreadCounts,
    /// Transactions in flight at the end.
    pub in_flight: u64,
}

impl Interval {
    /// Returns its length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    /// Returns committed transactions a second.
    #[must_use]
    pub fn tps(&self) -> f64 {
        let committed: u64 = self.part.txns.iter().map(|t| t.committed).sum();
        if self.seconds() > 0.0 { committed as f64 / self.seconds() } else { 0.0 }
    }
}

/// The sum of the intervals of one phase.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The counts.
    pub part: ThreadCounts,
    /// Start of the first interval.
    pub start_ns: u64,
    /// End of the last interval.
    pub end_ns: u64,
    /// Number of intervals.
    pub intervals: u64,
    /// Transactions in flight when the first interval began.
    pub in_flight_at_start: u64,
    /// Transactions in flight when the last interval ended.
    pub in_flight_at_end: u64,
    /// By thread.
    pub workers: Vec<WorkerUsage>,
}

impl Totals {
    /// Adds the next interval. `in_flight_before` is the number in flight at the end of the interval before it.
    pub fn add(&mut self, interval: &Interval, in_flight_before: u64) {
        if self.intervals == 0 {
            self.start_ns = interval.start_ns;
            self.in_flight_at_start = in_flight_before;
        }
        self.intervals += 1;
        self.end_ns = interval.end_ns;
        self.in_flight_at_end = interval.in_flight;
        self.part.merge(&interval.part);
        self.workers.resize(self.workers.len().max(interval.workers.len()), WorkerUsage::default());
        for (mine, theirs) in self.workers.iter_mut().zip(&interval.workers) {
            mine.add(*theirs);
        }
    }

    /// Returns this phase and the next one as one.
    #[must_use]
    pub fn and(&self, next: &Self) -> Self {
        if self.intervals == 0 || next.intervals == 0 {
            return if next.intervals == 0 { self.clone() } else { next.clone() };
        }
        let mut both = self.clone();
        both.part.merge(&next.part);
        // What was in flight between the two has ended in the next one, or is in flight at its end.
        both.part.in_flight.clone_from(&next.part.in_flight);
        both.end_ns = next.end_ns;
        both.intervals += next.intervals;
        both.in_flight_at_end = next.in_flight_at_end;
        both.workers.resize(both.workers.len().max(next.workers.len()), WorkerUsage::default());
        for (mine, theirs) in both.workers.iter_mut().zip(&next.workers) {
            mine.add(*theirs);
        }
        both
    }

    /// Returns the length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    /// Returns the share of the time that each thread was on a CPU, 0 to 1.
    pub fn busy(&self) -> impl Iterator<Item = f64> {
        let wall_ns = (self.end_ns - self.start_ns).max(1) as f64;
        self.workers.iter().map(move |w| w.cpu_ns() as f64 / wall_ns)
    }

    /// Returns the CPUs that these threads used for groups that are not in the stage's figures; `None` if they had none to do
    /// with.
    #[must_use]
    pub fn beside_busy(&self, workers: &[WorkerUsage]) -> Option<f64> {
        let beside_ns: u64 = workers.iter().map(|worker| worker.beside_ns).sum();
        (beside_ns > 0).then(|| beside_ns as f64 / (self.end_ns - self.start_ns).max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;

    fn interval(phase: Phase, start_ns: u64, in_flight: u64, ended: u64) -> Interval {
        let mut recorder = Recorder::new(1, 0, false);
        for _ in 0..ended {
            recorder.started(0);
            recorder.completed(0, true, 1, 1, false);
        }
        let workers = vec![WorkerUsage { user_ns: 5, ..WorkerUsage::default() }];
        let (part, end_ns) = (recorder.take(), start_ns + 10);
        Interval { index: 0, stage: 0, phase, start_ns, end_ns, part, in_flight, workers, groups: vec![] }
    }

    #[test]
    fn a_phase_and_the_next_one_are_as_one_of_all_their_intervals() {
        let (first, second) = (interval(Phase::Measure, 10, 3, 4), interval(Phase::Drain, 20, 1, 2));
        let (mut measured, mut drain, mut all) = (Totals::default(), Totals::default(), Totals::default());
        measured.add(&first, 2);
        drain.add(&second, 3);
        all.add(&first, 2);
        all.add(&second, 3);
        let both = measured.and(&drain);
        let facts = |t: &Totals| (t.start_ns, t.end_ns, t.intervals, t.in_flight_at_start, t.in_flight_at_end);
        assert_eq!((facts(&both), &both.part, &both.workers), (facts(&all), &all.part, &all.workers));
        assert_eq!(facts(&measured.and(&Totals::default())), facts(&measured));
        assert_eq!(facts(&Totals::default().and(&drain)), facts(&drain));
    }
}
