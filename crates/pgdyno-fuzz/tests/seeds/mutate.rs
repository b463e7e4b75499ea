//! Mutations of inputs, the same for the same seed.

/// Bytes and texts that readers often handle wrongly.
const NASTY: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xff\xff",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"\0\0\0\x04",
    b"\0\0\0\x03",
    b"\x40\0\0\x01",
    b"-1",
    b"0",
    b"1e400",
    b"-0.0",
    b"NaN",
    b"inf",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"4294967296",
    b"'",
    b"\"",
    b"\\",
    b"\n",
    b"\r\n",
    b",",
    b"=",
    b"%",
    b"%00",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b"/",
    b"..",
    b"\xc3\xa9",
    b"\xe2\x82",
    b"\xf0\x9f\x98\x80",
    b"null",
    b"true",
    b"[]",
    b"{}",
];

/// Longest input that a mutation makes.
const LONGEST: usize = 64 << 10;

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }
}

/// Returns `bytes` with a few changes; some insert a part of `other`.
pub(crate) fn mutated(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        change(&mut bytes, other, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let length = random.below(16.min(bytes.len() - at + 1));
    let nasty = NASTY[random.below(NASTY.len())];
    match random.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.next() as u8,
        2 => drop(bytes.drain(at..at + length)),
        3 => drop(bytes.splice(at..at + length, nasty.iter().copied())),
        4 => drop(bytes.splice(at..at, nasty.iter().copied())),
        5 => {
            let copy = bytes[at..at + length].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        6 => {
            let from = random.below(other.len() + 1);
            let part = &other[from..other.len().min(from + random.below(200))];
            bytes.splice(at..at + length, part.iter().copied());
        }
        7 => bytes.truncate(at),
        // Insert a digit, into a number if there is one.
        _ => {
            let digit = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()).unwrap_or(at);
            bytes.insert(digit, b'0' + random.below(10) as u8);
        }
    }
}
