//! The time of a round trip to the server and its jitter.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError};

use crate::figures::{Times, in_ms, ms};
use crate::finding::Finding;

/// Round trips that are not counted, and the time after which they end.
const WARM_UP: usize = 20;
const WARM_UP_PATIENCE: Duration = Duration::from_millis(200);
/// How long round trips are timed.
const PATIENCE: Duration = Duration::from_millis(500);
/// Fewest round trips near and far away, and the most.
const LEAST: usize = 20;
const LEAST_FAR: usize = 5;
const MOST: usize = 2_000;
/// The time after which a few are enough.
const PATIENCE_FAR: Duration = Duration::from_secs(2);
/// A longer round trip is part of the network between two places.
const FAR: Duration = Duration::from_millis(2);
/// Jitter matters from this time on.
const JITTER: Duration = Duration::from_millis(1);

/// Returns the finding and the times.
pub(super) fn check(admin: &mut Admin, is_local: bool) -> Result<(Finding, Times), AdminError> {
    let begun = Instant::now();
    for nth in 0..WARM_UP {
        if nth > 0 && begun.elapsed() > WARM_UP_PATIENCE {
            break;
        }
        admin.query("SELECT 1")?;
    }
    let (begun, mut times) = (Instant::now(), Vec::new());
    while goes_on(times.len(), begun.elapsed()) {
        let sent = Instant::now();
        admin.query("SELECT 1")?;
        times.push(sent.elapsed());
    }
    let times = Times::of(times);
    Ok((judge(&times, is_local), times))
}

/// Returns true if another round trip is timed after so many, and so long.
fn goes_on(timed: usize, elapsed: Duration) -> bool {
    let least = if elapsed < PATIENCE_FAR { LEAST } else { LEAST_FAR };
    timed < least || (elapsed < PATIENCE && timed < MOST)
}

fn judge(times: &Times, is_local: bool) -> Finding {
    let (median, high) = (times.median(), times.quantile(0.99));
    let found = Finding::passed("round-trip", format!("{} median, {} p99", ms(median), ms(high)));
    let found = found.measured(in_ms(median), "ms");
    if high > JITTER && high > 5 * median {
        let network = if is_local { "" } else { "the network, " };
        return found.warning(
            "One round trip in a hundred takes five times as long as the median or more. Percentiles of latencies contain it.",
            format!("Look for the cause, and measure without it: {network}busy CPUs, their power saving, a hypervisor, or a pooler."),
        );
    }
    if median > FAR {
        return found.warning(
            "Each statement of a transaction waits for it: a client does few transactions a second, and the figure is that of the network.",
            "Run pgdyno near the server, or use more clients, procedures (--call procedure) or pipelines.",
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn far_away_a_few_are_enough() {
        let timed =
            |trip: Duration| (0..).find(|timed| !goes_on(*timed, trip * u32::try_from(*timed).unwrap())).unwrap();
        assert_eq!([1, 10, 300, 1_000].map(|ms| timed(Duration::from_millis(ms))), [500, 50, 7, 5]);
    }

    #[test]
    fn distance_and_jitter_are_reported() {
        let of = |median_us: u64, high_us: u64| {
            let mut times = vec![Duration::from_micros(median_us); 98];
            times.extend([Duration::from_micros(high_us); 2]);
            judge(&Times::of(times), true)
        };
        assert_eq!(of(80, 200).severity, FindingSeverity::Passed);
        assert!(of(3_000, 4_000).why.starts_with("Each statement"));
        assert!(of(300, 9_000).why.starts_with("One round trip in a hundred"));
    }
}
