//! The text of reports, literally. What is not an addition of ours is what PostgreSQL 18's pgbench prints.

use pgdyno_pgbench::report::{
    AccountsPartitioning, LatencyPercentiles, Quantiles, Reconnects, RunLength, RunReport, ScriptQuantiles,
    ScriptReport, Warmup, banner,
};
use pgdyno_pgbench::stats::{Accounting, CommandStats, Moments, Stats};
use pgdyno_wire::QueryMode;

fn moments(series: &[f64]) -> Moments {
    let mut moments = Moments::default();
    series.iter().for_each(|us| moments.add(*us));
    moments
}

fn command(text: &str, series: &[f64], failures: u64, retries: u64) -> CommandStats {
    CommandStats { text: text.to_owned(), latency: moments(series), failures, retries }
}

fn script(name: &str, weight: u64, stats: Stats, commands: &[CommandStats]) -> ScriptReport {
    ScriptReport { name: name.to_owned(), weight, stats, commands: commands.to_vec() }
}

/// Two transactions in 790 microseconds, with every option at its default.
fn plain() -> RunReport {
    let stats = Stats { transactions: 2, latency: moments(&[400.0, 390.0]), ..Stats::default() };
    let commands = [
        command("\\set aid random(1, 100000 * :scale)", &[2.0, 2.0], 0, 0),
        command("SELECT abalance FROM pgbench_accounts WHERE aid = :aid;", &[390.0, 384.0], 0, 0),
    ];
    RunReport {
        accounting: Accounting::default(),
        scale: 1,
        partitions: None,
        query_mode: QueryMode::Simple,
        clients: 1,
        threads: 1,
        length: RunLength::Transactions(2),
        progress: false,
        connect: false,
        per_command: false,
        duration_us: 790,
        connection_us: 1820,
        total: stats,
        scripts: vec![script("<builtin: select only>", 1, stats, &commands)],
        warmup: None,
        reconnects: None,
        percentiles: None,
    }
}

/// Two scripts and everything that may happen to a transaction.
fn eventful() -> RunReport {
    let first = Stats {
        transactions: 2,
        skipped: 8,
        retries: 11,
        retried: 7,
        serialization_failures: 27,
        deadlock_failures: 1,
        other_failures: 0,
        latency: moments(&[9598.0, 12990.0]),
        lag: moments(&[1695.0, 2767.0]),
        late: 0,
    };
    let second = Stats {
        transactions: 3,
        skipped: 12,
        retries: 2,
        retried: 2,
        serialization_failures: 0,
        deadlock_failures: 13,
        other_failures: 2,
        latency: moments(&[20001.0, 20000.0, 34234.0]),
        lag: moments(&[0.0, 100.0, 21788.0]),
        late: 2,
    };
    let mut total = first;
    total.merge(&second);
    RunReport {
        accounting: Accounting {
            throttled: true,
            latency_limit_us: Some(20_000),
            max_tries: 3,
            failures_detailed: true,
            continue_on_error: false,
        },
        partitions: Some((AccountsPartitioning::Hash, 3)),
        query_mode: QueryMode::Prepared,
        clients: 4,
        threads: 2,
        length: RunLength::Seconds(3),
        connect: true,
        per_command: true,
        duration_us: 3_000_123,
        connection_us: 115_550,
        total,
        scripts: vec![
            script("ser.sql", 1, first, &[command("UPDATE ctr SET n = n + 1 WHERE id = :a;", &[2752.0], 28, 11)]),
            script("dl.sql", 2, second, &[command("END;", &[683.0], 15, 2)]),
            script("never.sql", 0, Stats::default(), &[command("SELECT 1;", &[], 0, 0)]),
        ],
        ..plain()
    }
}

#[test]
fn the_first_line_names_the_program_and_the_server() {
    assert_eq!(banner("pgbench", "18.6 (pgdyno 0.1.0)", "15.18"), "pgbench (18.6 (pgdyno 0.1.0), server 15.18)\n");
}

#[test]
fn defaults() {
    assert_eq!(
        plain().to_string(),
        "\
transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
maximum number of tries: 1
number of transactions per client: 2
number of transactions actually processed: 2/2
number of failed transactions: 0 (0.000%)
latency average = 0.395 ms
initial connection time = 1.820 ms
tps = 2531.645570 (without initial connection time)
"
    );
}

