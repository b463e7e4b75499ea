//! The clock and the timers that everything is measured by: what they cost, and how fine they are.

use std::io;
use std::time::{Duration, Instant};

use pgdyno_poll::Poller;

use crate::usage::be_punctual;

/// Readings of which the mean is one sample.
const READINGS: u32 = 1_000;
/// Samples, of which the median counts: one that was interrupted tells nothing of the clock.
const SAMPLES: usize = 9;
/// What timers are set to.
const NAP: Duration = Duration::from_millis(1);

/// The driver's clock and timers, as they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// What one reading takes, in nanoseconds.
    pub read_ns: f64,
    /// The least step between two readings that differ, in nanoseconds: where a reading takes longer than the clock's own
    /// step, about that. Absent where the clock stood still all the while.
    pub step_ns: Option<f64>,
    /// How much later than asked for a thread wakes that waits for a timer, in nanoseconds, median; absent where the system
    /// gave no poller.
    pub timer_ns: Option<f64>,
    /// What the kernel reads, such as `tsc` or `hpet`, where it tells.
    pub source: Option<String>,
}

impl Clock {
    /// Measures clock and timers, which takes about 10 ms.
    #[must_use]
    pub fn measure() -> Self {
        let readings: Vec<_> = (0..SAMPLES).map(|_| reading_and_step()).collect();
        Self {
            read_ns: median(readings.iter().map(|(reading, _)| *reading)),
            step_ns: readings.iter().filter_map(|(_, step)| *step).reduce(f64::min),
            // On a thread of its own: what makes it punctual goes on to all that a thread starts, such as a server.
            timer_ns: std::thread::scope(|scope| scope.spawn(lateness).join()).ok().and_then(Result::ok),
            source: std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .ok()
                .map(|name| name.trim().to_owned()),
        }
    }
}

/// Mean duration of a reading, and the least difference of two in succession that differ.
fn reading_and_step() -> (f64, Option<f64>) {
    let begun = Instant::now();
    let (mut last, mut step) = (begun, None::<Duration>);
    for _ in 0..READINGS {
        let now = Instant::now();
        if now != last {
            step = Some(step.map_or(now - last, |step| step.min(now - last)));
        }
        last = now;
    }
    let ns = |time: Duration| time.as_nanos() as f64;
    (ns(last - begun) / f64::from(READINGS), step.map(ns))
}

/// How late a poller's timer is, which is what the engine waits by.
fn lateness() -> io::Result<f64> {
    be_punctual();
    let (mut poller, mut ready) = (Poller::new()?, Vec::new());
    let mut late = [0.0; SAMPLES];
    for late in &mut late {
        let begun = Instant::now();
        poller.wait(Some(NAP), &mut ready)?;
        *late = begun.elapsed().saturating_sub(NAP).as_nanos() as f64;
    }
    Ok(median(late))
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_and_a_reading_of_it_takes_time() {
        let clock = Clock::measure();
        assert!(clock.read_ns > 0.0 && clock.step_ns.is_some_and(|step| step >= 1.0), "{clock:?}");
        assert!(clock.timer_ns.is_some_and(|late| late >= 0.0), "{clock:?}");
        assert!(clock.source.as_deref().is_none_or(|name| !name.is_empty() && !name.contains('\n')), "{clock:?}");
    }

    #[test]
    fn a_median_passes_over_what_was_interrupted() {
        assert_eq!(median([2.0, 900.0, 1.0]), 2.0);
    }
}
