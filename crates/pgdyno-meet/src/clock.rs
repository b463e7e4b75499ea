//! The meeting server's clock, by round trips.

use crate::LocalTime;

/// How much two clocks may drift apart, one of them adjusted at the fastest rate that NTP uses.
const DRIFT_PPM: u64 = 600;

/// What is known about the meeting server's clock: its distance to the local one lies within two bounds. Each round
/// trip narrows them, time widens them.
#[derive(Clone, Debug, Default)]
pub struct ClockOffset {
    /// The least and the greatest distance, and the local time at which they held.
    bounds: Option<(i128, i128, LocalTime)>,
    /// How often the server's clock was set.
    steps: u64,
}

impl ClockOffset {
    /// Takes a round trip: the server's clock said `server_ns`, in nanoseconds since 1970, at some time from `asked` to
    /// `answered`. Returns true if the server's clock was set since the last one.
    pub fn sample(&mut self, asked: LocalTime, server_ns: u64, answered: LocalTime) -> bool {
        let server = i128::from(server_ns);
        let (low, high) = (server - i128::from(answered.0), server - i128::from(asked.0));
        let widened = self.widened(answered).unwrap_or((low, high));
        let narrowed = (low.max(widened.0), high.min(widened.1));
        let is_set = narrowed.0 > narrowed.1;
        let (low, high) = if is_set { (low, high) } else { narrowed };
        self.bounds = Some((low, high, answered));
        self.steps += u64::from(is_set);
        is_set
    }

    fn widened(&self, now: LocalTime) -> Option<(i128, i128)> {
        let (low, high, at) = self.bounds?;
        let drift = i128::from(now.since(at) / (1_000_000 / DRIFT_PPM) + 1);
        Some((low - drift, high + drift))
    }

    /// Returns the server's time, in nanoseconds since 1970; `None` before the first round trip.
    #[must_use]
    pub fn server_ns(&self, now: LocalTime) -> Option<u64> {
        let (low, high, _) = self.bounds?;
        u64::try_from(i128::from(now.0) + (low + high) / 2).ok()
    }

    /// Returns the local time at which the server's clock says `server_ns`; `None` before the first round trip, or if
    /// that was before the local clock began.
    #[must_use]
    pub fn local(&self, server_ns: u64) -> Option<LocalTime> {
        let (low, high, _) = self.bounds?;
        u64::try_from(i128::from(server_ns) - (low + high) / 2).ok().map(LocalTime)
    }

    /// Returns how far [`ClockOffset::server_ns`] may be off; `None` before the first round trip.
    #[must_use]
    pub fn error_ns(&self, now: LocalTime) -> Option<u64> {
        let (low, high) = self.widened(now)?;
        u64::try_from((high - low) / 2).ok()
    }

    /// Returns how often the server's clock was seen to be set.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// The server's clock when the local one says 0.
    const EPOCH: u64 = 1_700_000_000_000_000_000;

    #[test]
    fn round_trips_narrow_the_bounds_and_time_widens_them() {
        let mut clock = ClockOffset::default();
        assert_eq!((clock.server_ns(LocalTime(1)), clock.error_ns(LocalTime(1))), (None, None));
        // Asked at 10 ms, read at 11 ms, answered at 20 ms.
        assert!(!clock.sample(LocalTime(10 * MS), EPOCH + 11 * MS, LocalTime(20 * MS)));
        let off = |clock: &ClockOffset, now: u64| clock.server_ns(LocalTime(now)).unwrap().abs_diff(EPOCH + now);
        assert_eq!(off(&clock, 20 * MS), 4 * MS);
        assert!((5 * MS..5 * MS + 1000).contains(&clock.error_ns(LocalTime(20 * MS)).unwrap()));
        assert!(!clock.sample(LocalTime(30 * MS), EPOCH + 31 * MS, LocalTime(32 * MS)));
        assert!(off(&clock, 32 * MS) <= clock.error_ns(LocalTime(32 * MS)).unwrap());
        assert!(clock.error_ns(LocalTime(32 * MS)).unwrap() < 2 * MS);
        // A minute later 36 ms are not known.
        assert!((35 * MS..40 * MS).contains(&clock.error_ns(LocalTime(60_032 * MS)).unwrap()));
        assert_eq!(clock.local(clock.server_ns(LocalTime(5 * MS)).unwrap()), Some(LocalTime(5 * MS)));
        // A slow round trip changes nothing.
        let before = clock.error_ns(LocalTime(132 * MS)).unwrap();
        assert!(!clock.sample(LocalTime(32 * MS), EPOCH + 33 * MS, LocalTime(132 * MS)));
        assert!(clock.error_ns(LocalTime(132 * MS)).unwrap() <= before + 1000);
    }

    #[test]
    fn a_clock_that_is_set_is_noticed() {
        let mut clock = ClockOffset::default();
        clock.sample(LocalTime(MS), EPOCH + MS, LocalTime(2 * MS));
        assert!(clock.sample(LocalTime(3 * MS), EPOCH + 500 * MS, LocalTime(4 * MS)));
        assert_eq!(clock.steps(), 1);
        assert!(!clock.sample(LocalTime(5 * MS), EPOCH + 502 * MS, LocalTime(6 * MS)));
        assert!(clock.server_ns(LocalTime(6 * MS)).unwrap().abs_diff(EPOCH + 503 * MS) < 2 * MS);
    }
}