#[test]
fn commands_of_one_script() {
    let report = RunReport { per_command: true, ..plain() }.to_string();
    let (_, commands) = report.split_once("connection time)\n").unwrap();
    assert_eq!(
        commands,
        "\
statement latencies in milliseconds and failures:
         0.002           0 \\set aid random(1, 100000 * :scale)
         0.387           0 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"
    );
}

#[test]
fn everything_at_once() {
    assert_eq!(
        eventful().to_string(),
        "\
transaction type: multiple scripts
scaling factor: 1
partition method: hash
partitions: 3
query mode: prepared
number of clients: 4
number of threads: 2
maximum number of tries: 3
duration: 3 s
number of transactions actually processed: 5
number of failed transactions: 43 (63.235%)
number of serialization failures: 27 (39.706%)
number of deadlock failures: 14 (20.588%)
number of transactions retried: 9 (13.235%)
total number of retries: 13
number of transactions skipped: 20 (29.412%)
number of transactions above the 20.0 ms latency limit: 2/5 (40.000%)
latency average = 19.365 ms
latency stddev = 8.461 ms
rate limit schedule lag: avg 5.270 (max 21.788) ms
average connection time = 2.407 ms
tps = 1.666598 (including reconnection times)
SQL script 1: ser.sql
 - weight: 1 (targets 33.3% of total)
 - 38 transactions (55.9% of total)
 - number of transactions actually processed: 2 (tps = 0.666639)
 - number of failed transactions: 28 (73.684%)
 - number of serialization failures: 27 (71.053%)
 - number of deadlock failures: 1 (2.632%)
 - number of transactions retried: 7 (18.421%)
 - total number of retries: 11
 - number of transactions skipped: 8 (21.053%)
 - latency average = 11.294 ms
 - latency stddev = 1.696 ms
 - statement latencies in milliseconds, failures and retries:
         2.752          28         11 UPDATE ctr SET n = n + 1 WHERE id = :a;
SQL script 2: dl.sql
 - weight: 2 (targets 66.7% of total)
 - 30 transactions (44.1% of total)
 - number of transactions actually processed: 3 (tps = 0.999959)
 - number of failed transactions: 15 (50.000%)
 - number of serialization failures: 0 (0.000%)
 - number of deadlock failures: 13 (43.333%)
 - number of transactions retried: 2 (6.667%)
 - total number of retries: 2
 - number of transactions skipped: 12 (40.000%)
 - latency average = 24.745 ms
 - latency stddev = 6.710 ms
 - statement latencies in milliseconds, failures and retries:
         0.683          15          2 END;
SQL script 3: never.sql
 - weight: 0 (targets 0.0% of total)
 - 0 transactions (0.0% of total)
 - statement latencies in milliseconds, failures and retries:
         0.000           0          0 SELECT 1;
"
    );
}

/// The lines of `after` that are not in `before`, both in order.
fn added(before: &RunReport, after: &RunReport) -> String {
    let (before, after) = (before.to_string(), after.to_string());
    let mut known = before.lines().peekable();
    let new = after.lines().filter(|line| known.next_if_eq(line).is_none());
    let new: String = new.map(|line| format!("{line}\n")).collect();
    assert_eq!(known.next(), None, "a line was lost or moved");
    new
}

#[test]
fn other_failures_are_reported_under_continue_on_error_only() {
    let mut report = eventful();
    report.accounting.continue_on_error = true;
    assert_eq!(
        added(&eventful(), &report),
        "number of other failures: 2 (2.941%)\n - number of other failures: 0 (0.000%)\n - number of other failures: 2 (6.667%)\n"
    );
    report.accounting.failures_detailed = false;
    assert!(!report.to_string().contains("other failures"), "{report}");
}

#[test]
fn failures_count_in_an_average_that_was_not_measured() {
    let mut report = plain();
    report.clients = 3;
    report.length = RunLength::Transactions(3_000_000_000);
    report.total.serialization_failures = 1;
    let text = report.to_string();
    assert!(text.contains("\nnumber of transactions actually processed: 2/9000000000\n"), "{text}");
    assert!(text.contains("\nlatency average = 0.790 ms (including failures)\n"), "{text}");
    report.progress = true;
    let text = report.to_string();
    assert!(text.contains("\nlatency average = 0.395 ms\nlatency stddev = 0.005 ms\n"), "{text}");
}

