//! A disk of the server's machine has work all the time.

use pgdyno_results::FindingRecord;
use pgdyno_samples::machine;
use pgdyno_text::brief::{duration, number, percent};
use pgdyno_text::units::mean_bytes;

use super::UNKNOWN;
use crate::facts::Facts;

/// A disk that has requests for less of the time than this has room.
const BUSY: f64 = 0.9;

/// A disk with fewer requests than this at once answers one after the other as they come.
const QUEUE: f64 = 1.5;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let busy = facts.gauge(machine::DISK_BUSY).filter(|busy| *busy >= BUSY)?;
    let queue = facts.gauge(machine::DISK_QUEUE).filter(|queue| *queue >= QUEUE)?;
    let mut evidence = vec![format!("{} requests queued or served at once", number(queue))];
    let wait_ms = facts.gauge(machine::DISK_WAIT_MS);
    evidence.extend(wait_ms.map(|ms| format!("a request took {}", duration(ms / 1e3))));
    let moved = [("read", machine::DISK_READ_BYTES_PER_S), ("written", machine::DISK_WRITE_BYTES_PER_S)];
    evidence.extend(moved.iter().filter_map(|(what, column)| {
        Some(format!("{} a second {what} on all disks", mean_bytes(facts.gauge(*column)?)))
    }));
    let pressure = facts.gauge(machine::IO_PRESSURE);
    evidence.extend(pressure.map(|share| format!("processes waited for I/O in {} of the time", percent(share))));
    Some(FindingRecord {
        rule: "disk".to_owned(),
        text: format!("the busiest disk of the server's machine had requests for {} of the time", percent(busy)),
        weight: UNKNOWN,
        evidence,
        advice: Some(
            "use a faster disk, or put pg_wal on one of its own; see that no other program writes there".to_owned(),
        ),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_disk_with_a_queue_all_the_time_is_reported() {
        let run = |busy: f64, queue: f64| {
            Run::new().gauges("machine", &[("disk_busy", busy), ("disk_queue", queue), ("disk_wait_ms", 4.2)])
        };
        let found = run(0.97, 8.0).finds(look);
        assert!(found.text.ends_with("had requests for 97 % of the time"), "{found:?}");
        assert_eq!(found.evidence, ["8.0 requests queued or served at once", "a request took 4.2 ms"]);
        run(0.97, 1.0).finds_nothing(look);
        run(0.5, 8.0).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
