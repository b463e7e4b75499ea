//! Rows in COPY's text or binary format.

mod binary;

use pgdyno_wire::push_int;

pub use self::binary::ColumnType;

/// A buffer of rows. Fields of a row are appended in the order of the columns, then [`CopyBuf::end_row`].
///
/// Source: PostgreSQL documentation, COPY, "Text Format".
#[derive(Debug, Default)]
pub struct CopyBuf {
    bytes: Vec<u8>,
    rows: u64,
    in_row: bool,
    /// Columns of the binary format; empty in the text format.
    columns: Vec<ColumnType>,
    /// Number of the next field in its row, in the binary format.
    field: usize,
}

/// A point in time, as text and as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// As SQL reads it in any time zone of the session: `2026-01-01 00:00:00+00`.
    pub text: &'static str,
    /// Seconds since 1970-01-01, UTC.
    pub unix_s: i64,
}

impl CopyBuf {
    /// Returns an empty buffer in the text format.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties it, and switches to the binary format of a table with these columns, or to the text format without
    /// columns.
    pub fn start(&mut self, columns: &[ColumnType]) {
        self.clear();
        self.columns.clear();
        self.columns.extend_from_slice(columns);
    }

    /// Returns the header of a COPY.
    #[must_use]
    pub fn header(&self) -> &'static [u8] {
        if self.is_binary() { binary::BEGIN } else { &[] }
    }

    /// Returns the trailer of a COPY.
    #[must_use]
    pub fn trailer(&self) -> &'static [u8] {
        if self.is_binary() { binary::END } else { &[] }
    }

    #[inline]
    fn is_binary(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Returns the bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Empties it, and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
        self.in_row = false;
        self.field = 0;
    }

    /// Appends the tab between two fields, in the text format.
    #[inline]
    fn separate(&mut self) {
        if self.in_row {
            self.bytes.push(b'\t');
        }
        self.in_row = true;
    }

    /// Returns the type of the next field, in the binary format. Writes the number of fields before the first one.
    #[inline]
    fn column(&mut self) -> ColumnType {
        if self.field == 0 {
            // A table has at most 1,600 columns.
            self.bytes.extend_from_slice(&(self.columns.len() as i16).to_be_bytes());
        }
        self.field += 1;
        self.columns[self.field - 1]
    }

    /// Appends an integer.
    #[inline]
    pub fn int(&mut self, value: i64) -> &mut Self {
        if self.is_binary() {
            return self.int_in_binary(value);
        }
        self.separate();
        push_int(&mut self.bytes, value);
        self
    }

    /// Appends a point in time, for a column of `timestamptz`.
    #[inline]
    pub fn timestamp(&mut self, at: Timestamp) -> &mut Self {
        if self.is_binary() {
            self.column();
            binary::push_timestamp(&mut self.bytes, at.unix_s);
            return self;
        }
        self.plain(at.text.as_bytes())
    }

    /// Appends a date in days since 1970-01-01, for a column of `date`.
    #[inline]
    pub fn date(&mut self, unix_days: i32) -> &mut Self {
        if self.is_binary() {
            self.column();
            binary::push_date(&mut self.bytes, unix_days);
            return self;
        }
        self.separate();
        push_date(&mut self.bytes, unix_days);
        self
    }

    /// Appends a number with two digits after the point, given in hundredths: 1250 is `12.50`.
    #[inline]
    pub fn cents(&mut self, hundredths: i64) -> &mut Self {
        if self.is_binary() {
            return self.cents_in_binary(hundredths);
        }
        self.fixed(hundredths, 2)
    }

    /// Appends a number with `scale` digits after the point, at most sixteen, given in units of its last digit.
    #[inline]
    pub fn fixed(&mut self, units: i64, scale: u32) -> &mut Self {
        if self.is_binary() {
            return self.fixed_in_binary(units, scale);
        }
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

    /// Appends text without backslash, tab or line break. Checked in debug builds.
    #[inline]
    pub fn plain(&mut self, text: &[u8]) -> &mut Self {
        debug_assert!(!text.iter().any(|b| matches!(b, b'\\' | b'\t' | b'\n' | b'\r')), "text that needs escaping");
        if self.is_binary() {
            return self.characters(text);
        }
        self.separate();
        self.bytes.extend_from_slice(text);
        self
    }

    /// Appends text whose length is known only after it is written: `write` appends to the row's bytes.
    #[inline]
    pub fn plain_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        if self.is_binary() {
            self.column();
            binary::push_with(&mut self.bytes, write);
            return self;
        }
        self.separate();
        write(&mut self.bytes);
        self
    }

    /// Not inlined, so that the text format is short enough to be.
    #[inline(never)]
    fn int_in_binary(&mut self, value: i64) -> &mut Self {
        let column = self.column();
        binary::push_int(&mut self.bytes, column, value);
        self
    }

    #[inline(never)]
    fn cents_in_binary(&mut self, hundredths: i64) -> &mut Self {
        self.column();
        binary::push_cents(&mut self.bytes, hundredths);
        self
    }

    #[inline(never)]
    fn fixed_in_binary(&mut self, units: i64, scale: u32) -> &mut Self {
        self.column();
        binary::push_numeric(&mut self.bytes, units, scale);
        self
    }

    /// Appends text in the binary format.
    #[inline(never)]
    fn characters(&mut self, text: &[u8]) -> &mut Self {
        let column = self.column();
        debug_assert_eq!(column, ColumnType::Text, "field {}", self.field);
        binary::push_field(&mut self.bytes, text);
        self
    }

    /// Appends any text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        if self.is_binary() {
            return self.characters(text.as_bytes());
        }
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

    /// Appends NULL.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        if self.is_binary() {
            self.column();
            self.bytes.extend_from_slice(binary::NULL);
            return self;
        }
        self.separate();
        self.bytes.extend_from_slice(b"\\N");
        self
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        debug_assert_eq!(self.field, self.columns.len(), "fields of a row");
        if !self.is_binary() {
            self.bytes.push(b'\n');
        }
        self.rows += 1;
        self.in_row = false;
        self.field = 0;
    }
}

