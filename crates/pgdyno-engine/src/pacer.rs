//! Intended starts of transactions.
//!
//! Closed loop: when the client's last transaction ended. Open loop: on a schedule of arrivals that does not wait for
//! the server, so that stalls of the server are not hidden (coordinated omission).

mod steps;

use pgdyno_workload::{Arrivals, RATE_MAX_PER_S, Rate, RateSteps, Rng};

use crate::Tick;
use steps::StepClock;

/// From this many arrivals on, they are counted by arithmetic and not one by one.
const MANY: f64 = 10_000.0;

/// The schedule of one thread.
#[derive(Debug)]
pub enum Pacer {
    /// No schedule: a transaction is intended to start when its client is ready.
    Closed,
    /// A schedule.
    Open(Schedule),
}

/// Arrivals of one thread in an open loop.
#[derive(Debug)]
pub struct Schedule {
    arrivals: Arrivals,
    mean_gap_ns: f64,
    /// In floating point, so that rounding errors do not add up over a long run.
    next_ns: f64,
    rng: Rng,
    /// Arrivals drawn so far.
    drawn: u64,
    /// For a rate that changes: arrivals are those of a constant rate, on this clock, which goes as fast as the rate.
    clock: Option<Box<StepClock>>,
}

impl Pacer {
    /// Returns the schedule of thread `index` of `threads`. The arrivals of all threads together make `rate`.
    #[must_use]
    pub fn new(rate: Option<Rate>, index: usize, threads: usize, mut rng: Rng) -> Self {
        let Some(Rate { per_s, arrivals }) = rate else {
            return Self::Closed;
        };
        let mean_gap_ns = 1e9 * threads as f64 / per_s.min(RATE_MAX_PER_S);
        let next_ns = match arrivals {
            Arrivals::Uniform => mean_gap_ns * index as f64 / threads as f64,
            Arrivals::Poisson => rng.exponential(mean_gap_ns),
        };
        Self::Open(Schedule { arrivals, mean_gap_ns, next_ns, rng, drawn: 0, clock: None })
    }

    /// Returns the schedule of this rate with one that changes in steps from the begin of the measured window on. A closed loop stays
    /// one.
    #[must_use]
    pub fn in_steps(self, steps: Option<(Rate, &RateSteps)>, ramp_ns: u64) -> Self {
        match (self, steps) {
            (Self::Open(constant), Some((rate, steps))) => {
                let clock = StepClock::new(steps, ramp_ns, rate.per_s);
                Self::Open(Schedule { clock: Some(Box::new(clock)), ..constant })
            }
            (pacer, _) => pacer,
        }
    }

    /// Returns the next intended start: `ready` in a closed loop, the next arrival in an open loop. An arrival may
    /// lie in the past.
    #[inline]
    pub fn intended(&mut self, ready: Tick) -> Tick {
        match self {
            Self::Closed => ready,
            Self::Open(schedule) => schedule.next(),
        }
    }

    /// Skips all arrivals before `until`, but at most `at_most`. Returns how many it skipped. Takes the same time for
    /// any number.
    pub fn skip_to(&mut self, until: Tick, at_most: u64) -> u64 {
        match self {
            Self::Closed => 0,
            Self::Open(schedule) => schedule.skip_to(schedule.scheduled_ns(until), at_most),
        }
    }

    /// Returns true if there is a schedule.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Returns the number of arrivals drawn so far; `None` in a closed loop.
    pub(crate) fn drawn(&self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Open(schedule) => Some(schedule.drawn),
        }
    }

    /// Drops all arrivals up to `until`. Returns their number and the first of them. A very large number is replaced
    /// by its mean.
    pub(crate) fn leave(&mut self, until: Tick) -> (u64, Tick) {
        let first = match self {
            Self::Closed => return (0, until),
            Self::Open(schedule) => schedule.due(),
        };
        let until = Tick(until.0.saturating_add(1));
        (self.skip_to(until, u64::MAX), first)
    }
}

impl Schedule {
    /// Returns when the next arrival is due.
    fn due(&self) -> Tick {
        Tick(self.clock.as_ref().map_or(self.next_ns, |clock| clock.real(self.next_ns)) as u64)
    }

