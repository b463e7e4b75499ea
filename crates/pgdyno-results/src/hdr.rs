//! Counts of a serialized HdrHistogram, without a histogram: an hour's log has tens of thousands of them, and filling
//! and searching the 30,000 counters of each takes tens of times as long as reading the few that are written.
//!
//! Source: the V2 encoding of HdrHistogram, compressed: a cookie, a length, and a zlib stream of a header of 40 bytes
//! and the counts in ZigZag LEB128; a negative count stands for so many zeros.

use std::io::{self, BufRead, BufReader, Read as _};

use flate2::read::ZlibDecoder;

const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
const HEADER_BYTES: usize = 40;
/// Digits of `latency.hlog`. More digits would need ten times the counters each.
const DIGITS_MAX: u32 = 3;
/// The last byte of a long number has no continuation bit.
const LONGEST_BYTES: u32 = 9;

/// Returns values, ascending, each the highest of its counter, and their counts.
///
/// # Errors
/// Describes the first mistake.
pub(crate) fn counts(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    if word(bytes, 0)? != COMPRESSED {
        return Err("it does not begin as one".to_owned());
    }
    // A few bytes can be the compressed form of very many: it holds at most as many as there are counters.
    let mut stream = BufReader::new(ZlibDecoder::new(bytes.get(8..).unwrap_or_default()));
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header).map_err(|e| cut_off(&e))?;
    if word(&header, 0)? != PLAIN || word(&header, 8)? != 0 {
        return Err("it is of another kind".to_owned());
    }
    let layout = Layout::new(word(&header, 12)?, long(&header, 16)?)?;
    let mut payload = Payload { left: word(&header, 4)?, stream };
    let (mut index, mut counts) = (0_u64, Vec::new());
    while let Some(number) = payload.zig_zag()? {
        let counters = match u64::try_from(number) {
            Ok(count) => {
                if count > 0 {
                    counts.push((layout.value(index).ok_or("a value in it is too large")?, count));
                }
                1
            }
            Err(_) => number.unsigned_abs(),
        };
        let end = index.checked_add(counters).filter(|end| layout.value(end - 1).is_some());
        index = end.ok_or("a value in it is too large")?;
    }
    // Reads the rest: a stream that is cut off after the last count is cut off, too.
    io::copy(&mut payload.stream, &mut io::sink()).map_err(|e| cut_off(&e))?;
    Ok(counts)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], String> {
    let found = bytes.get(at..at + N).and_then(|part| part.try_into().ok());
    found.ok_or_else(|| "it is cut off".to_owned())
}

fn word(bytes: &[u8], at: usize) -> Result<u32, String> {
    array(bytes, at).map(u32::from_be_bytes)
}

fn long(bytes: &[u8], at: usize) -> Result<u64, String> {
    array(bytes, at).map(u64::from_be_bytes)
}

fn cut_off(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut off".to_owned(),
        _ => error.to_string(),
    }
}

/// Numbers of a histogram, read as they are decompressed.
struct Payload<R> {
    /// Bytes that belong to it and are not read yet.
    left: u32,
    stream: R,
}

impl<R: BufRead> Payload<R> {
    fn byte(&mut self) -> Result<u8, String> {
        self.left = self.left.checked_sub(1).ok_or("it is cut off")?;
        let first = self.stream.fill_buf().map_err(|e| cut_off(&e))?.first().copied();
        self.stream.consume(1);
        first.ok_or_else(|| "it is cut off".to_owned())
    }

    /// Returns the next number; `None` at the end.
    fn zig_zag(&mut self) -> Result<Option<i64>, String> {
        if self.left == 0 {
            return Ok(None);
        }
        let (mut number, mut nth) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            nth += 1;
            if nth == LONGEST_BYTES {
                number |= u64::from(byte) << 56;
                break;
            }
            number |= u64::from(byte & 0x7f) << (7 * (nth - 1));
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(Some((number >> 1) as i64 ^ -((number & 1) as i64)))
    }
}

/// Values of the counters.
struct Layout {
    /// Two to this is the least value that differs from zero.
    unit_bits: u32,
    /// Each doubling has two to this counters.
    half_bits: u32,
}

impl Layout {
    fn new(digits: u32, lowest: u64) -> Result<Self, String> {
        if digits > DIGITS_MAX || lowest == 0 {
            return Err(format!("{digits} digits from {lowest} on are no layout"));
        }
        let half_bits = 10_u64.pow(digits).next_power_of_two().trailing_zeros();
        Ok(Self { unit_bits: lowest.ilog2(), half_bits })
    }

    /// Returns the highest value of a counter; `None` if it is too large.
    fn value(&self, index: u64) -> Option<u64> {
        let half = 1 << self.half_bits;
        let doubling = (index >> self.half_bits).saturating_sub(1);
        let within = if index < half { index } else { index % half + half };
        let bits = u32::try_from(doubling).ok()?.checked_add(self.unit_bits)?;
        let lowest = within.checked_mul(1_u64.checked_shl(bits)?)?;
        lowest.checked_add((1 << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    fn serialized(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn it_reads_what_the_library_reads() {
        for (digits, lowest) in [(3, 1), (2, 1), (0, 1), (3, 1000)] {
            let mut histogram: Histogram<u64> = Histogram::new_with_bounds(lowest, 3_600_000_000_000, digits).unwrap();
            assert_eq!(counts(&serialized(&histogram)).unwrap(), []);
            let mut value = 1_u64;
            for nth in 0..2000 {
                value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(nth);
                histogram.record_n((value % 3_600_000_000_000) >> (nth % 40), 1 + nth * nth * nth).unwrap();
            }
            histogram.record_n(5, u64::MAX >> 3).unwrap();
            let found: Vec<_> =
                histogram.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
            assert_eq!(counts(&serialized(&histogram)).unwrap(), found, "{digits} digits from {lowest}");
        }
    }

    #[test]
    fn what_is_cut_off_or_none_is_reported() {
        let mut histogram: Histogram<u64> = Histogram::new(3).unwrap();
        histogram.record(1_000_000).unwrap();
        let whole = serialized(&histogram);
        for end in 0..whole.len() - 4 {
            assert!(counts(&whole[..end]).is_err(), "{end} of {}", whole.len());
        }
        assert!(counts(&[b"x", &whole[..]].concat()).is_err());
        assert!(counts(&[0; 64]).is_err());
    }

    /// Returns the compressed form of `plain` as a histogram of three digits from 1 on.
    fn of(payload: &[u8]) -> Result<Vec<(u64, u64)>, String> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let kind = [PLAIN.to_be_bytes(), length, [0; 4], 3_u32.to_be_bytes()].concat();
        let plain = [&kind[..], &1_u64.to_be_bytes(), &u64::MAX.to_be_bytes(), &[0; 8], payload].concat();
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, &plain).unwrap();
        counts(&[&COMPRESSED.to_be_bytes()[..], &[0; 4], &encoder.finish().unwrap()].concat())
    }

    #[test]
    fn counters_beyond_the_last_value_are_refused_however_they_are_written() {
        assert_eq!(of(&[2, 0, 0, 4]), Ok(vec![(0, 1), (3, 2)]));
        // Zeros one by one: a megabyte of them compresses to a kilobyte.
        assert_eq!(of(&vec![0; 1 << 20]), Err("a value in it is too large".to_owned()));
        // -2^63 zeros, twice.
        assert_eq!(of(&[0xff; 18]), Err("a value in it is too large".to_owned()));
        assert_eq!(of(&[0xff; 8]), Err("it is cut off".to_owned()));
    }
}
