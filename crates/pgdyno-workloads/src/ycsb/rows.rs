//! Keys and field values.
//!
//! A value is random, but for marks by which checks recognise it: the last eight characters of the key, a number of eight
//! digits, random characters, and the number again. Values that are too short for them have none.

use pgdyno_workload::dist::ycsb::hash;
use pgdyno_workload::{CopyBuf, Rng, RowSource, push_int};

use super::layout::{Layout, MARK, MARKED_BYTES};

/// Characters of values: YCSB's, without quotes, so that no format needs to escape them.
const CHARACTERS: &[u8; 32] = b" !A#$%&B()*+,-./0123456789:;<=>?";
const BITS: u32 = CHARACTERS.len().ilog2();
/// Bytes of rows in one chunk.
const CHUNK_BYTES: u64 = 1_000_000;

/// Writes the key of a number: `user6284781860667377211` for 0.
#[inline]
pub(super) fn write_key(number: u64, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(b"user");
    push_int(key, hash(number) as i64);
}

/// Appends a value of `bytes` bytes for a record with this key.
pub(super) fn push_value(key: &[u8], count: u32, bytes: usize, rng: &mut Rng, out: &mut Vec<u8>) {
    if bytes < MARKED_BYTES {
        push_random(bytes, rng, out);
        return;
    }
    let count = digits(count);
    out.extend_from_slice(&key[key.len() - MARK..]);
    out.extend_from_slice(&count);
    push_random(bytes - MARKED_BYTES, rng, out);
    out.extend_from_slice(&count);
}

/// Returns the number in a value's mark; 0 if it has none.
pub(super) fn count_of(value: &[u8], key: &[u8]) -> u32 {
    let marked = value.strip_prefix(&key[key.len() - MARK..]).and_then(|rest| rest.get(..MARK));
    marked.and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn digits(number: u32) -> [u8; MARK] {
    let (mut digits, mut rest) = ([b'0'; MARK], number);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

fn push_random(bytes: usize, rng: &mut Rng, out: &mut Vec<u8>) {
    let (end, mut bits) = (out.len() + bytes, 0);
    let mut left = 0;
    while out.len() < end {
        if left == 0 {
            (bits, left) = (rng.next_u64(), 64 / BITS);
        }
        out.push(CHARACTERS[bits as usize % CHARACTERS.len()]);
        bits >>= BITS;
        left -= 1;
    }
}

/// Appends a JSON object with one field.
pub(super) fn push_object(field: u32, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"field");
    push_int(out, i64::from(field));
    out.extend_from_slice(b"\": \"");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\"}");
}

/// The records of the table, in the order of their numbers.
pub(super) struct Rows {
    pub(super) layout: Layout,
}

impl Rows {
    fn chunk_rows(&self) -> u64 {
        (CHUNK_BYTES / self.layout.row_bytes()).max(1)
    }
}

impl RowSource for Rows {
    fn chunks(&self) -> u64 {
        self.layout.records.div_ceil(self.chunk_rows())
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let first = chunk * self.chunk_rows();
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for number in first..(first + self.chunk_rows()).min(self.layout.records) {
            write_key(number, &mut key);
            let mut rng = Rng::derive(0, "usertable", &[number]);
            out.plain(&key);
            if self.layout.is_jsonb {
                value.clear();
                push_document(&self.layout, &key, &mut rng, &mut value);
                out.plain(&value);
            } else {
                for _ in 0..self.layout.fields {
                    out.plain_with(|out| push_value(&key, 0, self.layout.field_bytes, &mut rng, out));
                }
            }
            out.end_row();
        }
    }
}

/// Appends a JSON object with all fields.
pub(super) fn push_document(layout: &Layout, key: &[u8], rng: &mut Rng, out: &mut Vec<u8>) {
    for field in 0..layout.fields {
        out.extend_from_slice(if field == 0 { b"{\"field" } else { b", \"field" });
        push_int(out, i64::from(field));
        out.extend_from_slice(b"\": \"");
        push_value(key, 0, layout.field_bytes, rng, out);
        out.push(b'"');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_length_and_marks() {
        let (mut rng, key) = (Rng::new(1), b"user6284781860667377211");
        for bytes in [1, 23, 24, 25, 100] {
            let mut value = Vec::new();
            push_value(key, 1_234, bytes, &mut rng, &mut value);
            assert_eq!(value.len(), bytes);
            let is_marked = bytes >= MARKED_BYTES;
            assert_eq!(value.starts_with(b"6737721100001234") && value.ends_with(b"00001234"), is_marked);
            assert_eq!(count_of(&value, key), if is_marked { 1_234 } else { 0 });
        }
        assert_eq!(count_of(b"6737721x", key), 0);
    }
}
