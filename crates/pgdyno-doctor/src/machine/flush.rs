//! How long the flush of a file takes, where a private server has its data: what `pg_test_fsync` measures with
//! `fdatasync`.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::figures::{Times, in_ms, ms};
use crate::finding::Finding;

/// A page of WAL.
const PAGE: [u8; 8192] = [0x5a; 8192];
/// How long flushes are timed.
const PATIENCE: Duration = Duration::from_millis(500);
/// The least number of flushes.
const LEAST: usize = 5;
/// The greatest number of flushes.
const MOST: usize = 1_000;
/// A flush that is faster than this reached no disk, or a cache with a battery.
const TOO_FAST: Duration = Duration::from_micros(15);
/// A flush that is slower than this is slow for a disk without moving parts.
const SLOW: Duration = Duration::from_millis(5);

pub(super) fn check(directory: &Path) -> Option<Finding> {
    // The directory is made by the first private server.
    let directory = directory.ancestors().find(|directory| directory.is_dir())?;
    match measure(directory) {
        Ok(times) => Some(judge(&times)),
        Err(error) => {
            Some(Finding::passed("disk-flush", format!("not measured in {}: {error}", directory.display())).note(
                "A private server has its data below this directory.",
                "Give it to this user, or set PGDYNO_CACHE to another one.",
            ))
        }
    }
}

/// Returns the times of flushes after one page was written.
fn measure(directory: &Path) -> std::io::Result<Times> {
    let mut file = tempfile::tempfile_in(directory)?;
    // As a WAL segment: the pages exist before they are written.
    for _ in 0..64 {
        file.write_all(&PAGE)?;
    }
    file.sync_all()?;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < LEAST || (begun.elapsed() < PATIENCE && times.len() < MOST) {
        file.seek(SeekFrom::Start((times.len() % 64 * PAGE.len()) as u64))?;
        file.write_all(&PAGE)?;
        let flush = Instant::now();
        file.sync_data()?;
        times.push(flush.elapsed());
    }
    Ok(Times::of(times))
}

fn judge(times: &Times) -> Finding {
    let (median, high) = (times.median(), times.quantile(0.99));
    let figure = format!("{} median, {} p99", ms(median), ms(high));
    let found = Finding::passed("disk-flush", figure).measured(in_ms(median), "ms");
    if median < TOO_FAST {
        found.note(
            "No disk is that fast: the data stays in a cache, or in memory (tmpfs). A commit on a private server costs less here \
             than it would where it is kept.",
            "To measure commits, put the cache directory (PGDYNO_CACHE) on a disk like that of the server.",
        )
    } else if median > SLOW {
        found.warning(
            "Each commit waits for a flush: a private server on this disk measures the disk.",
            "Use a faster disk, or a workload that only reads.",
        )
    } else if high > 10 * median && high > SLOW {
        found.warning(
            "Some flushes take ten times as long as others: latencies of commits will have such a tail, and runs differ.",
            "Let nothing else write to this disk meanwhile.",
        )
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn flushes_are_timed_and_judged() {
        let directory = tempfile::tempdir().unwrap();
        assert!(measure(directory.path()).unwrap().median() > Duration::ZERO);
        assert!(check(&directory.path().join("not/yet/made")).is_some());
        let of = |median_us: u64, high_us: u64| {
            let mut times = vec![Duration::from_micros(median_us); 98];
            times.extend([Duration::from_micros(high_us); 2]);
            judge(&Times::of(times)).severity
        };
        assert_eq!(
            [of(2, 3), of(400, 900), of(9_000, 9_000), of(400, 20_000)],
            [FindingSeverity::Note, FindingSeverity::Passed, FindingSeverity::Warning, FindingSeverity::Warning]
        );
    }
}
