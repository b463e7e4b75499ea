//! Merges the logs of several threads (`--log-merge`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, BufRead, Write};

/// Why logs were not merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A log could not be read, or the merged one not written.
    #[error("merging logs failed: {0}")]
    Io(#[from] io::Error),
    /// A line has another format, or another number of columns than those before it.
    #[error("merging logs failed: line {line} of log {log} is not such a log's: {text:?}")]
    Line {
        /// The number of the log, from 0.
        log: usize,
        /// The number of the line, from 1.
        line: u64,
        /// Its text.
        text: String,
    },
}

/// One log, line by line.
struct Lines<R> {
    input: R,
    log: usize,
    line: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line without its line end; `None` after the last.
    fn advance(&mut self) -> io::Result<Option<&[u8]>> {
        self.text.clear();
        if self.input.read_until(b'\n', &mut self.text)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        }
        Ok(Some(&self.text))
    }

    fn unlike(&self) -> MergeError {
        MergeError::Line { log: self.log, line: self.line, text: String::from_utf8_lossy(&self.text).into_owned() }
    }
}

fn lines<R: BufRead>(inputs: impl IntoIterator<Item = R>) -> Vec<Lines<R>> {
    let numbered = inputs.into_iter().enumerate();
    numbered.map(|(log, input)| Lines { input, log, line: 0, text: Vec::new() }).collect()
}

/// Merges raw logs, each ordered by the ends of its transactions, by those ends. Of equal ones the earlier log's come
/// first. Lines are copied unchanged.
///
/// # Errors
/// [`MergeError`]; what was written until then stays.
pub fn merge_raw<R: BufRead>(inputs: impl IntoIterator<Item = R>, out: &mut impl Write) -> Result<(), MergeError> {
    let mut logs = lines(inputs);
    let mut heads = BinaryHeap::new();
    for (log, lines) in logs.iter_mut().enumerate() {
        if let Some(end) = next_end(lines)? {
            heads.push(Reverse((end, log)));
        }
    }
    while let Some(Reverse((_, log))) = heads.pop() {
        out.write_all(&logs[log].text)?;
        out.write_all(b"\n")?;
        if let Some(end) = next_end(&mut logs[log])? {
            heads.push(Reverse((end, log)));
        }
    }
    Ok(())
}

