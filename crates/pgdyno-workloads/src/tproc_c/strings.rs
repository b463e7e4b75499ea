//! Random strings of clause 4.3.2, cheap enough for millions of rows.

use pgdyno_workload::Rng;

/// The character set of an a-string: 26 upper-case letters, 26 lower-case letters, 10 digits.
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const PAIRS: usize = 62 * 62;

/// All pairs of characters, so that one division gives two of them.
static PAIR: [[u8; 2]; PAIRS] = {
    let mut table = [[0; 2]; PAIRS];
    let mut i = 0;
    while i < PAIRS {
        table[i] = [ALPHABET[i / 62], ALPHABET[i % 62]];
        i += 1;
    }
    table
};

/// Returns four characters from 32 random bits: a number below 62^4, by multiplication. No combination of four is
/// more than 1/290 likelier than another.
#[inline]
fn four(bits: u64) -> [u8; 4] {
    let number = (((bits & 0xffff_ffff) * (PAIRS * PAIRS) as u64) >> 32) as usize;
    let ([a, b], [c, d]) = (PAIR[number / PAIRS], PAIR[number % PAIRS]);
    [a, b, c, d]
}

/// Fills `out` with an a-string (clause 4.3.2.2).
#[inline]
pub(super) fn fill(rng: &mut Rng, out: &mut [u8]) {
    for chunk in out.chunks_mut(8) {
        let bits = rng.next_u64();
        let (low, high) = (four(bits), four(bits >> 32));
        let [a, b, c, d] = low;
        let [e, f, g, h] = high;
        let eight = [a, b, c, d, e, f, g, h];
        chunk.copy_from_slice(&eight[..chunk.len()]);
    }
}

/// Appends an a-string of `low..=high` characters.
#[inline]
pub(crate) fn push(rng: &mut Rng, low: usize, high: usize, out: &mut Vec<u8>) {
    let len = length(rng, low, high);
    let start = out.len();
    out.resize(start + len, 0);
    fill(rng, &mut out[start..]);
}

/// Appends an a-string of `low..=high` characters, with `ORIGINAL` at a random place if `original` is true (clause
/// 4.3.3.1, `I_DATA` and `S_DATA`); its length does not depend on that.
#[inline]
pub(super) fn push_data(rng: &mut Rng, low: usize, high: usize, original: bool, out: &mut Vec<u8>) {
    const MARK: &[u8] = b"ORIGINAL";
    let start = out.len();
    push(rng, low, high, out);
    if original {
        let text = &mut out[start..];
        let at = rng.up_to((text.len() - MARK.len()) as u64) as usize;
        text[at..at + MARK.len()].copy_from_slice(MARK);
    }
}

/// Appends an n-string of `N` digits (clause 4.3.2.2).
#[inline]
pub(crate) fn push_digits<const N: usize>(rng: &mut Rng, out: &mut Vec<u8>) {
    let mut digits = [0; N];
    for digit in &mut digits {
        // `up_to(9)` is below 10.
        *digit = b'0' + rng.up_to(9) as u8;
    }
    out.extend_from_slice(&digits);
}

/// Appends a zip code: four random digits and `11111` (clause 4.3.2.7).
#[inline]
pub(super) fn push_zip(rng: &mut Rng, out: &mut Vec<u8>) {
    push_digits::<4>(rng, out);
    out.extend_from_slice(b"11111");
}

#[inline]
fn length(rng: &mut Rng, low: usize, high: usize) -> usize {
    low + rng.up_to((high - low) as u64) as usize
}

/// A customer's last name: three syllables, fifteen letters at most (clause 4.3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct LastName {
    letters: [u8; 15],
    len: u8,
}

impl LastName {
    /// Returns the name of a number below 1000.
    #[inline]
    pub(super) fn new(number: u32) -> Self {
        const SYLLABLES: [&[u8]; 10] =
            [b"BAR", b"OUGHT", b"ABLE", b"PRI", b"PRES", b"ESE", b"ANTI", b"CALLY", b"ATION", b"EING"];
        let mut name = Self::default();
        for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
            let syllable = SYLLABLES[digit as usize];
            let at = usize::from(name.len);
            name.letters[at..at + syllable.len()].copy_from_slice(syllable);
            name.len += syllable.len() as u8;
        }
        name
    }

    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.letters[..usize::from(self.len)]
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        // The syllables are ASCII.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

/// Selects exactly one row in ten; every selection is equally likely.
///
/// Source: Knuth, The Art of Computer Programming 3.4.2, algorithm S (selection sampling).
#[derive(Debug)]
pub(super) struct OneInTen {
    rows: u64,
    wanted: u64,
}

impl OneInTen {
    /// Returns a selection for so many rows.
    pub(super) fn of(rows: u32) -> Self {
        Self { rows: u64::from(rows), wanted: u64::from(rows) / 10 }
    }

    /// Returns true if the next row is selected.
    #[inline]
    pub(super) fn pick(&mut self, rng: &mut Rng) -> bool {
        let picked = rng.up_to(self.rows - 1) < self.wanted;
        self.rows -= 1;
        self.wanted -= u64::from(picked);
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_clauses_own_examples() {
        assert_eq!(LastName::new(371).as_str(), "PRICALLYOUGHT");
        assert_eq!(LastName::new(0).as_str(), "BARBARBAR");
        assert_eq!(LastName::new(999).as_str(), "EINGEINGEING");
        assert_eq!(LastName::new(777).as_str().len(), 15);
    }

    #[test]
    fn every_character_comes_up_alike() {
        let (mut rng, mut out) = (Rng::new(1), vec![0; 620_000]);
        fill(&mut rng, &mut out);
        for c in ALPHABET {
            let n = out.iter().filter(|b| *b == c).count();
            assert!((9_600..10_400).contains(&n), "{} {n}", *c as char);
        }
        assert!(out.iter().all(u8::is_ascii_alphanumeric));
    }

    #[test]
    fn lengths_reach_both_ends_and_the_mark_keeps_them() {
        let mut rng = Rng::new(2);
        let (mut lengths, mut places) = ([0u32; 51], std::collections::BTreeSet::new());
        for _ in 0..20_000 {
            let mut out = Vec::new();
            push_data(&mut rng, 26, 50, true, &mut out);
            lengths[out.len()] += 1;
            let text = String::from_utf8(out).unwrap();
            places.insert(text.find("ORIGINAL").unwrap());
        }
        assert!(lengths[..26].iter().all(|n| *n == 0));
        assert!(lengths[26..].iter().all(|n| (650..950).contains(n)));
        assert_eq!(places.first(), Some(&0));
        assert_eq!(places.last(), Some(&42));
    }

    #[test]
    fn exactly_one_in_ten_is_picked_and_no_place_is_favoured() {
        let (mut rng, mut by_place) = (Rng::new(3), [0u32; 100]);
        for _ in 0..10_000 {
            let mut tenth = OneInTen::of(100);
            let mut picked = 0;
            for place in &mut by_place {
                let this = tenth.pick(&mut rng);
                *place += u32::from(this);
                picked += u32::from(this);
            }
            assert_eq!(picked, 10);
        }
        assert!(by_place.iter().all(|n| (850..1150).contains(n)), "{by_place:?}");
    }
}
