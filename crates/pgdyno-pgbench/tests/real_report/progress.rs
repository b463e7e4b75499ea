//! Progress lines.

use pgdyno_pgbench::progress::{Snapshot, TimeFormat, progress_line};
use pgdyno_pgbench::stats::Accounting;

use crate::read::{printed, records, stats};
use crate::support::Bench;

/// pgbench does not log when it took the statistics of a progress line, only the millisecond. But for some place in
/// the log, this crate's line of the transactions since the line before must be pgbench's.
#[test]
fn every_line_of_pgbench_is_that_of_a_stretch_of_its_log() {
    let Some(bench) = Bench::start("progress lines") else { return };
    bench.script(
        "race.sql",
        "BEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT sum(n) FROM counter;\n\\sleep 8 ms\n\
         UPDATE counter SET n = n + 1 WHERE id = 1;\nEND;\n",
    );
    let options = "-f race.sql -c 4 -T 4 -P 1 --progress-timestamp -R 150 -L 60 --max-tries=3";
    let accounting =
        Accounting { throttled: true, latency_limit_us: Some(60_000), max_tries: 3, ..Accounting::default() };
    let run = bench.run(options, 1);
    let records = records(&accounting, &run);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert!(lines.len() >= 2, "{}", run.stderr);

    let (mut from, mut last_us) = (0, None);
    for line in lines {
        let at_us = (printed(line, "progress: ").unwrap() * 1e6).round() as u64;
        let found = (from..=records.len()).find(|&to| {
            let now = stats(&accounting, &records[..to], None);
            let last = stats(&accounting, &records[..from], None);
            // The stamps are milliseconds, so the time between two is known to one. That before the first is not.
            let around: Vec<u64> = match last_us {
                Some(last_us) => (0..=8).map(|step| at_us - last_us - 1000 + 250 * step).collect(),
                None => {
                    let per_second = printed(line, "s, ").unwrap();
                    vec![(1e6 * now.transactions as f64 / per_second).round() as u64]
                }
            };
            around.into_iter().any(|run_us| {
                let last = Snapshot { at_us: at_us - run_us, stats: last };
                let now = Snapshot { at_us, stats: now };
                progress_line(&accounting, TimeFormat::Epoch { start_us: 0 }, &last, &now).trim_end() == line
            })
        });
        from = found.unwrap_or_else(|| {
            panic!("no stretch of the log after {from} gives: {line}\n{}\n{}", run.stderr, run.logs.concat())
        });
        last_us = Some(at_us);
    }
    assert!(from > 20, "too little was done: {}", run.stderr);
}
