//! Numbers in the formats of C and of PostgreSQL's printf.

/// Returns true for a space by `isspace` in the C locale.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Formats a value that is no number: `NaN`, `Infinity`, `-Infinity`.
fn special(value: f64) -> Option<String> {
    match value {
        v if v.is_nan() => Some("NaN".to_owned()),
        f64::INFINITY => Some("Infinity".to_owned()),
        f64::NEG_INFINITY => Some("-Infinity".to_owned()),
        _ => None,
    }
}

/// Formats by `%.15g`.
pub(crate) fn general(value: f64) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    let scientific = format!("{value:.14e}");
    let Some((mantissa, Ok(exponent))) = scientific.split_once('e').map(|(m, e)| (m, e.parse::<i32>())) else {
        return scientific;
    };
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..15).contains(&exponent) {
        let decimals = usize::try_from(14 - exponent).unwrap_or_default();
        trimmed(&format!("{value:.decimals$}"))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
    }
}

/// Formats by `%f`.
pub(crate) fn fixed(value: f64) -> String {
    special(value).unwrap_or_else(|| format!("{value:.6}"))
}

/// Parses the beginning of a text as `strtol` does, saturating. Returns the number and the bytes consumed; 0 and 0 if
/// there is none.
pub(crate) fn leading_int(text: &[u8]) -> (i64, usize) {
    let mut at = text.iter().take_while(|b| is_space(**b)).count();
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let digits = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return (0, 0);
    }
    let value = text[at..at + digits].iter().fold(0i64, |sum, b| {
        let digit = i64::from(b - b'0');
        // Accumulates with the sign: the least bigint has no positive counterpart.
        sum.saturating_mul(10).saturating_add(if negative { -digit } else { digit })
    });
    (value, at + digits)
}

/// Parses the whole text as a bigint, digits with a sign and leading spaces; `None` if it does not fit.
pub(crate) fn int(text: &[u8]) -> Option<i64> {
    let start = text.iter().take_while(|b| is_space(**b)).count();
    std::str::from_utf8(&text[start..]).ok()?.parse().ok()
}

/// Parses the whole text as `strtod` does, including infinities and hexadecimal; `None` if it stops early, overflows
/// or underflows.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    let start = text.iter().take_while(|b| is_space(**b)).count();
    let (negative, digits) = match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let magnitude = if digits.eq_ignore_ascii_case(b"inf") || digits.eq_ignore_ascii_case(b"infinity") {
        f64::INFINITY
    } else if is_nan(digits) {
        f64::NAN
    } else if digits.len() > 2 && digits[..2].eq_ignore_ascii_case(b"0x") {
        hexadecimal(&digits[2..])?
    } else {
        decimal(digits)?
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses `nan` or `nan(anything)`.
fn is_nan(text: &[u8]) -> bool {
    let Some((name, rest)) = text.split_at_checked(3) else { return false };
    name.eq_ignore_ascii_case(b"nan")
        && match rest {
            [] => true,
            [b'(', inner @ .., b')'] => inner.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'),
            _ => false,
        }
}

/// Parses an unsigned decimal number, all of `text`: `1`, `1.`, `.5`, `1e-3`. Returns `None` also if it is too large
/// or too small for a normal double, as in C.
pub(crate) fn decimal(text: &[u8]) -> Option<f64> {
    let exponent_at = text.iter().position(|b| b.eq_ignore_ascii_case(&b'e')).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent_at);
    let points = mantissa.iter().filter(|b| **b == b'.').count();
    let digits = mantissa.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == 0 || points > 1 || digits + points != mantissa.len() {
        return None;
    }
    if let [_, rest @ ..] = exponent {
        let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        if rest.is_empty() || !rest.iter().all(u8::is_ascii_digit) {
            return None;
        }
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let zero = mantissa.iter().all(|b| matches!(b, b'0' | b'.'));
    (zero || value.is_normal()).then_some(value)
}

/// Parses the text after `0x`: digits with a point, then perhaps a binary exponent.
fn hexadecimal(text: &[u8]) -> Option<f64> {
    let exponent_at = text.iter().position(|b| b.eq_ignore_ascii_case(&b'p')).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent_at);
    let (mut bits, mut scale, mut point, mut any) = (0u64, 0i64, false, false);
    for byte in mantissa {
        if *byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = u64::from(char::from(*byte).to_digit(16)?);
        any = true;
        if bits >> 59 == 0 {
            bits = bits << 4 | digit;
            scale -= if point { 4 } else { 0 };
        } else {
            // More digits than a double stores: they only affect rounding.
            bits |= u64::from(digit != 0);
            scale += if point { 0 } else { 4 };
        }
    }
    if let [_, rest @ ..] = exponent {
        let (value, used) = leading_int(rest);
        if used == 0 || used != rest.len() || is_space(rest[0]) {
            return None;
        }
        scale = scale.saturating_add(value);
    }
    if !any {
        return None;
    }
    let steps = i32::try_from(scale.clamp(-5000, 5000)).ok()?;
    let scaled = |steps: i32| bits as f64 * 2f64.powi(steps / 2) * 2f64.powi(steps - steps / 2);
    let value = scaled(steps);
    // A subnormal is accepted if nothing is lost.
    let whole = || value * 2f64.powi(1000) == scaled(steps + 1000);
    (bits == 0 || value.is_normal() || (value.is_subnormal() && whole())).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_c_prints_them() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100_000.0, "100000"),
            (123_456_789_012_345.0, "123456789012345"),
            (999_999_999_999_999.5, "1e+15"),
            (1e15, "1e+15"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (std::f64::consts::PI, "3.14159265358979"),
            (0.1 + 0.2, "0.3"),
            (-2.5e-7, "-2.5e-07"),
            (5e-324, "4.94065645841247e-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(general(value), text);
        }
        assert_eq!((fixed(1.0), fixed(1e22)), ("1.000000".to_owned(), "10000000000000000000000.000000".to_owned()));
    }

    #[test]
    fn texts_read_as_strtod_reads_them() {
        for (text, value) in [
            ("1", 1.0),
            ("1.", 1.0),
            (" \t.5", 0.5),
            ("-1e3", -1000.0),
            ("+1E+3", 1000.0),
            ("0x10", 16.0),
            ("0X1.8p1", 3.0),
            ("-0x.8p-1", -0.25),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0e999", 0.0),
            ("0x1p-1074", 5e-324),
            ("0x1fffffffffffff8", 144_115_188_075_855_872.0),
        ] {
            assert_eq!(double(text.as_bytes()), Some(value), "{text}");
        }
        assert!(double(b"nan").is_some_and(f64::is_nan) && double(b"NaN(1_a)").is_some_and(f64::is_nan));
        for text in [
            "", " ", "-", ".", "e1", "1e", "1e+", "1 ", "1..2", "1.2.3", "0x", "0x.", "0xp1", "0x1p", "0x1p 1",
            "1e999", "1e-310", "infi", "nanx", "nan(", "- 1", "1_000", "é",
        ] {
            assert_eq!(double(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn leading_integers_saturate() {
        for (text, found) in [
            ("12abc", (12, 2)),
            (" -7 ", (-7, 3)),
            ("abc", (0, 0)),
            ("-", (0, 0)),
            ("99999999999999999999", (i64::MAX, 20)),
            ("-9223372036854775808", (i64::MIN, 20)),
        ] {
            assert_eq!(leading_int(text.as_bytes()), found, "{text}");
        }
        assert_eq!((int(b" +5"), int(b"9223372036854775808"), int(b"-")), (Some(5), None, None));
    }
}
