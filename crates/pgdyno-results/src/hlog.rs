//! `latency.hlog`: an HdrHistogram interval log, one line for each interval and transaction, that any
//! HdrHistogram tool reads and merges.

use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use pgdyno_measure::Interval;

use crate::hdr;

/// Suffix of the tag of response times, if a transaction has both.
pub(crate) const RESPONSE: &str = ".response";

/// Returns the header. `started` is the start of the run, from which start stamps count.
pub(crate) fn header(started: std::time::SystemTime) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(
            "Service times in nanoseconds; tags are transactions, response times of a rate are tagged 'NAME.response'",
        )
        .with_start_time(started)
        .with_base_time(started)
        .begin_log_with(&mut bytes, &mut V2DeflateSerializer::new())?;
    Ok(bytes)
}

/// Returns the lines of one interval.
pub(crate) fn lines(interval: &Interval, txns: &[String]) -> io::Result<Vec<u8>> {
    let (mut bytes, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut bytes, &mut serializer)?;
    let start = Duration::from_nanos(interval.start_ns);
    let length = Duration::from_nanos(interval.end_ns.saturating_sub(interval.start_ns));
    for (txn, name) in interval.part.txns.iter().zip(txns) {
        // Tags cannot contain these.
        let name = name.replace([' ', ',', '\r', '\n'], "_");
        let response = txn.response.as_ref().map(|latency| (format!("{name}{RESPONSE}"), latency));
        for (tag, latency) in std::iter::once((name, &txn.service)).chain(response) {
            if let Some(histogram) = latency.histogram() {
                log.write_histogram(&histogram, start, length, Tag::new(&tag))
                    .map_err(|e| io::Error::other(format!("{e:?}")))?;
            }
        }
    }
    Ok(bytes)
}

/// A line of a log.
pub(crate) struct Line {
    pub(crate) tag: String,
    pub(crate) start_s: f64,
    /// Latencies in nanoseconds, ascending, and their counts.
    pub(crate) counts: Vec<(u64, u64)>,
}

/// Calls `each` with each line of a log: an hour of them takes much memory. Skips a last line that is cut off.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn read(log: &[u8], mut each: impl FnMut(Line)) -> Result<(), String> {
    let whole = log.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    for (nth, entry) in IntervalLogIterator::new(&log[..whole]).enumerate() {
        let Ok(entry) = entry else { return Err(format!("entry {} is no part of a log", nth + 1)) };
        let LogEntry::Interval(line) = entry else { continue };
        let bytes = STANDARD.decode(line.encoded_histogram()).map_err(|e| e.to_string())?;
        each(Line {
            tag: line.tag().map_or_else(String::new, |tag| tag.as_str().to_owned()),
            start_s: line.start_timestamp().as_secs_f64(),
            counts: hdr::counts(&bytes).map_err(|e| format!("a histogram in it is none: {e}"))?,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_measure::{Phase, Recorder};

    #[test]
    fn what_is_written_reads_back() {
        let mut recorder = Recorder::new(2, 0, true);
        recorder.started(1);
        recorder.completed(1, true, 1_000_000, 5_000_000, false);
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 2_000_000_000,
            end_ns: 3_000_000_000,
            part: recorder.take(),
            in_flight: 0,
            workers: vec![],
            groups: vec![],
        };
        let mut log = header(std::time::UNIX_EPOCH).unwrap();
        log.extend(lines(&interval, &["a".into(), "new order, mine".into()]).unwrap());
        log.extend(b"Tag=cut,3.0");
        let mut found = Vec::new();
        read(&log, |line| found.push(line)).unwrap();
        let facts = |line: &Line| (line.tag.clone(), line.start_s, line.counts[0].0 / 10_000, line.counts[0].1);
        assert_eq!(
            found.iter().map(facts).collect::<Vec<_>>(),
            [("new_order__mine".to_owned(), 2.0, 100, 1), ("new_order__mine.response".to_owned(), 2.0, 500, 1)]
        );
    }

    #[test]
    fn what_is_no_log_is_reported() {
        for wrong in ["nothing\n", "Tag=a,1.0,1.0,1.0,AAAA\n", "1.0,1.0,1.0,!\n"] {
            assert!(read(wrong.as_bytes(), |_| ()).is_err(), "{wrong}");
        }
    }
}
