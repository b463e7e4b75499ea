//! Samples the server's statistics: ten times a second the wait events of sessions, once a second everything else.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use pgdyno_server::stat::{Sampled, Sampler};

use super::{Signal, Sink};

/// Time between two samples.
const PERIOD: Duration = Duration::from_millis(100);
/// Number of samples in a second.
const LOOKS: u64 = 10;

/// Samples until the signal to end.
pub(super) fn watch(mut sampler: Sampler, sink: &Sink<'_>, signals: &Receiver<Signal>) -> Sampled {
    let begun = Instant::now();
    let mut nth = 0_u64;
    loop {
        match signals.recv_timeout((begun + PERIOD * nth as u32).saturating_duration_since(Instant::now())) {
            Ok(Signal::WindowOpens(_)) => {
                sampler.window_opens();
                continue;
            }
            Ok(Signal::WindowCloses(_)) => {
                sampler.window_closes().into_iter().for_each(|frame| sink.take(frame));
                continue;
            }
            Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return sampler.end(),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if nth.is_multiple_of(LOOKS) {
            sampler.look().into_iter().for_each(|frame| sink.take(frame));
        } else {
            sampler.look_at_waits();
        }
        nth = next(nth, begun.elapsed());
    }
}

/// Returns the number of the sample after sample `nth` when `elapsed` has passed since the first. Late samples are
/// skipped, and so is the sample at the end of a second that is late by more than half a second: a slow server gets
/// fewer samples, never several at once.
fn next(nth: u64, elapsed: Duration) -> u64 {
    let now = (elapsed.as_millis() / PERIOD.as_millis()) as u64;
    let second = (nth / LOOKS + 1) * LOOKS;
    match now.checked_sub(second) {
        None => now.max(nth) + 1,
        Some(late) if late < LOOKS / 2 => second,
        Some(_) => (now / LOOKS + 1) * LOOKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_server_makes_fewer_looks_and_never_a_queue_of_them() {
        let after = |nth, ms| next(nth, Duration::from_millis(ms));
        assert_eq!((after(0, 3), after(1, 130), after(8, 801)), (1, 2, 9));
        // A sample that took 270 ms, one across the end of a second, and one of three seconds.
        assert_eq!((after(1, 370), after(9, 1_150), after(10, 4_080)), (4, 10, 50));
    }
}
