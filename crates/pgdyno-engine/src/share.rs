//! The share of a run that one of several drivers has.

use std::ops::Range;

/// One of several drivers that are one run. Each runs a block of the run's engine threads, and with them their clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunShare {
    /// The driver's number, from 0.
    pub driver: usize,
    /// The number of drivers, at least 1.
    pub drivers: usize,
}

impl RunShare {
    /// Returns the driver's threads. They are dealt in blocks, the remainder to the first drivers, as clients are dealt
    /// over threads. Empty if there are more drivers than threads and this one is left over.
    #[must_use]
    pub fn threads(self, threads: usize) -> Range<usize> {
        let first = |driver: usize| driver * (threads / self.drivers) + driver.min(threads % self.drivers);
        first(self.driver)..first(self.driver + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_one_driver() {
        for (threads, drivers) in [(1, 1), (8, 4), (10, 4), (3, 3), (2, 5)] {
            let shares = (0..drivers).map(|driver| RunShare { driver, drivers }.threads(threads));
            assert_eq!(shares.flatten().collect::<Vec<_>>(), (0..threads).collect::<Vec<_>>());
        }
        assert_eq!(RunShare { driver: 1, drivers: 4 }.threads(10), 3..6);
        assert!(RunShare { driver: 4, drivers: 5 }.threads(2).is_empty());
    }
}
