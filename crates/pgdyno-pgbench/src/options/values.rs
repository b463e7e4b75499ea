//! Parses values of options as pgbench does with the functions of C.

use crate::messages::{ExitReason, Said};

/// Returns bytes as text for a message.
pub(super) fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Returns true for what `isspace` accepts.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Parses a leading integer as `strtol` does, and returns what follows; the number is clamped to 64 bits. `None`
/// without a digit.
fn leading_integer(value: &[u8]) -> Option<(i128, &[u8])> {
    let start = value.iter().position(|&byte| !is_space(byte))?;
    let (negative, digits) = match &value[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    // Digits beyond those of any 64-bit number need not be counted.
    let number = digits[..end]
        .iter()
        .fold(0i128, |number, digit| (number * 10 + i128::from(digit - b'0')).min(i128::from(u64::MAX) * 10));
    Some((if negative { -number } else { number }, &digits[end..]))
}

/// Parses an integer between `min` and `max`.
pub(super) fn integer(value: &[u8], option: &str, min: i32, max: i32) -> Result<u32, ExitReason> {
    // strtol returns 0 for an empty text.
    let (number, rest) = leading_integer(value).unwrap_or((0, value));
    if !rest.iter().all(|&byte| is_space(byte)) {
        return Err(ExitReason::error(format!("invalid value \"{}\" for option {option}", shown(value))));
    }
    match u32::try_from(number) {
        Ok(found) if (i128::from(min)..=i128::from(max)).contains(&number) => Ok(found),
        _ => Err(ExitReason::error(format!("{option} must be in range {min}..{max}"))),
    }
}

/// Parses as `atoi` does: 0 for what is not a number, the low 32 bits of what is too large.
pub(super) fn atoi(value: &[u8]) -> i32 {
    let number = leading_integer(value).map_or(0, |(number, _)| number);
    number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i32
}

/// Parses as `atof` does: the longest decimal number at the start, otherwise 0. NaN is 0, too.
pub(super) fn atof(value: &[u8]) -> f64 {
    let text: String = shown(value).trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8)).to_owned();
    let numeric = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-');
    let end = text.find(|c: char| !numeric(c)).unwrap_or(text.len());
    let number = (1..=end).rev().find_map(|end| text[..end].parse::<f64>().ok());
    number.filter(|number| !number.is_nan()).unwrap_or(0.0)
}

/// Parses the seconds of one of pgdyno's own options.
pub(super) fn seconds(value: &[u8], what: &str) -> Result<f64, ExitReason> {
    match shown(value).trim().parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err(ExitReason::error(format!("invalid {what}: \"{}\"", shown(value)))
            .and(Said::Detail("Expecting a number of seconds, at least 0.".to_owned()))),
    }
}

/// Parses the list of `--latency-percentiles`.
pub(super) fn percentiles(value: &[u8]) -> Result<Vec<f64>, ExitReason> {
    const MOST: usize = 10;
    let text = shown(value);
    let listed: Vec<&str> = text.split(',').map(str::trim).collect();
    if listed.len() > MOST {
        return Err(ExitReason::error(format!("at most {MOST} latency percentiles are allowed")));
    }
    let number = |word: &&str| match word.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 100.0 => Ok(number),
        _ => Err(ExitReason::error(format!("invalid latency percentile: \"{word}\""))
            .and(Said::Detail("Expecting numbers greater than 0 and at most 100, separated by commas.".to_owned()))),
    };
    listed.iter().map(number).collect()
}

/// Splits script and weight at the last `@`.
pub(super) fn weighted(value: &[u8]) -> Result<(&[u8], u32), ExitReason> {
    let Some(at) = value.iter().rposition(|&byte| byte == b'@') else {
        return Ok((value, 1));
    };
    let (script, weight) = (&value[..at], &value[at + 1..]);
    match leading_integer(weight) {
        Some((number, [])) if i64::try_from(number).is_ok() => match i32::try_from(number) {
            Ok(number) if number >= 0 => Ok((script, number.unsigned_abs())),
            _ => Err(ExitReason::error(format!("weight specification out of range (0 .. {}): {number}", i32::MAX))),
        },
        _ => Err(ExitReason::error(format!("invalid weight specification: @{}", shown(weight)))),
    }
}

/// The source of the random seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seed {
    Time,
    Strong,
    Fixed(u64),
}

/// Parses `time`, `rand`, or a number as `scanf` reads an unsigned one: with leading blanks, a sign that wraps around,
/// and too large ones clamped.
pub(super) fn seed(value: &[u8]) -> Result<Seed, ExitReason> {
    match value {
        b"time" => return Ok(Seed::Time),
        b"rand" => return Ok(Seed::Strong),
        _ => {}
    }
    let Some((number, [])) = leading_integer(value) else {
        return Err(ExitReason::error(format!("unrecognized random seed option \"{}\"", shown(value)))
            .and(Said::Detail("Expecting an unsigned integer, \"time\" or \"rand\".".to_owned())));
    };
    Ok(Seed::Fixed(match u64::try_from(number.unsigned_abs()) {
        Ok(magnitude) if number < 0 => magnitude.wrapping_neg(),
        Ok(magnitude) => magnitude,
        Err(_) => u64::MAX,
    }))
}

