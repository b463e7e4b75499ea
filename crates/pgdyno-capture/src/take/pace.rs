//! Transactions by minute: how far the load of a window varies.

/// Seconds of a minute.
const MINUTE_S: f64 = 60.0;

/// What the database had counted at the begin of each minute.
#[derive(Clone, Debug, Default)]
pub(super) struct Minutes {
    /// The count at the first sample in each minute of the window; `None` if there was no sample.
    begun: Vec<Option<f64>>,
}

impl Minutes {
    /// Adds a sample: the transactions that the database had counted after so many seconds of the window.
    pub(super) fn sample(&mut self, elapsed_s: f64, counted: f64) {
        let minute = (elapsed_s.max(0.0) / MINUTE_S) as usize;
        if self.begun.len() <= minute {
            self.begun.resize(minute + 1, None);
        }
        self.begun[minute].get_or_insert(counted);
    }

    /// Returns true if a sample after so many seconds would be the first of its minute.
    pub(super) fn lack(&self, elapsed_s: f64) -> bool {
        self.begun.get((elapsed_s.max(0.0) / MINUTE_S) as usize).is_none_or(Option::is_none)
    }

    /// Returns the transactions of each whole minute; none unless there are two or more of them without a gap.
    pub(super) fn transactions(&self) -> Vec<f64> {
        let whole: Vec<_> = self.begun.windows(2).map_while(|pair| Some((pair[1]? - pair[0]?).max(0.0))).collect();
        if whole.len() < 2 { Vec::new() } else { whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_what_was_counted_until_the_next_one_began() {
        let mut minutes = Minutes::default();
        for (elapsed_s, counted) in [(0.1, 100.0), (30.0, 900.0), (60.2, 700.0), (119.0, 800.0), (120.1, 1900.0)] {
            minutes.sample(elapsed_s, counted);
        }
        assert_eq!(minutes.transactions(), [600.0, 1200.0]);
        minutes.sample(300.0, 5000.0);
        assert_eq!(
            [59.0, 125.0, 200.0, 301.0, 360.0].map(|elapsed_s| minutes.lack(elapsed_s)),
            [false, false, true, false, true]
        );
        assert_eq!(minutes.transactions(), [600.0, 1200.0], "of what follows a gap nothing is known");
        let mut short = Minutes::default();
        short.sample(1.0, 1.0);
        short.sample(61.0, 9.0);
        assert!(short.transactions().is_empty());
    }
}
