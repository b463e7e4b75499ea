//! Fields in COPY's binary format.
//!
//! Source: PostgreSQL documentation, COPY, "Binary Format"; `numeric_send` of PostgreSQL for decimal numbers.

/// Header: the signature, no flags, no extension.
pub(super) const BEGIN: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Trailer.
pub(super) const END: &[u8] = &(-1i16).to_be_bytes();
/// The length of NULL.
pub(super) const NULL: &[u8] = &(-1i32).to_be_bytes();

/// Seconds from 1970-01-01 to 2000-01-01, from which timestamps count.
const EPOCH_S: i64 = 946_684_800;
/// Days from 1970-01-01 to 2000-01-01, from which dates count.
const EPOCH_DAYS: i32 = 10_957;

/// Groups of four decimal digits, as the server stores them: five groups before the point hold any 64 bits, and four
/// after it [`SCALE_MAX`] digits.
const GROUPS: usize = 9;
/// Largest number of digits after the point.
pub(super) const SCALE_MAX: u32 = 16;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `smallint`
    Int2,
    /// `integer`
    Int4,
    /// `bigint`
    Int8,
    /// `numeric`, of any precision
    Numeric,
    /// `text`, `varchar` or `char`
    Text,
    /// `timestamptz`
    Timestamptz,
    /// `date`
    Date,
}

impl ColumnType {
    /// Returns the type with this SQL name; `None` if no rows have it.
    #[must_use]
    pub fn of_sql(name: &str) -> Option<Self> {
        let name = name.split('(').next().unwrap_or_default().trim().to_lowercase();
        Some(match name.as_str() {
            "smallint" | "int2" => Self::Int2,
            "integer" | "int" | "int4" => Self::Int4,
            "bigint" | "int8" => Self::Int8,
            "numeric" | "decimal" => Self::Numeric,
            "text" | "varchar" | "char" => Self::Text,
            "timestamptz" => Self::Timestamptz,
            "date" => Self::Date,
            _ => return None,
        })
    }
}

/// Appends an integer in the type of its column.
///
/// # Panics
/// When the column holds no numbers, or the integer does not fit: the row source is wrong then.
#[inline]
pub(super) fn push_int(out: &mut Vec<u8>, column: ColumnType, value: i64) {
    match column {
        ColumnType::Int2 => push_field(out, &fit::<i16>(value).to_be_bytes()),
        ColumnType::Int4 => push_four(out, fit::<i32>(value)),
        ColumnType::Int8 => push_field(out, &value.to_be_bytes()),
        ColumnType::Numeric => push_numeric(out, value, 0),
        ColumnType::Text | ColumnType::Timestamptz | ColumnType::Date => {
            panic!("an integer for a column of {column:?}")
        }
    }
}

#[inline]
fn fit<T: TryFrom<i64>>(value: i64) -> T {
    T::try_from(value).unwrap_or_else(|_| panic!("{value} does not fit its column"))
}

/// Appends a point in time, in seconds since 1970.
#[inline]
pub(super) fn push_timestamp(out: &mut Vec<u8>, unix_s: i64) {
    push_field(out, &((unix_s - EPOCH_S) * 1_000_000).to_be_bytes());
}

/// Appends a date, in days since 1970.
#[inline]
pub(super) fn push_date(out: &mut Vec<u8>, unix_days: i32) {
    push_four(out, unix_days - EPOCH_DAYS);
}

/// Appends four bytes with their length, at once.
#[inline]
fn push_four(out: &mut Vec<u8>, value: i32) {
    let [a, b, c, d] = value.to_be_bytes();
    out.extend_from_slice(&[0, 0, 0, 4, a, b, c, d]);
}

/// Appends bytes with their length.
#[inline]
pub(super) fn push_field(out: &mut Vec<u8>, bytes: &[u8]) {
    // Flags.
    if let &[letter] = bytes {
        return out.extend_from_slice(&[0, 0, 0, 1, letter]);
    }
    out.extend_from_slice(&length(bytes.len()));
    out.extend_from_slice(bytes);
}

/// Appends a field that `write` writes.
#[inline]
pub(super) fn push_with(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len() + 4;
    out.extend_from_slice(&[0; 4]);
    write(out);
    let bytes = length(out.len() - start);
    out[start - 4..start].copy_from_slice(&bytes);
}

#[inline]
fn length(bytes: usize) -> [u8; 4] {
    // Fields are far smaller than 2 GiB.
    (bytes as i32).to_be_bytes()
}