/// Appends a date between the years 0 and 9999 as `1998-12-01`.
fn push_date(out: &mut Vec<u8>, unix_days: i32) {
    let (year, month, day) = civil(unix_days);
    for (value, one) in [(year, 1000), (month, 10), (day, 10)] {
        if one == 10 {
            out.push(b'-');
        }
        let mut digit = one;
        while digit > 0 {
            out.push(b'0' + (value / digit % 10) as u8);
            digit /= 10;
        }
    }
}

/// Returns year, month and day of the proleptic Gregorian calendar: eras of 400 years that begin on 1 March.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn civil(unix_days: i32) -> (i32, i32, i32) {
    let days = unix_days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i32::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
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
    fn a_date_is_written_in_both_formats() {
        let text = |days| {
            let mut buf = CopyBuf::new();
            buf.date(days);
            String::from_utf8(buf.bytes().to_vec()).unwrap()
        };
        let texts = [-1, 0, 59, 8_035, 10_957, 11_016, 19_782, -719_528].map(text);
        let expected = [
            "1969-12-31",
            "1970-01-01",
            "1970-03-01",
            "1992-01-01",
            "2000-01-01",
            "2000-02-29",
            "2024-02-29",
            "0000-01-01",
        ];
        assert_eq!(texts, expected);
        let mut buf = CopyBuf::new();
        buf.start(&[ColumnType::Date, ColumnType::Date]);
        buf.date(10_957).date(10_956).end_row();
        assert_eq!(buf.bytes(), b"\0\x02\0\0\0\x04\0\0\0\0\0\0\0\x04\xff\xff\xff\xff");
    }

    #[test]
    fn a_binary_row_counts_its_fields_and_each_has_its_length() {
        use ColumnType::{Int2, Int4, Int8, Numeric, Text, Timestamptz};
        let mut buf = CopyBuf::new();
        buf.int(1).end_row();
        buf.start(&[Int2, Int4, Int8, Numeric, Numeric, Text, Text, Timestamptz, Timestamptz]);
        buf.int(-2).int(3).int(4).int(70_000).cents(5).text("a\tb").plain_with(|out| out.push(b'c'));
        buf.timestamp(Timestamp { text: "2000-01-01 00:00:01+00", unix_s: 946_684_801 }).null().end_row();
        let fields: [&[u8]; 10] = [
            b"\0\x09",
            b"\0\0\0\x02\xff\xfe",
            b"\0\0\0\x04\0\0\0\x03",
            b"\0\0\0\x08\0\0\0\0\0\0\0\x04",
            b"\0\0\0\x0a\0\x01\0\x01\0\0\0\0\0\x07",
            b"\0\0\0\x0a\0\x01\xff\xff\0\0\0\x02\x01\xf4",
            b"\0\0\0\x03a\tb",
            b"\0\0\0\x01c",
            b"\0\0\0\x08\0\0\0\0\0\x0f\x42\x40",
            b"\xff\xff\xff\xff",
        ];
        assert_eq!(buf.bytes(), fields.concat());
        assert_eq!((buf.rows(), buf.header().len(), buf.trailer()), (1, 19, &b"\xff\xff"[..]));
        buf.start(&[]);
        buf.int(7);
        assert_eq!((buf.bytes(), buf.header(), buf.trailer()), (&b"7"[..], &b""[..], &b""[..]));
    }

    #[test]
    fn the_extremes_of_an_integer_are_written_right() {
        let mut buf = CopyBuf::new();
        buf.int(i64::MIN).int(i64::MAX).int(0).end_row();
        assert_eq!(buf.bytes(), b"-9223372036854775808\t9223372036854775807\t0\n");
    }
}
