//! When transactions are meant to start.
//!
//! Closed loop: as soon as the last one ended. Open loop: on a schedule of arrivals that does not wait for
//! the server, so that its stalls are not hidden (coordinated omission).

use pgdyno_workload::Rng;

use crate::Tick;

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Uniform,
    /// At exponentially distributed distances, as independent users arrive; pgbench's `--rate`.
    Poisson,
}

/// A rate of the whole run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Transactions a second, over all threads.
    pub per_s: f64,
    /// How they are spread.
    pub arrivals: Arrivals,
}

/// The schedule of one thread.
#[derive(Debug)]
pub enum Pacer {
    /// No schedule: a transaction is meant to start when its client is ready for it.
    Closed,
    /// A schedule.
    Open(Schedule),
}

/// Arrivals of one thread in an open loop.
#[derive(Debug)]
pub struct Schedule {
    arrivals: Arrivals,
    mean_gap_ns: f64,
    /// In floating point, so that rounding does not add up over a long run.
    next_ns: f64,
    rng: Rng,
}

impl Pacer {
    /// The schedule of thread `index` of `threads`: the threads' arrivals together make `rate`.
    #[must_use]
    pub fn new(rate: Option<Rate>, index: usize, threads: usize, mut rng: Rng) -> Self {
        let Some(Rate { per_s, arrivals }) = rate else {
            return Self::Closed;
        };
        let mean_gap_ns = 1e9 * threads as f64 / per_s;
        let next_ns = match arrivals {
            Arrivals::Uniform => mean_gap_ns * index as f64 / threads as f64,
            Arrivals::Poisson => rng.exponential(mean_gap_ns),
        };
        Self::Open(Schedule { arrivals, mean_gap_ns, next_ns, rng })
    }

    /// The next intended start. In a closed loop that is `ready`, in an open loop the next arrival, which
    /// may well have passed.
    #[inline]
    pub fn intended(&mut self, ready: Tick) -> Tick {
        match self {
            Self::Closed => ready,
            Self::Open(schedule) => schedule.next(),
        }
    }

    /// Whether there is a schedule.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

impl Schedule {
    fn next(&mut self) -> Tick {
        let arrival = Tick(self.next_ns as u64);
        self.next_ns += match self.arrivals {
            Arrivals::Uniform => self.mean_gap_ns,
            Arrivals::Poisson => self.rng.exponential(self.mean_gap_ns),
        };
        arrival
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
        // Up to the moment when the first thread ran out of arrivals.
        let gaps: Vec<f64> = all[..19_000].windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1e6).abs() < 3e4, "mean gap {mean}");
        assert!((deviation / mean - 1.0).abs() < 0.05, "an exponential's deviation is its mean: {}", deviation / mean);
    }

    #[test]
    fn a_closed_loop_starts_when_the_client_is_ready() {
        let mut pacer = Pacer::new(None, 0, 1, Rng::new(0));
        assert_eq!(pacer.intended(Tick(77)), Tick(77));
    }
}