/// Returns the end of the next line's transaction: seconds and microseconds.
fn next_end<R: BufRead>(log: &mut Lines<R>) -> Result<Option<(i64, i64)>, MergeError> {
    let Some(text) = log.advance()? else { return Ok(None) };
    let end = std::str::from_utf8(text).ok().and_then(|text| {
        let mut fields = text.split(' ').skip(4);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    end.map(Some).ok_or_else(|| log.unlike())
}

/// How a column of an aggregate line is merged.
#[derive(Clone, Copy)]
enum Fold {
    Sum,
    Min,
    Max,
}

/// The columns after the interval's start and the count.
const FOLDS: [Fold; 14] = {
    use Fold::{Max, Min, Sum};
    [Sum, Sum, Min, Max, Sum, Sum, Min, Max, Sum, Sum, Sum, Sum, Sum, Sum]
};

/// The number of columns without the newest one, that of `--continue-on-error`.
const COLUMNS: usize = 13;

/// Merges aggregate logs by intervals: adds counts and sums, keeps the least and the greatest.
///
/// Intervals that start at the same second are the same: the logs are those of threads of one run. A log need not have
/// every interval.
///
/// # Errors
/// [`MergeError`]; nothing was written then, unless writing failed.
pub fn merge_aggregates<R: BufRead>(
    inputs: impl IntoIterator<Item = R>,
    out: &mut impl Write,
) -> Result<(), MergeError> {
    let mut intervals: BTreeMap<i64, (u64, Vec<f64>)> = BTreeMap::new();
    let mut columns = None;
    for mut log in lines(inputs) {
        while let Some(text) = log.advance()? {
            let Some((start, count, values)) = parse(text) else { return Err(log.unlike()) };
            if *columns.get_or_insert(values.len()) != values.len() {
                return Err(log.unlike());
            }
            match intervals.entry(start) {
                std::collections::btree_map::Entry::Vacant(vacant) => {
                    vacant.insert((count, values));
                }
                std::collections::btree_map::Entry::Occupied(mut occupied) => fold(occupied.get_mut(), count, &values),
            }
        }
    }
    for (start, (count, values)) in intervals {
        write!(out, "{start} {count}")?;
        for value in values {
            write!(out, " {value:.0}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn parse(text: &[u8]) -> Option<(i64, u64, Vec<f64>)> {
    let mut fields = std::str::from_utf8(text).ok()?.split(' ');
    let (start, count) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let values: Vec<f64> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    matches!(values.len(), COLUMNS | 14).then_some((start, count, values))
}

fn fold((count, values): &mut (u64, Vec<f64>), other_count: u64, other: &[f64]) {
    for ((value, other), how) in values.iter_mut().zip(other).zip(FOLDS) {
        *value = match how {
            Fold::Sum => *value + other,
            // Without successful transactions there is no least one: the column's 0 is not a value.
            Fold::Min if *count == 0 => *other,
            Fold::Min if other_count == 0 => *value,
            Fold::Min => value.min(*other),
            Fold::Max => value.max(*other),
        };
    }
    *count += other_count;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::{Aggregator, TxLog};
    use crate::transaction::TxRecord;
    use crate::transaction::tests::{START_US, accountings, records};

    fn raw(logs: &[&str]) -> Result<String, MergeError> {
        let mut out = Vec::new();
        merge_raw(logs.iter().map(|l| l.as_bytes()), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn aggregates(logs: &[&str]) -> Result<String, MergeError> {
        let mut out = Vec::new();
        merge_aggregates(logs.iter().map(|l| l.as_bytes()), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn raw_lines_are_ordered_as_numbers_not_as_text() {
        assert_eq!(
            raw(&["0 1 5 0 9 999999\n0 2 5 0 10 7\n", "", "1 1 skipped 0 10 6 0 0\n1 2 failed 0 10 10"]).unwrap(),
            "0 1 5 0 9 999999\n1 1 skipped 0 10 6 0 0\n0 2 5 0 10 7\n1 2 failed 0 10 10\n"
        );
    }

    #[test]
    fn aggregates_add_up_and_keep_extremes() {
        assert_eq!(
            aggregates(&[
                "10 2 600 180000 200 400 30 500 10 20 1 2 3 4 5\n11 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                "10 1 50 2500 50 50 5 25 5 5 1 1 1 1 1\n11 1 50 2500 50 50 5 25 5 5 1 1 1 1 1\n12 0 0 0 0 0 0 0 0 0 2 0 0 0 0\n",
            ])
            .unwrap(),
            "10 3 650 182500 50 400 35 525 5 20 2 3 4 5 6\n\
             11 1 50 2500 50 50 5 25 5 5 1 1 1 1 1\n\
             12 0 0 0 0 0 0 0 0 0 2 0 0 0 0\n"
        );
    }

    #[test]
    fn a_line_of_another_kind_is_named() {
        let error = raw(&["0 1 5 0 9 1\n", "0 1 5 0 9 1\nnonsense\n"]).unwrap_err();
        assert!(matches!(error, MergeError::Line { log: 1, line: 2, .. }), "{error}");
        let error = aggregates(&["10 1 2 3\n"]).unwrap_err();
        assert_eq!(error.to_string(), "merging logs failed: line 1 of log 0 is not such a log's: \"10 1 2 3\"");
        let other = "10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        let error = aggregates(&["10 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", other]).unwrap_err();
        assert!(matches!(error, MergeError::Line { log: 1, line: 1, .. }), "{error}");
    }

    /// Returns the logs of threads, each with some of the records.
    fn thread_logs(new: impl Fn() -> TxLog, records: &[TxRecord], threads: u32) -> Vec<Vec<u8>> {
        let end = records.last().map_or(START_US, |tx| tx.end_epoch_us) + 1;
        let log_of_thread = |thread| {
            let (mut log, mut out) = (new(), Vec::new());
            for tx in records.iter().filter(|tx| tx.client % threads == thread) {
                log.record(tx, || 0.0, &mut out);
            }
            log.finish(end, true, &mut out);
            out
        };
        (0..threads).map(log_of_thread).collect()
    }

    proptest! {
        #[test]
        fn merged_raw_logs_are_the_log_of_one_thread(
            accounting in accountings(), records in records(60), threads in 1u32..6,
        ) {
            let new = || TxLog::raw(accounting, None);
            let mut merged = Vec::new();
            merge_raw(thread_logs(new, &records, threads).iter().map(|l| l.as_slice()), &mut merged).unwrap();
            prop_assert_eq!(&merged, &thread_logs(new, &records, 1)[0]);
        }

        #[test]
        fn merged_aggregates_are_the_log_of_one_thread(
            accounting in accountings(), records in records(60), threads in 1u32..6, interval_s in 1u32..8,
        ) {
            let new = || TxLog::aggregate(Aggregator::new(accounting, interval_s, START_US));
            let mut merged = Vec::new();
            merge_aggregates(thread_logs(new, &records, threads).iter().map(|l| l.as_slice()), &mut merged).unwrap();
            let merged = String::from_utf8(merged).unwrap();
            let one = String::from_utf8(thread_logs(new, &records, 1).swap_remove(0)).unwrap();
            prop_assert_eq!(merged, one);
        }
    }
}