/// Parses name and value of `-D`.
pub(super) fn definition(value: &[u8]) -> Result<(String, Vec<u8>), ExitReason> {
    let split = value.iter().position(|&byte| byte == b'=').filter(|at| *at > 0 && at + 1 < value.len());
    let Some(at) = split else {
        return Err(ExitReason::error(format!("invalid variable definition: \"{}\"", shown(value))));
    };
    let name = &value[..at];
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    if name[0].is_ascii_digit() || !name.iter().all(allowed) {
        return Err(ExitReason::error(format!("option: invalid variable name: \"{}\"", shown(name))));
    }
    Ok((shown(name), value[at + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Said;

    fn said<T: std::fmt::Debug>(result: Result<T, ExitReason>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(failure) => match &failure.said[0] {
                Said::Error(text) => text.clone(),
                other => format!("{other:?}"),
            },
        }
    }

    #[test]
    fn whole_numbers_are_read_as_by_strtol() {
        for (text, expected) in [
            ("5", "5"),
            (" +5\t", "5"),
            ("5x", "invalid value \"5x\" for option -c"),
            ("abc", "invalid value \"abc\" for option -c"),
            ("", "-c must be in range 1..2147483647"),
            ("0", "-c must be in range 1..2147483647"),
            ("-1", "-c must be in range 1..2147483647"),
            ("2147483647", "2147483647"),
            ("2147483648", "-c must be in range 1..2147483647"),
            ("99999999999999999999999999999999999999999999", "-c must be in range 1..2147483647"),
        ] {
            assert_eq!(said(integer(text.as_bytes(), "-c", 1, i32::MAX)), expected, "{text}");
        }
    }

    #[test]
    fn lenient_numbers_are_read_as_by_atoi_and_atof() {
        for (text, expected) in
            [("7x", 7), ("x", 0), ("-3", -3), ("99999999999", 1_215_752_191), ("99999999999999999999", -1)]
        {
            assert_eq!(atoi(text.as_bytes()), expected, "{text}");
        }
        for (text, expected) in [("1.5x", 1.5), (".5", 0.5), ("1e3", 1000.0), ("1e", 1.0), ("x", 0.0), (" -2", -2.0)] {
            assert_eq!(atof(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn weights_follow_the_last_at_sign() {
        for (text, expected) in [
            ("a@b@3", Ok("a@b 3")),
            ("a", Ok("a 1")),
            ("a@0", Ok("a 0")),
            ("a@", Err("invalid weight specification: @")),
            ("a@3x", Err("invalid weight specification: @3x")),
            ("a@-1", Err("weight specification out of range (0 .. 2147483647): -1")),
            ("a@99999999999", Err("weight specification out of range (0 .. 2147483647): 99999999999")),
            ("a@99999999999999999999", Err("invalid weight specification: @99999999999999999999")),
        ] {
            let found = weighted(text.as_bytes()).map(|(script, weight)| format!("{} {weight}", shown(script)));
            match expected {
                Ok(expected) => assert_eq!(found.as_deref(), Ok(expected), "{text}"),
                Err(expected) => assert_eq!(said(found), expected, "{text}"),
            }
        }
    }

    #[test]
    fn seeds_are_read_as_by_scanf() {
        for (text, expected) in [
            ("time", "Time"),
            ("rand", "Strong"),
            ("5", "Fixed(5)"),
            (" 5", "Fixed(5)"),
            ("-5", "Fixed(18446744073709551611)"),
            ("99999999999999999999999", "Fixed(18446744073709551615)"),
            ("5 ", "unrecognized random seed option \"5 \""),
            ("0x5", "unrecognized random seed option \"0x5\""),
            ("", "unrecognized random seed option \"\""),
        ] {
            assert_eq!(said(seed(text.as_bytes())), expected, "{text}");
        }
    }

    #[test]
    fn own_lists_have_their_limits() {
        assert_eq!(percentiles(b"50, 99.9,100").unwrap(), [50.0, 99.9, 100.0]);
        for text in ["", "0", "101", "50,,99", "x", "nan", "1,2,3,4,5,6,7,8,9,10,11"] {
            assert!(percentiles(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(seconds(b"1.5", "warmup time"), Ok(1.5));
        for text in ["", "-1", "inf", "nan", "1s"] {
            assert!(seconds(text.as_bytes(), "warmup time").is_err(), "{text}");
        }
    }
}
