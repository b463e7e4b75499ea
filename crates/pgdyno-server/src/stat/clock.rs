//! Detects that the clock was set.

use std::time::{Duration, Instant, SystemTime};

/// Small corrections of a synchronised clock are below this.
const STEP: f64 = 0.5;

/// The wall clock compared with one that cannot be set.
#[derive(Debug)]
pub(super) struct Clock {
    steady: Instant,
    day: SystemTime,
}

impl Clock {
    pub(super) fn new(steady: Instant, day: SystemTime) -> Self {
        Self { steady, day }
    }

    /// Returns by how many seconds the wall clock was set since the last look, if it was.
    pub(super) fn step(&mut self, steady: Instant, day: SystemTime) -> Option<f64> {
        let real = steady.saturating_duration_since(self.steady);
        let seconds = |d: Duration| d.as_secs_f64();
        let shown = day.duration_since(self.day).map_or_else(|e| -seconds(e.duration()), seconds);
        *self = Self { steady, day };
        Some(shown - seconds(real)).filter(|step| step.abs() > STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_reported_once_and_a_small_correction_never() {
        let (steady, day) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
        let mut clock = Clock::new(steady, day);
        let at = |s: f64| steady + Duration::from_secs_f64(s);
        let shown = |s: f64| day + Duration::from_secs_f64(s);
        assert_eq!(clock.step(at(1.0), shown(1.2)), None);
        assert_eq!(clock.step(at(2.0), shown(62.2)), Some(60.0 - 1.0 + 1.0));
        assert_eq!(clock.step(at(3.0), shown(63.2)), None);
        let back = clock.step(at(4.0), shown(4.2)).unwrap();
        assert!((back + 60.0).abs() < 1e-6, "{back}");
    }
}
