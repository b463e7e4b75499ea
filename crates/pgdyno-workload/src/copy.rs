//! Rows in COPY's text format.

use pgdyno_wire::push_int;

/// A buffer of rows. Fields of a row are appended in the order of the columns, then [`CopyBuf::end_row`].
///
/// Source: PostgreSQL documentation, COPY, "Text Format".
#[derive(Debug, Default)]
pub struct CopyBuf {
    bytes: Vec<u8>,
    rows: u64,
    in_row: bool,
}

impl CopyBuf {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Rows that were written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Empties it, and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
        self.in_row = false;
    }

    #[inline]
    fn separate(&mut self) {
        if self.in_row {
            self.bytes.push(b'\t');
        }
        self.in_row = true;
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) -> &mut Self {
        self.separate();
        push_int(&mut self.bytes, value);
        self
    }

    /// A number with two digits after the point, given in hundredths: 1250 is `12.50`.
    #[inline]
    pub fn cents(&mut self, hundredths: i64) -> &mut Self {
        self.fixed(hundredths, 2)
    }

    /// A number with `scale` digits after the point, given in units of its last digit.
    pub fn fixed(&mut self, units: i64, scale: u32) -> &mut Self {
        self.separate();
        if units < 0 {
            self.bytes.push(b'-');
        }
        let (units, one) = (units.unsigned_abs(), 10u64.pow(scale));
        push_int(&mut self.bytes, (units / one) as i64);
        if scale > 0 {
            self.bytes.push(b'.');
            let fraction = units % one;
            let mut digit = one / 10;
            while digit > 0 {
                self.bytes.push(b'0' + (fraction / digit % 10) as u8);
                digit /= 10;
            }
        }
        self
    }

    /// Text that holds no backslash, tab or line break. Checked in debug builds.
    #[inline]
    pub fn plain(&mut self, text: &[u8]) -> &mut Self {
        debug_assert!(!text.iter().any(|b| matches!(b, b'\\' | b'\t' | b'\n' | b'\r')), "text that needs escaping");
        self.separate();
        self.bytes.extend_from_slice(text);
        self
    }

    /// Text of a length that is only known once it is written: `write` appends to the row's bytes.
    #[inline]
    pub fn plain_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        self.separate();
        write(&mut self.bytes);
        self
    }

    /// Any text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.separate();
        for &b in text.as_bytes() {
            match b {
                b'\\' => self.bytes.extend_from_slice(b"\\\\"),
                b'\t' => self.bytes.extend_from_slice(b"\\t"),
                b'\n' => self.bytes.extend_from_slice(b"\\n"),
                b'\r' => self.bytes.extend_from_slice(b"\\r"),
                b => self.bytes.push(b),
            }
        }
        self
    }

    /// NULL.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.separate();
        self.bytes.extend_from_slice(b"\\N");
        self
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        self.bytes.push(b'\n');
        self.rows += 1;
        self.in_row = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_tab_separated_and_ends_with_a_line_break() {
        let mut buf = CopyBuf::new();
        buf.int(-5).cents(1250).cents(-7).fixed(1999, 4).plain(b"abc").null().text("a\tb\\c").end_row();
        assert_eq!(std::str::from_utf8(buf.bytes()).unwrap(), "-5\t12.50\t-0.07\t0.1999\tabc\t\\N\ta\\tb\\\\c\n");
        assert_eq!(buf.rows(), 1);
    }

    #[test]
    fn the_extremes_of_an_integer_are_written_right() {
        let mut buf = CopyBuf::new();
        buf.int(i64::MIN).int(i64::MAX).int(0).end_row();
        assert_eq!(buf.bytes(), b"-9223372036854775808\t9223372036854775807\t0\n");
    }
}