#[test]
fn an_unlimited_number_of_tries_has_no_line_of_its_own() {
    let mut report = plain();
    report.accounting.max_tries = 0;
    let text = report.to_string();
    assert!(!text.contains("maximum number of tries"), "{text}");
    assert!(text.contains("\nnumber of transactions retried: 0 (0.000%)\ntotal number of retries: 0\n"), "{text}");
}

#[test]
fn a_latency_limit_without_a_rate_skips_nothing() {
    let mut report = plain();
    report.accounting.latency_limit_us = Some(395_050);
    report.total.late = 1;
    let text = report.to_string();
    assert!(text.contains("\nnumber of transactions above the 395.1 ms latency limit: 1/2 (50.000%)\n"), "{text}");
    assert!(!text.contains("skipped") && !text.contains("lag"), "{text}");
}

#[test]
fn a_run_without_transactions_ends_at_their_number() {
    let mut report = eventful();
    report.total = Stats::default();
    let text = report.to_string();
    assert!(text.ends_with("duration: 3 s\nnumber of transactions actually processed: 0\n"), "{text}");
}

#[test]
fn a_run_that_skipped_everything_has_no_average() {
    let mut report = eventful();
    report.length = RunLength::Transactions(20);
    report.clients = 2;
    report.total = Stats { skipped: 40, ..Stats::default() };
    report.scripts.truncate(1);
    report.per_command = false;
    let text = report.to_string();
    let (_, end) = text.split_once("per client: 20\n").unwrap();
    let expected = "\
number of transactions actually processed: 0/40
number of failed transactions: 0 (0.000%)
number of serialization failures: 0 (0.000%)
number of deadlock failures: 0 (0.000%)
number of transactions retried: 0 (0.000%)
total number of retries: 0
number of transactions skipped: 40 (100.000%)
number of transactions above the 20.0 ms latency limit: 0/0 (0.000%)
rate limit schedule lag: avg NaN (max 0.000) ms
average connection time = Infinity ms
tps = 0.000000 (including reconnection times)
";
    assert_eq!(end, expected);
}

#[test]
fn warmup_and_reconnects_are_lines_of_their_own() {
    let mut report = plain();
    report.warmup = Some(Warmup { seconds: 2.5, transactions: 1234 });
    report.reconnects = Some(Reconnects { lost: 3, longest_outage_us: 1_234_567 });
    assert_eq!(
        added(&plain(), &report),
        "warmup time: 2.5 s (1234 transactions not counted)\n\
         number of connections lost: 3\nlongest outage = 1234.567 ms\n"
    );
}

#[test]
fn percentiles_of_all_of_scripts_and_of_commands() {
    let quantiles = |min_ms, p50, p99_9, max_ms| Quantiles { min_ms, percentiles_ms: vec![p50, p99_9], max_ms };
    let mut report = eventful();
    report.percentiles = Some(LatencyPercentiles {
        percents: vec![50.0, 99.9],
        total: Some(quantiles(9.598, 20.0, 34.2, 34.234)),
        scripts: vec![
            ScriptQuantiles {
                transactions: Some(quantiles(9.598, 9.6, 12.99, 12.99)),
                commands: vec![Some(quantiles(2.752, 2.752, 2.752, 2.752))],
            },
            ScriptQuantiles {
                transactions: Some(quantiles(20.0, 20.001, 34.234, 34.234)),
                commands: vec![Some(quantiles(0.683, 0.683, 0.683, 0.683))],
            },
            ScriptQuantiles { transactions: None, commands: vec![None] },
        ],
    });
    assert_eq!(
        added(&eventful(), &report),
        "\
latency min = 9.598 ms
latency max = 34.234 ms
latency percentiles: p50 = 20.000 ms, p99.9 = 34.200 ms
 - latency min = 9.598 ms
 - latency max = 12.990 ms
 - latency percentiles: p50 = 9.600 ms, p99.9 = 12.990 ms
 - statement latency percentiles in milliseconds (min, p50, p99.9, max):
         2.752       2.752       2.752       2.752 UPDATE ctr SET n = n + 1 WHERE id = :a;
 - latency min = 20.000 ms
 - latency max = 34.234 ms
 - latency percentiles: p50 = 20.001 ms, p99.9 = 34.234 ms
 - statement latency percentiles in milliseconds (min, p50, p99.9, max):
         0.683       0.683       0.683       0.683 END;
 - statement latency percentiles in milliseconds (min, p50, p99.9, max):
             -           -           -           - SELECT 1;
"
    );
}
