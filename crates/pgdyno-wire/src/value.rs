//! Parameter values and their types.

/// The type that a statement declares for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Inferred by the server; sent as text.
    Unknown,
    /// `int2`, sent as text.
    Int2,
    /// `int4`, sent in binary.
    Int4,
    /// `int8`, sent in binary.
    Int8,
    /// `text`.
    Text,
    /// `numeric`, sent as text.
    Numeric,
    /// `int4[]`, sent in binary.
    Int4Array,
}

impl ParamType {
    /// Returns the type's OID in `pg_type`; 0 leaves it to the server.
    #[must_use]
    pub fn oid(self) -> u32 {
        match self {
            Self::Unknown => 0,
            Self::Int2 => 21,
            Self::Int4 => 23,
            Self::Int8 => 20,
            Self::Text => 25,
            Self::Numeric => 1700,
            Self::Int4Array => 1007,
        }
    }

    /// Returns the format code in a Bind message: 0 text, 1 binary.
    #[must_use]
    pub fn format(self) -> i16 {
        match self {
            Self::Unknown | Self::Int2 | Self::Text | Self::Numeric => 0,
            Self::Int4 | Self::Int8 | Self::Int4Array => 1,
        }
    }

    /// Returns the type to cast a literal to in simple query mode; `None` if a plain literal is enough.
    #[must_use]
    pub fn literal_cast(self) -> Option<&'static str> {
        match self {
            Self::Int4Array => Some("int4[]"),
            Self::Int2 => Some("int2"),
            Self::Unknown | Self::Int4 | Self::Int8 | Self::Text | Self::Numeric => None,
        }
    }
}

/// A value of a parameter. Its variant must fit the declared [`ParamType`]: integers to `Int2`/`Int4`/`Int8`, text to
/// `Text`, `Numeric` and `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// SQL NULL.
    Null,
    /// A 32-bit integer.
    Int4(i32),
    /// A 64-bit integer.
    Int8(i64),
    /// Text, or any value in its text form.
    Text(&'a str),
    /// An array of 32-bit integers.
    Int4Array(&'a [i32]),
}

impl ParamValue<'_> {
    /// Appends length and value as in a Bind message, in the format of `ty`.
    #[inline]
    pub(crate) fn bind(&self, ty: ParamType, out: &mut Vec<u8>) {
        match (*self, ty) {
            (ParamValue::Null, _) => out.extend_from_slice(&(-1i32).to_be_bytes()),
            (ParamValue::Int4(v), ParamType::Int4) => fixed(out, v.to_be_bytes()),
            (ParamValue::Int4(v), ParamType::Int8) => fixed(out, i64::from(v).to_be_bytes()),
            (ParamValue::Int8(v), ParamType::Int8) => fixed(out, v.to_be_bytes()),
            (ParamValue::Int4Array(v), ParamType::Int4Array) => int4_array(out, v),
            (value, _) => text(out, |out| value.write_text(out)),
        }
    }

    /// Appends length and value in text, for any type.
    #[inline]
    pub(crate) fn bind_text(&self, out: &mut Vec<u8>) {
        match *self {
            ParamValue::Null => out.extend_from_slice(&(-1i32).to_be_bytes()),
            value => text(out, |out| value.write_text(out)),
        }
    }

    /// Appends the value in its text form.
    fn write_text(&self, out: &mut Vec<u8>) {
        match *self {
            ParamValue::Null => {}
            ParamValue::Int4(v) => push_int(out, i64::from(v)),
            ParamValue::Int8(v) => push_int(out, v),
            ParamValue::Text(v) => out.extend_from_slice(v.as_bytes()),
            ParamValue::Int4Array(v) => {
                out.push(b'{');
                for (i, v) in v.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    push_int(out, i64::from(*v));
                }
                out.push(b'}');
            }
        }
    }

    /// Appends the value as an SQL literal, with quotes if necessary.
    pub(crate) fn write_literal(&self, ty: ParamType, out: &mut Vec<u8>) {
        let cast = |out: &mut Vec<u8>| {
            if let Some(name) = ty.literal_cast() {
                out.extend_from_slice(b"::");
                out.extend_from_slice(name.as_bytes());
            }
        };
        match *self {
            ParamValue::Null => out.extend_from_slice(b"NULL"),
            // A negative number after a minus sign would begin a comment.
            ParamValue::Int4(v) if v < 0 => parenthesised(out, |out| self.write_text(out)),
            ParamValue::Int8(v) if v < 0 => parenthesised(out, |out| self.write_text(out)),
            ParamValue::Int4(_) | ParamValue::Int8(_) => {
                self.write_text(out);
                cast(out);
            }
            ParamValue::Int4Array(_) => {
                out.push(b'\'');
                self.write_text(out);
                out.push(b'\'');
                cast(out);
            }
            ParamValue::Text(v) if ty == ParamType::Numeric => out.extend_from_slice(v.as_bytes()),
            ParamValue::Text(v) => {
                out.push(b'\'');
                for &b in v.as_bytes() {
                    if b == b'\'' {
                        out.push(b'\'');
                    }
                    out.push(b);
                }
                out.push(b'\'');
                cast(out);
            }
        }
    }
}

/// Appends the decimal digits of `value`, faster than `format!`.
#[inline]
pub fn push_int(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

fn parenthesised(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'(');
    write(out);
    out.push(b')');
}

#[inline]
fn fixed<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&(N as i32).to_be_bytes());
    out.extend_from_slice(&bytes);
}

fn text(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let len = (out.len() - start - 4) as i32;
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

/// Appends one dimension, no NULLs, lower bound 1, for `array_recv` of the server.
fn int4_array(out: &mut Vec<u8>, values: &[i32]) {
    let dimensions = i32::from(!values.is_empty());
    let len = 12 + dimensions * 8 + values.len() as i32 * 8;
    for word in [len, dimensions, 0, ParamType::Int4.oid() as i32] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    if !values.is_empty() {
        out.extend_from_slice(&(values.len() as i32).to_be_bytes());
        out.extend_from_slice(&1i32.to_be_bytes());
    }
    for v in values {
        fixed(out, v.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(value: ParamValue<'_>, ty: ParamType) -> String {
        let mut out = Vec::new();
        value.write_literal(ty, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn literals_cannot_break_out_of_their_quotes_or_start_a_comment() {
        assert_eq!(literal(ParamValue::Text("O'Neil"), ParamType::Text), "'O''Neil'");
        assert_eq!(literal(ParamValue::Int4(-5), ParamType::Int4), "(-5)");
        assert_eq!(literal(ParamValue::Int4Array(&[1, -2]), ParamType::Int4Array), "'{1,-2}'::int4[]");
        assert_eq!(literal(ParamValue::Null, ParamType::Text), "NULL");
        assert_eq!(literal(ParamValue::Text("12.50"), ParamType::Numeric), "12.50");
    }

    #[test]
    fn a_small_integer_fits_a_bigint_parameter() {
        let mut out = Vec::new();
        ParamValue::Int4(-1).bind(ParamType::Int8, &mut out);
        assert_eq!(out, [0, 0, 0, 8, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn an_array_is_what_array_recv_reads() {
        let mut out = Vec::new();
        ParamValue::Int4Array(&[7]).bind(ParamType::Int4Array, &mut out);
        assert_eq!(
            out,
            [0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7]
        );
        out.clear();
        ParamValue::Int4Array(&[]).bind(ParamType::Int4Array, &mut out);
        assert_eq!(out.len(), 4 + 12);
    }
}
