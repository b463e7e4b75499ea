//! Samples and aggregates. (Raw lines are compared wherever a log is read.)

use pgdyno_pgbench::log::{Aggregator, TxLog, merge_aggregates};
use pgdyno_pgbench::stats::Accounting;
use pgdyno_pgbench::transaction::TxRecord;
use pgdyno_workload::Rng;

use crate::read::{printed, record};
use crate::support::Bench;

/// The numbers of an aggregate line.
fn columns(line: &str) -> Vec<i64> {
    line.split(' ').map(|field| field.parse().unwrap()).collect()
}

#[test]
fn a_sample_is_of_the_same_transactions() {
    let Some(bench) = Bench::start("--sampling-rate") else { return };
    bench.script("one.sql", "SELECT 1;\n");
    let run = bench.run("-f one.sql -c 1 -t 200 --random-seed=42 --sampling-rate=0.3", 1);
    let theirs: Vec<u64> = run.logs[0].lines().map(|line| record(&Accounting::default(), line).number).collect();

    // The streams' seeds: the client's, the default of hash functions, the thread's of choices and throttling.
    let mut seeds = Rng::new(42);
    let seed = (0..5).map(|_| seeds.next_u64()).last().unwrap();
    let mut sampling = Rng::new(seed);
    let (mut log, mut out) = (TxLog::raw(Accounting::default(), Some(0.3)), Vec::new());
    for number in 1..=200 {
        log.record(&TxRecord { number, ..TxRecord::default() }, || sampling.unit(), &mut out);
    }
    let ours = String::from_utf8(out).unwrap();
    let ours: Vec<u64> = ours.lines().map(|line| record(&Accounting::default(), line).number).collect();
    assert_eq!(ours, theirs);
    assert!((20..120).contains(&ours.len()), "{ours:?}");
}

/// pgbench logs either transactions or aggregates, never both of one run. So the transactions note on the server when
/// they end, one client's, one after another. A note and pgbench's own time of that end may lie on different sides
/// of an interval's boundary, but never those of two transactions: at no boundary do the counts differ by more than 1.
#[test]
fn intervals_begin_and_count_as_pgbenchs_do() {
    let Some(bench) = Bench::start("--aggregate-interval") else { return };
    bench.sql("create table ended (at_us bigint)");
    bench.script(
        "note.sql",
        "\\set n :n + 1\n\\if :n = 6\n\\sleep 2300 ms\n\\endif\n\\sleep 60 ms\n\
         INSERT INTO ended SELECT extract(epoch from clock_timestamp()) * 1000000;\n",
    );
    let run = bench.run("-f note.sql -D n=0 -c 1 -t 25 --aggregate-interval=1", 1);
    let theirs: Vec<Vec<i64>> = run.logs[0].lines().map(columns).collect();

    let ends = bench.sql("select at_us from ended order by at_us");
    let start_us = theirs[0][0] * 1_000_000;
    let mut log = TxLog::aggregate(Aggregator::new(Accounting::default(), 1, start_us));
    let mut out = Vec::new();
    for end in ends.lines() {
        log.record(&TxRecord { end_epoch_us: end.parse().unwrap(), ..TxRecord::default() }, || 0.0, &mut out);
    }
    let ours = String::from_utf8(out).unwrap();
    let ours: Vec<Vec<i64>> = ours.lines().map(columns).collect();

    assert!(ours.len() >= 3 && theirs.len() >= 3, "{ours:?}\n{theirs:?}");
    assert!(theirs.iter().any(|columns| columns[1] == 0), "no empty interval: {theirs:?}");
    let (mut our_count, mut their_count) = (0, 0);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!((ours.len(), ours[0]), (theirs.len(), theirs[0]));
        // The columns of options that were not given; times are not noted.
        assert_eq!(ours[6..], theirs[6..]);
        our_count += ours[1];
        their_count += theirs[1];
        assert!((our_count - their_count).abs() <= 1, "{our_count} and {their_count} until {}", ours[0]);
    }
}

/// Two threads' aggregates, merged, add up to what pgbench printed: all but the last, slow transaction of each
/// thread, whose unfinished intervals pgbench drops.
#[test]
fn merged_aggregates_add_up_to_the_report() {
    let Some(bench) = Bench::start("merging aggregates") else { return };
    bench.script(
        "race.sql",
        // A thread's first client sleeps at its end; the others' transactions fail by each other.
        "\\set n :n + 1\n\\if mod(:client_id, 4) = 0\n\\if :n = 15\n\\sleep 2300 ms\n\\else\n\\sleep 2 ms\n\\endif\n\
         \\else\nBEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT sum(n) FROM counter;\n\\sleep 2 ms\n\
         UPDATE counter SET n = n + 1 WHERE id = 1;\nEND;\n\\endif\n",
    );
    let run = bench.run(
        "-f race.sql -D n=0 -c 8 -t 15 --aggregate-interval=1 --max-tries=2 --failures-detailed -R 400 -L 4000",
        2,
    );
    let mut merged = Vec::new();
    merge_aggregates(run.logs.iter().map(|log| log.as_bytes()), &mut merged).unwrap();
    let merged: Vec<Vec<i64>> = std::str::from_utf8(&merged).unwrap().lines().map(columns).collect();
    assert!(merged.windows(2).all(|pair| pair[0][0] < pair[1][0]), "an interval has two lines: {merged:?}");

    let sum = |column: usize| merged.iter().map(|columns| columns[column]).sum::<i64>();
    let reported = |label| printed(&run.report, label).unwrap() as i64;
    let dropped = reported("actually processed: ") - sum(1);
    assert!((0..=2).contains(&dropped), "{dropped} are missing of {}", run.report);
    assert_eq!(sum(11), reported("number of transactions retried: "));
    assert_eq!(sum(12), reported("total number of retries: "));
    assert_eq!(sum(13), reported("number of serialization failures: "));
    assert!(sum(12) > 0 && sum(13) > 0, "nothing failed: {}", run.report);
    // The dropped ones may have had the greatest lag.
    let greatest_lag_us = merged.iter().map(|columns| columns[9]).max().unwrap();
    let printed_ms = printed(&run.report, "(max ").unwrap();
    assert!(greatest_lag_us > 0 && greatest_lag_us as f64 / 1000.0 <= printed_ms + 0.001, "{greatest_lag_us}");
    let least_us = merged.iter().filter(|columns| columns[1] > 0).map(|columns| columns[4]).min().unwrap();
    assert!(least_us >= 2000, "the transactions sleep 2 ms, the fastest took {least_us} µs");
}