    /// Returns the time of the schedule at this time.
    fn scheduled_ns(&self, at: Tick) -> f64 {
        let at_ns = at.0 as f64;
        self.clock.as_ref().map_or(at_ns, |clock| clock.warped(at_ns))
    }

    fn next(&mut self) -> Tick {
        let arrival = self.due();
        self.draw();
        arrival
    }

    /// Draws the arrival after the next one.
    fn draw(&mut self) {
        self.drawn += 1;
        self.next_ns += match self.arrivals {
            Arrivals::Uniform => self.mean_gap_ns,
            Arrivals::Poisson => self.rng.exponential(self.mean_gap_ns),
        };
    }

    fn skip_to(&mut self, until_ns: f64, at_most: u64) -> u64 {
        let expected = (until_ns - self.next_ns) / self.mean_gap_ns;
        if expected < MANY {
            let mut skipped = 0;
            while self.next_ns < until_ns && skipped < at_most {
                self.draw();
                skipped += 1;
            }
            return skipped;
        }
        // The next arrival is one of them.
        let all = match self.arrivals {
            Arrivals::Uniform => expected.ceil(),
            // Such a large number of arrivals is normally distributed; its variance is its mean.
            Arrivals::Poisson => (1.0 + expected + expected.sqrt() * self.rng.normal()).round(),
        };
        let skipped = (all as u64).min(at_most);
        self.drawn += skipped;
        if skipped < all as u64 {
            self.next_ns += self.mean_gap_ns * at_most as f64;
            return skipped;
        }
        match self.arrivals {
            Arrivals::Uniform => self.next_ns = (self.next_ns + self.mean_gap_ns * all).max(until_ns),
            // The time since the last arrival says nothing about the next one.
            Arrivals::Poisson => self.next_ns = until_ns + self.rng.exponential(self.mean_gap_ns),
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(rate: Rate, threads: usize, n: usize) -> Vec<u64> {
        let mut all: Vec<u64> = (0..threads)
            .flat_map(|i| {
                let mut pacer = Pacer::new(Some(rate), i, threads, Rng::derive(1, "pacer", &[i as u64]));
                (0..n / threads).map(move |_| pacer.intended(Tick(0)).0).collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn uniform_arrivals_of_all_threads_interleave_at_equal_distances() {
        let all = arrivals(Rate { per_s: 1000.0, arrivals: Arrivals::Uniform }, 4, 40);
        assert_eq!(all, (0..40).map(|i| i * 1_000_000).collect::<Vec<u64>>());
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread() {
        let all = arrivals(Rate { per_s: 1000.0, arrivals: Arrivals::Poisson }, 2, 20_000);
        // Up to the time at which the first thread ran out of arrivals.
        let gaps: Vec<f64> = all[..19_000].windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1e6).abs() < 3e4, "mean gap {mean}");
        assert!((deviation / mean - 1.0).abs() < 0.05, "an exponential's deviation is its mean: {}", deviation / mean);
    }

    #[test]
    fn skipping_passes_over_as_many_arrivals_as_there_are() {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            for (per_s, scheduled) in [(1e3, 1e3), (1e6, 1e6), (1e9, 1e9), (f64::INFINITY, RATE_MAX_PER_S)] {
                let mut pacer = Pacer::new(Some(Rate { per_s, arrivals }), 0, 1, Rng::new(7));
                let (mut skipped, mut drawn, mut last) = (0, 0, Tick(0));
                for second in 1..=100 {
                    let until = Tick(second * 1_000_000_000);
                    skipped += pacer.skip_to(until, u64::MAX);
                    let next = pacer.intended(until);
                    assert!(next >= until && next >= last, "{arrivals:?} {per_s}: {next:?} {until:?}");
                    (drawn, last) = (drawn + 1, next);
                }
                let expected = scheduled * 100.0;
                let chance = if arrivals == Arrivals::Poisson { 6.0 * expected.sqrt() } else { 100.0 };
                assert!(((skipped + drawn) as f64 - expected).abs() < chance, "{arrivals:?} {per_s}: {skipped}");
            }
        }
    }

    #[test]
    fn no_more_arrivals_are_skipped_than_are_asked_for() {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            let mut pacer = Pacer::new(Some(Rate { per_s: 1e9, arrivals }), 0, 1, Rng::new(7));
            assert_eq!(
                (pacer.skip_to(Tick(1_000_000_000), 70_000), pacer.skip_to(Tick(1_000_000_000), 7)),
                (70_000, 7)
            );
            let next = pacer.intended(Tick(0));
            assert!((70_000..=70_010).contains(&next.0), "{next:?}");
        }
    }

    /// Returns the arrivals of a rate in steps within so many seconds.
    fn stepped(steps: &RateSteps, arrivals: Arrivals, ramp_s: u64, seconds: u64) -> Vec<u64> {
        let rate = Rate { per_s: steps.mean_per_s(0.0, steps.length_s()), arrivals };
        let mut all: Vec<u64> = (0..3)
            .flat_map(|i| {
                let pacer = Pacer::new(Some(rate), i, 3, Rng::derive(5, "pacer", &[i as u64]));
                let mut pacer = pacer.in_steps(Some((rate, steps)), ramp_s * 1_000_000_000);
                let next = move || pacer.intended(Tick(0)).0;
                std::iter::repeat_with(next).take_while(|at| *at < seconds * 1_000_000_000).collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_rate_in_steps_has_the_arrivals_of_each_step() {
        let steps = RateSteps { per_s: 1000.0, step_s: 10.0, steps: vec![1.0, 0.0, 3.5, 0.5] };
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            let all = stepped(&steps, arrivals, 10, 90);
            // The warm-up has the first step; the ninth step is the first of the third round.
            for (tenth, factor) in [1.0, 1.0, 0.0, 3.5, 0.5, 1.0, 0.0, 3.5, 0.5].into_iter().enumerate() {
                let begin = tenth as u64 * 10_000_000_000;
                let found = all.iter().filter(|at| (begin..begin + 10_000_000_000).contains(at)).count() as f64;
                let expected = factor * 10_000.0;
                let chance = if arrivals == Arrivals::Poisson { 5.0 * f64::sqrt(expected) } else { 3.0 };
                assert!((found - expected).abs() <= chance, "{arrivals:?}, step {tenth}: {found} for {expected}");
            }
        }
        let first = &stepped(&steps, Arrivals::Uniform, 0, 1)[..4];
        assert_eq!(first, [0, 1_000_000, 2_000_000, 3_000_000], "threads interleave");
    }

    #[test]
    fn arrivals_of_a_rate_in_steps_are_skipped_as_those_of_one_rate() {
        let steps = RateSteps { per_s: 2e5, step_s: 0.5, steps: vec![0.0, 4.0, 1.0] };
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            let rate = Rate { per_s: 1e5, arrivals };
            let mut pacer = Pacer::new(Some(rate), 0, 1, Rng::new(7)).in_steps(Some((rate, &steps)), 0);
            let (mut passed, mut last) = (0, Tick(0));
            for tenth in 1..=100_u64 {
                let until = Tick(tenth * 100_000_000);
                passed += pacer.skip_to(until, u64::MAX);
                let next = pacer.intended(until);
                // A nanosecond is lost where the clock's time is rounded.
                assert!(next.0 + 2 >= until.0 && next >= last, "{arrivals:?}: {next:?} {until:?}");
                (passed, last) = (passed + 1, next);
                let expected = steps.arrivals_until(tenth as f64 / 10.0);
                let chance = if arrivals == Arrivals::Poisson { 6.0 * expected.sqrt() } else { 0.0 };
                // Where nothing arrives, the next arrival is drawn ahead each time.
                let chance = chance + 10.0;
                assert!((passed as f64 - expected).abs() < chance, "{arrivals:?} at {tenth}: {passed} for {expected}");
            }
            assert_eq!(pacer.drawn(), Some(passed));
            let (left, first) = pacer.leave(Tick(10_500_000_000));
            assert!(first >= last && left > 0 && pacer.intended(Tick(0)) > Tick(10_500_000_000));
        }
    }

    #[test]
    fn a_closed_loop_starts_when_the_client_is_ready() {
        let mut pacer = Pacer::new(None, 0, 1, Rng::new(0));
        assert_eq!(pacer.intended(Tick(77)), Tick(77));
    }
}
