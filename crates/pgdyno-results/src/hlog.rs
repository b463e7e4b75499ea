//! `latency.hlog`: an HdrHistogram interval log, one line for each interval and transaction, that any
//! HdrHistogram tool reads and merges.

use std::io;
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use pgdyno_measure::Interval;

/// The header; `started` is the begin of the run, which start stamps count from.
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

/// The lines of one interval.
pub(crate) fn lines(interval: &Interval, txns: &[String]) -> io::Result<Vec<u8>> {
    let (mut bytes, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut bytes, &mut serializer)?;
    let start = Duration::from_nanos(interval.start_ns);
    let length = Duration::from_nanos(interval.end_ns.saturating_sub(interval.start_ns));
    for (txn, name) in interval.part.txns.iter().zip(txns) {
        let response = txn.response.as_ref().map(|latency| (format!("{name}.response"), latency));
        for (tag, latency) in std::iter::once((name.clone(), &txn.service)).chain(response) {
            if let Some(histogram) = latency.histogram() {
                log.write_histogram(histogram, start, length, Tag::new(&tag))
                    .map_err(|e| io::Error::other(format!("{e:?}")))?;
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use pgdyno_measure::{Phase, Recorder};

    #[test]
    fn what_is_written_reads_back() {
        let mut recorder = Recorder::new(2, 0, true);
        recorder.started(1);
        recorder.completed(1, true, 1_000_000, 5_000_000, false);
        let interval = Interval {
            index: 0,
            phase: Phase::Measure,
            start_ns: 2_000_000_000,
            end_ns: 3_000_000_000,
            part: recorder.take(),
            in_flight: 0,
            workers: vec![],
        };
        let mut log = header(std::time::UNIX_EPOCH).unwrap();
        log.extend(lines(&interval, &["a".into(), "new-order".into()]).unwrap());
        let read: Vec<_> = IntervalLogIterator::new(&log)
            .filter_map(|entry| match entry.unwrap() {
                LogEntry::Interval(i) => Some((
                    i.tag().unwrap().as_str().to_owned(),
                    i.start_timestamp().as_secs(),
                    i.encoded_histogram().to_owned(),
                )),
                _ => None,
            })
            .collect();
        assert_eq!(
            read.iter().map(|(tag, start, _)| (tag.as_str(), *start)).collect::<Vec<_>>(),
            [("new-order", 2), ("new-order.response", 2)]
        );
        let bytes = base64_decode(&read[0].2);
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!((histogram.len(), histogram.max() / 1000), (1, 1000));
    }

    fn base64_decode(text: &str) -> Vec<u8> {
        let value =
            |b: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|&c| c == b);
        let (mut bits, mut count, mut out) = (0u32, 0, Vec::new());
        for v in text.bytes().filter_map(value) {
            bits = bits << 6 | v as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
            }
        }
        out
    }
}
