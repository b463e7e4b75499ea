//! Cost and resolution of the clock and the timers that the engine measures with.

use std::io;
use std::time::{Duration, Instant};

use pgdyno_poll::Poller;

use crate::usage::be_punctual;

/// Readings per sample; a sample is their mean.
const READINGS: u32 = 1_000;
/// Samples. The median counts, because an interrupted sample says nothing about the clock.
const SAMPLES: usize = 9;
/// Delay that timers are set to.
const NAP: Duration = Duration::from_millis(1);

/// Measurements of the driver's clock and timers.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Time of one reading, in nanoseconds.
    pub read_ns: f64,
    /// Smallest step between two readings that differ, in nanoseconds. If a reading takes longer than the clock's own
    /// step, it is about that time. Absent if the clock did not advance.
    pub step_ns: Option<f64>,
    /// Delay between a timer's time and the wake-up of its thread, in nanoseconds, median; absent if the system gave
    /// no poller.
    pub timer_ns: Option<f64>,
    /// The kernel's clock source, such as `tsc` or `hpet`, if known.
    pub source: Option<String>,
}

impl Clock {
    /// Measures clock and timers. Takes about 10 ms.
    #[must_use]
    pub fn measure() -> Self {
        let readings: Vec<_> = (0..SAMPLES).map(|_| reading_and_step()).collect();
        Self {
            read_ns: median(readings.iter().map(|(reading, _)| *reading)),
            step_ns: readings.iter().filter_map(|(_, step)| *step).reduce(f64::min),
            // Runs on a thread of its own: the setting that makes it punctual is inherited by everything that a
            // thread starts, such as a server.
            timer_ns: std::thread::scope(|scope| scope.spawn(lateness).join()).ok().and_then(Result::ok),
            source: std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .ok()
                .map(|name| name.trim().to_owned()),
        }
    }
}

/// Returns the mean duration of a reading, and the smallest difference between two consecutive readings that differ.
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

/// Returns the delay of a poller's timer: the engine waits by the poller.
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
