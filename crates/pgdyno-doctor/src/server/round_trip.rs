//! The time of a round trip to the server and its jitter.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError};

use crate::figures::{Times, in_ms, ms};
use crate::finding::Finding;

/// Round trips that are not counted.
const WARM_UP: usize = 20;
/// How long round trips are timed.
const PATIENCE: Duration = Duration::from_millis(500);
/// The least and the greatest number of them.
const LEAST: usize = 20;
const MOST: usize = 2_000;
/// A longer round trip is part of the network between two places.
const FAR: Duration = Duration::from_millis(2);
/// Jitter matters from this time on.
const JITTER: Duration = Duration::from_millis(1);

/// Returns the finding and the times.
pub(super) fn check(admin: &mut Admin, is_local: bool) -> Result<(Finding, Times), AdminError> {
    for _ in 0..WARM_UP {
        admin.query("SELECT 1")?;
    }
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < LEAST || (begun.elapsed() < PATIENCE && times.len() < MOST) {
        let sent = Instant::now();
        admin.query("SELECT 1")?;
        times.push(sent.elapsed());
    }
    let times = Times::of(times);
    Ok((judge(&times, is_local), times))
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
