//! Any bytes as a `latency.hlog`, or, after a first byte `H`, as an uncompressed histogram.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use pgdyno_results::fuzzing::{histogram, latencies, responses};

pub(crate) fn run(input: &[u8]) {
    if let Some(plain) = input.strip_prefix(b"H") {
        let bytes = compressed(plain);
        same_as_the_library(&bytes);
        log(format!("Tag=a,1.0,1.0,1.0,{}\n", STANDARD.encode(&bytes)).as_bytes());
        return;
    }
    log(input);
}

fn log(bytes: &[u8]) {
    let mut lines = 0;
    let read = latencies(bytes, |line| {
        lines += 1;
        assert!(line.counts.windows(2).all(|pair| pair[0].0 < pair[1].0), "values ascend: {:?}", line.counts);
        assert!(line.counts.iter().all(|(_, count)| *count > 0));
    });
    let summed = responses(bytes);
    assert_eq!(read.is_ok(), summed.is_ok(), "{read:?}, {summed:?}");
    match read {
        Err(why) => assert!(!why.is_empty()),
        Ok(()) => {
            // A log still being written ends anywhere: the intervals of a part are those of the whole.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let mut again = 0;
            assert_eq!(latencies(&bytes[..whole], |_| again += 1), Ok(()));
            assert_eq!(again, lines);
        }
    }
}

/// Encodes a histogram as in a log.
fn compressed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let stream = encoder.write_all(plain).and_then(|()| encoder.finish()).expect("a vector takes all");
    let length = u32::try_from(stream.len()).expect("an input is short").to_be_bytes();
    [&0x1c84_9314_u32.to_be_bytes()[..], &length, &stream].concat()
}

/// Checks that our reader and the library's agree where both can read the input.
fn same_as_the_library(bytes: &[u8]) {
    let Ok(ours) = histogram(bytes) else { return };
    // The library allocates all counters of a histogram without a limit and panics on numbers at the end of their range.
    let far = |[_, low, high]: [u64; 3]| low == 0 || high > 1 << 50;
    if layout(bytes).is_none_or(far) || ours.iter().any(|(value, count)| (*value).max(*count) > 1 << 50) {
        return;
    }
    let theirs: Result<Histogram<u64>, _> = Deserializer::new().deserialize(&mut &*bytes);
    if let Ok(theirs) = theirs {
        let theirs: Vec<_> = theirs.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        assert_eq!(ours, theirs);
    }
}

/// Returns digits, lowest and highest value of a compressed histogram.
fn layout(bytes: &[u8]) -> Option<[u64; 3]> {
    let mut plain = [0; 40];
    std::io::Read::read_exact(&mut flate2::read::ZlibDecoder::new(bytes.get(8..)?), &mut plain).ok()?;
    let word = |at: usize| plain[at..].first_chunk().map(|word| u64::from_be_bytes(*word));
    Some([u64::from(u32::from_be_bytes(*plain[12..].first_chunk()?)), word(16)?, word(24)?])
}
