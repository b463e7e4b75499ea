//! What a serialized HdrHistogram has counted, without a histogram: an hour's log holds tens of thousands of them, and to
//! fill and search the 30,000 counters of each takes tens of times as long as to read the few that are written.
//!
//! Source: the V2 encoding of HdrHistogram, compressed: a cookie, a length, and a zlib stream of a header of 40 bytes and the
//! counts in ZigZag LEB128, of which a negative one stands for so many zeros.

use std::io::Read;

use flate2::read::ZlibDecoder;

const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
const HEADER_BYTES: usize = 40;
/// Digits beyond which there is no histogram.
const DIGITS_MAX: u32 = 5;
/// The last byte of a long number has no mark that more follow.
const LONGEST_BYTES: u32 = 9;

/// Values, ascending, each the highest that its counter stands for, and how often each was counted.
///
/// # Errors
/// In words.
pub(crate) fn counts(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    if word(bytes, 0)? != COMPRESSED {
        return Err("it does not begin as one".to_owned());
    }
    let mut plain = Vec::new();
    let stream = bytes.get(8..).unwrap_or_default();
    ZlibDecoder::new(stream).read_to_end(&mut plain).map_err(|e| e.to_string())?;
    if word(&plain, 0)? != PLAIN || word(&plain, 8)? != 0 {
        return Err("it is of another kind".to_owned());
    }
    let length = word(&plain, 4)? as usize;
    let layout = Layout::new(word(&plain, 12)?, long(&plain, 16)?)?;
    let mut payload = plain.get(HEADER_BYTES..).and_then(|rest| rest.get(..length)).ok_or("it is cut off")?.iter();
    let (mut index, mut counts) = (0_u64, Vec::new());
    while let Some(number) = zig_zag(&mut payload)? {
        match u64::try_from(number) {
            Ok(0) => index += 1,
            Ok(count) => {
                counts.push((layout.value(index).ok_or("a value in it is too large")?, count));
                index += 1;
            }
            Err(_) => index = index.checked_add(number.unsigned_abs()).ok_or("it is too long")?,
        }
    }
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

/// The next number; none at the end.
fn zig_zag<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Result<Option<i64>, String> {
    let Some(first) = bytes.next() else { return Ok(None) };
    let (mut byte, mut number, mut nth) = (*first, 0_u64, 0);
    loop {
        nth += 1;
        if nth == LONGEST_BYTES {
            number |= u64::from(byte) << 56;
            break;
        }
        number |= u64::from(byte & 0x7f) << (7 * (nth - 1));
        if byte & 0x80 == 0 {
            break;
        }
        byte = *bytes.next().ok_or("it is cut off")?;
    }
    Ok(Some((number >> 1) as i64 ^ -((number & 1) as i64)))
}

/// Which values a counter stands for.
struct Layout {
    /// The least value that is told from zero is two to this.
    unit_bits: u32,
    /// Counters of each doubling are two to this.
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

    /// The highest value of a counter; none where there is no such value.
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
        for (digits, lowest) in [(3, 1), (2, 1), (0, 1), (5, 1), (3, 1000)] {
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
    fn what_is_cut_off_or_none_is_told() {
        let mut histogram: Histogram<u64> = Histogram::new(3).unwrap();
        histogram.record(1_000_000).unwrap();
        let whole = serialized(&histogram);
        for end in 0..whole.len() - 4 {
            assert!(counts(&whole[..end]).is_err(), "{end} of {}", whole.len());
        }
        assert!(counts(&[b"x", &whole[..]].concat()).is_err());
        assert!(counts(&[0; 64]).is_err());
    }
}
