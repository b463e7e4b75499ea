//! How the value of an option gets into an order, and out of it.

use std::ops::RangeInclusive;

use crate::Order;

/// What an option sets in an order.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Parses a value and sets it.
    pub(super) set: fn(&mut Order, &str) -> Result<(), String>,
    /// Returns the values that are set, as `set` takes them.
    pub(super) get: fn(&Order) -> Vec<String>,
}

/// An [`Access`] to `Option` fields of an order: `given!(drive.time, duration)`. The parser takes a `&str`.
macro_rules! given {
    ($($field:ident).+, $parse:expr) => { given!($($field).+, $parse, ToString::to_string) };
    ($($field:ident).+, $parse:expr, $text:expr) => {
        crate::options::access::Access {
            set: |order, text| {
                order.$($field).+ = Some($parse(text)?);
                Ok(())
            },
            get: |order| order.$($field).+.iter().map($text).collect(),
        }
    };
}

/// An [`Access`] to a field that is true or false.
macro_rules! flag {
    ($($field:ident).+) => {
        crate::options::access::Access {
            set: |order, _| {
                order.$($field).+ = true;
                Ok(())
            },
            get: |order| if order.$($field).+ { vec![String::new()] } else { Vec::new() },
        }
    };
}

/// An [`Access`] to a list of names with values.
macro_rules! pairs {
    ($($field:ident).+) => {
        crate::options::access::Access {
            set: |order, text| {
                order.$($field).+.push(crate::options::access::pair(text)?);
                Ok(())
            },
            get: |order| order.$($field).+.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        }
    };
}

/// An [`Access`] to a list of texts.
macro_rules! texts {
    ($($field:ident).+) => {
        crate::options::access::Access {
            set: |order, text| {
                order.$($field).+.push(text.to_owned());
                Ok(())
            },
            get: |order| order.$($field).+.clone(),
        }
    };
}

pub(super) use {flag, given, pairs, texts};

/// Parses any text.
pub(super) fn text<T: for<'a> From<&'a str>>(text: &str) -> Result<T, String> {
    Ok(text.into())
}

/// Parses `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Parses a whole number in this range.
pub(super) fn whole<T: TryFrom<u64>>(text: &str, range: RangeInclusive<u64>) -> Result<T, String> {
    let number = text.parse::<i128>().map_err(|_| "write a whole number without a unit, such as 4".to_owned())?;
    let fits = u64::try_from(number).ok().filter(|number| range.contains(number));
    fits.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (*range.start(), *range.end()) {
        (least, u64::MAX) if number < i128::from(least) => format!("write a whole number of at least {least}"),
        (_, u64::MAX) => "it is too large".to_owned(),
        (least, most) => format!("write a whole number from {least} to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_in_its_range_or_refused_with_it() {
        assert_eq!(whole::<u16>("512", 1..=512), Ok(512));
        for wrong in ["0", "513", "-1", "99999999999"] {
            assert_eq!(whole::<u16>(wrong, 1..=512), Err("write a whole number from 1 to 512".to_owned()), "{wrong}");
        }
        for wrong in ["4x", "", "1.5", "1e3"] {
            assert!(whole::<u16>(wrong, 1..=512).unwrap_err().contains("without a unit"), "{wrong}");
        }
        assert_eq!(whole::<u64>("0", 1..=u64::MAX), Err("write a whole number of at least 1".to_owned()));
        assert_eq!(whole::<u64>("99999999999999999999999", 0..=u64::MAX), Err("it is too large".to_owned()));
    }
}
