//! The log line of one transaction.

use pgdyno_workload::push_int;

use super::digits::push_rounded;
use crate::stats::Accounting;
use crate::transaction::{TransactionError, TransactionOutcome, TxRecord};

/// Appends the line of one transaction:
///
/// ```text
/// client number time script epoch_s epoch_us [lag] [retries]
/// ```
///
/// `time` is the latency in microseconds, or `skipped`, `failed`, or with `--failures-detailed` one of `serialization`,
/// `deadlock`, `other`. `lag` in microseconds is present with `--rate` (0 for transactions that did not succeed),
/// `retries` unless `--max-tries` is 1.
pub fn write_raw(accounting: &Accounting, tx: &TxRecord, out: &mut Vec<u8>) {
    push_int(out, i64::from(tx.client));
    out.push(b' ');
    push_int(out, tx.number.cast_signed());
    out.push(b' ');
    match tx.outcome {
        TransactionOutcome::Ok => push_rounded(out, tx.latency_us),
        TransactionOutcome::Skipped => out.extend_from_slice(b"skipped"),
        TransactionOutcome::Failed(_) if !accounting.failures_detailed => out.extend_from_slice(b"failed"),
        TransactionOutcome::Failed(TransactionError::Serialization) => out.extend_from_slice(b"serialization"),
        TransactionOutcome::Failed(TransactionError::Deadlock) => out.extend_from_slice(b"deadlock"),
        TransactionOutcome::Failed(TransactionError::Other) => out.extend_from_slice(b"other"),
    }
    out.push(b' ');
    push_int(out, i64::from(tx.script));
    out.push(b' ');
    push_int(out, tx.end_epoch_us / 1_000_000);
    out.push(b' ');
    push_int(out, tx.end_epoch_us % 1_000_000);
    if accounting.throttled {
        out.push(b' ');
        push_rounded(out, if tx.outcome == TransactionOutcome::Ok { tx.lag_us } else { 0.0 });
    }
    if accounting.retries() {
        out.push(b' ');
        push_int(
            out,
            if tx.outcome == TransactionOutcome::Skipped { 0 } else { i64::from(tx.tries.saturating_sub(1)) },
        );
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accounting: &Accounting, tx: &TxRecord) -> String {
        let mut out = Vec::new();
        write_raw(accounting, tx, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_variant_of_the_line() {
        let plain = Accounting::default();
        let rate = Accounting { throttled: true, ..plain };
        let tries = Accounting { max_tries: 3, ..plain };
        let both = Accounting { throttled: true, max_tries: 0, failures_detailed: true, ..plain };
        let ok = TxRecord {
            client: 1,
            number: 12,
            script: 2,
            end_epoch_us: 1_795_308_357_001_670,
            latency_us: 12_990.0,
            lag_us: 1_695.0,
            outcome: TransactionOutcome::Ok,
            tries: 2,
        };
        let skipped = TxRecord { outcome: TransactionOutcome::Skipped, ..ok };
        let failed = |failure| TxRecord { outcome: TransactionOutcome::Failed(failure), ..ok };
        for (accounting, tx, text) in [
            (&plain, ok, "1 12 12990 2 1795308357 1670\n"),
            (&rate, ok, "1 12 12990 2 1795308357 1670 1695\n"),
            (&tries, ok, "1 12 12990 2 1795308357 1670 1\n"),
            (&both, ok, "1 12 12990 2 1795308357 1670 1695 1\n"),
            (&rate, skipped, "1 12 skipped 2 1795308357 1670 0\n"),
            (&both, skipped, "1 12 skipped 2 1795308357 1670 0 0\n"),
            (&plain, failed(TransactionError::Serialization), "1 12 failed 2 1795308357 1670\n"),
            (&tries, failed(TransactionError::Other), "1 12 failed 2 1795308357 1670 1\n"),
            (&both, failed(TransactionError::Serialization), "1 12 serialization 2 1795308357 1670 0 1\n"),
            (&both, failed(TransactionError::Deadlock), "1 12 deadlock 2 1795308357 1670 0 1\n"),
            (&both, failed(TransactionError::Other), "1 12 other 2 1795308357 1670 0 1\n"),
        ] {
            assert_eq!(line(accounting, &tx), text);
        }
    }
}
