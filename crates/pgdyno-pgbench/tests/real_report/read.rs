//! pgbench's own output, read back.

use pgdyno_pgbench::log::{merge_raw, write_raw};
use pgdyno_pgbench::stats::{Accounting, Stats};
use pgdyno_pgbench::transaction::{TransactionError, TransactionOutcome, TxRecord};

use crate::support::Run;

/// The transaction of a line of a raw log.
pub(crate) fn record(accounting: &Accounting, line: &str) -> TxRecord {
    let mut fields = line.split(' ');
    let mut next = || fields.next().unwrap_or_else(|| panic!("too short: {line}"));
    let (client, number, time, script) = (next(), next(), next(), next());
    let (seconds, micros): (i64, i64) = (next().parse().unwrap(), next().parse().unwrap());
    let lag = if accounting.throttled { next() } else { "0" };
    let retries: u32 = if accounting.max_tries != 1 { next().parse().unwrap() } else { 0 };
    let outcome = match time {
        "skipped" => TransactionOutcome::Skipped,
        // Without --failures-detailed the kind is not reported, and makes no difference.
        "failed" | "serialization" => TransactionOutcome::Failed(TransactionError::Serialization),
        "deadlock" => TransactionOutcome::Failed(TransactionError::Deadlock),
        _ => TransactionOutcome::Ok,
    };
    TxRecord {
        client: client.parse().unwrap(),
        number: number.parse().unwrap(),
        script: script.parse().unwrap(),
        end_epoch_us: seconds * 1_000_000 + micros,
        latency_us: time.parse().unwrap_or(0.0),
        lag_us: lag.parse().unwrap(),
        outcome,
        tries: retries + 1,
    }
}

/// All transactions of a run by their ends: what the threads' logs say, merged.
///
/// Each line must be what this crate writes for its transaction.
pub(crate) fn records(accounting: &Accounting, run: &Run) -> Vec<TxRecord> {
    let mut merged = Vec::new();
    merge_raw(run.logs.iter().map(|log| log.as_bytes()), &mut merged).unwrap();
    let merged = String::from_utf8(merged).unwrap();
    let records: Vec<TxRecord> = merged.lines().map(|line| record(accounting, line)).collect();
    assert!(records.is_sorted_by_key(|tx| tx.end_epoch_us));
    let mut written = Vec::new();
    records.iter().for_each(|tx| write_raw(accounting, tx, &mut written));
    assert_eq!(String::from_utf8(written).unwrap(), merged);
    records
}

/// Their statistics; of one script only, if one is named.
pub(crate) fn stats(accounting: &Accounting, records: &[TxRecord], script: Option<usize>) -> Stats {
    let mut stats = Stats::default();
    for tx in records.iter().filter(|tx| script.is_none_or(|script| tx.script as usize == script)) {
        stats.record(accounting, tx);
    }
    stats
}

/// The first number after `label` in a printed report.
pub(crate) fn printed(report: &str, label: &str) -> Option<f64> {
    let (_, rest) = report.split_once(label)?;
    Some(rest.split(|c: char| c.is_whitespace() || "/)".contains(c)).next()?.parse().unwrap())
}