/// Appends a number with two digits after the point, given in hundredths: the same as [`push_numeric`], without its loops.
#[inline]
pub(super) fn push_cents(out: &mut Vec<u8>, hundredths: i64) {
    let magnitude = hundredths.unsigned_abs();
    // Two groups before the point.
    if magnitude >= 10_000_000_000 {
        return push_numeric(out, hundredths, 2);
    }
    let (whole, fraction) = ((magnitude / 100) as u32, (magnitude % 100) as u16 * 100);
    let (high, low) = ((whole / 10_000) as u16, (whole % 10_000) as u16);
    // The groups from the left, in one word: its zeros show which of them are left out at either end. No branches: which
    // groups are zero, no CPU foresees.
    let groups = u64::from(high) << 48 | u64::from(low) << 32 | u64::from(fraction) << 16;
    let (first, end) = (groups.leading_zeros() / 16, 4 - groups.trailing_zeros() / 16);
    let number = end.saturating_sub(first);
    let weight = if number == 0 { 0 } else { 1 - first as i16 };
    let sign: u16 = if hundredths < 0 { 0x4000 } else { 0 };
    let head = u64::from(8 + 2 * number) << 32 | u64::from(number) << 16 | u64::from(weight as u16);
    let digits = groups.checked_shl(16 * first).unwrap_or(0);
    let mut field = [0; 20];
    field[..8].copy_from_slice(&head.to_be_bytes());
    field[8..12].copy_from_slice(&(u32::from(sign) << 16 | 2).to_be_bytes());
    field[12..].copy_from_slice(&digits.to_be_bytes());
    // A copy of a known size, of which the end is taken back, costs less than one of any size.
    out.extend_from_slice(&field);
    out.truncate(out.len() - (8 - 2 * number as usize));
}

/// Appends a decimal number in units of its last digit, with `scale` digits after the point: groups of four digits,
/// without zero groups at either end.
#[inline]
pub(super) fn push_numeric(out: &mut Vec<u8>, units: i64, scale: u32) {
    debug_assert!(scale <= SCALE_MAX, "{scale} digits after the point");
    let (magnitude, one) = (units.unsigned_abs(), 10u64.pow(scale));
    let mut whole = magnitude / one;
    let fraction_groups = scale.div_ceil(4);
    let mut fraction = magnitude % one * 10u64.pow(fraction_groups * 4 - scale);
    let mut groups = [0u16; GROUPS];
    let (mut first, mut end) = (GROUPS, GROUPS);
    for _ in 0..fraction_groups {
        first -= 1;
        groups[first] = (fraction % 10_000) as u16;
        fraction /= 10_000;
    }
    let point = first;
    while whole > 0 {
        first -= 1;
        groups[first] = (whole % 10_000) as u16;
        whole /= 10_000;
    }
    while first < end && groups[first] == 0 {
        first += 1;
    }
    while first < end && groups[end - 1] == 0 {
        end -= 1;
    }
    // Weight of the first group: its power of ten thousand, counted from the point.
    let weight = if first < end { point as i16 - first as i16 - 1 } else { 0 };
    let sign: u16 = if units < 0 { 0x4000 } else { 0 };
    push_with(out, |out| {
        out.extend_from_slice(&((end - first) as u16).to_be_bytes());
        out.extend_from_slice(&weight.to_be_bytes());
        out.extend_from_slice(&sign.to_be_bytes());
        out.extend_from_slice(&(scale as u16).to_be_bytes());
        for group in &groups[first..end] {
            out.extend_from_slice(&group.to_be_bytes());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups, weight, sign, scale, digits.
    fn numeric(units: i64, scale: u32) -> Vec<i16> {
        let mut out = Vec::new();
        push_numeric(&mut out, units, scale);
        assert_eq!(out.len(), 4 + usize::from(out[3]));
        out[4..].chunks(2).map(|two| i16::from_be_bytes([two[0], two[1]])).collect()
    }

    /// Output of `numeric_send` of PostgreSQL 15 for the same numbers.
    #[test]
    fn numbers_are_groups_of_four_digits() {
        for (units, scale, expected) in [
            (0, 2, &[0, 0, 0, 2][..]),
            (1250, 2, &[2, 0, 0, 2, 12, 5000]),
            (-1000, 2, &[1, 0, 0x4000, 2, 10]),
            (-7, 2, &[1, -1, 0x4000, 2, 700]),
            (5_000_000, 2, &[1, 1, 0, 2, 5]),
            (1999, 4, &[1, -1, 0, 4, 1999]),
            (1, 8, &[1, -2, 0, 8, 1]),
            (120_000_003, 0, &[3, 2, 0, 0, 1, 2000, 3]),
            (i64::MAX, 16, &[5, 0, 0, 16, 922, 3372, 368, 5477, 5807]),
            (i64::MIN, 0, &[5, 4, 0x4000, 0, 922, 3372, 368, 5477, 5808]),
        ] {
            assert_eq!(numeric(units, scale), expected, "{units} e-{scale}");
        }
    }

    #[test]
    fn hundredths_are_written_as_any_other_numbers() {
        let both = |hundredths: i64| {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            push_cents(&mut short, hundredths);
            push_numeric(&mut long, hundredths, 2);
            (short, long)
        };
        let numbers = [0, 1, 7, 99, 100, 101, 1_250, 999_999, 1_000_000, 1_000_001, 1_000_100, 10_000_000, 12_345_678];
        let large = [9_999_999_999, 10_000_000_000, 10_000_000_001, i64::MAX, i64::MIN + 1];
        for number in numbers.into_iter().chain(large).flat_map(|n| [n, -n]) {
            let (short, long) = both(number);
            assert_eq!(short, long, "{number} hundredths");
        }
    }

    #[test]
    fn types_are_known_by_their_names_in_sql() {
        assert_eq!(ColumnType::of_sql("numeric(4,4)"), Some(ColumnType::Numeric));
        assert_eq!(ColumnType::of_sql("CHAR(2)"), Some(ColumnType::Text));
        assert_eq!(ColumnType::of_sql("point"), None);
    }
}
