//! Times, sizes and shares with their units, parsed.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// A length of time: in TOML a string with a unit, as in `"90s"`, `"10min"`, `"1h"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Duration(f64);

impl Duration {
    /// Returns a length of so many seconds.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        Self(seconds)
    }

    /// Returns the length in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0
    }
}

/// A number of bytes: in TOML a string with a unit, as in `"128GB"`; 1 GB is 1,024 MB, as in PostgreSQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A share of a whole, above 0 and up to 1: in TOML a string with a percent sign, as in `"30%"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// The longest time in seconds that anything may take.
const LONGEST_S: f64 = 1e8;

/// Parses a length of time and returns it in seconds, which are also the default unit.
///
/// # Errors
/// A message, if it is not a length of time or its unit is ambiguous.
pub fn duration(text: &str) -> Result<f64, String> {
    if text.starts_with('-') {
        return Err("it cannot be negative".to_owned());
    }
    let (number, unit) = split(text);
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "min" => 60.0,
        "h" => 3600.0,
        "m" => return Err("'m' could be minutes or milliseconds: write min or ms".to_owned()),
        unit => return Err(format!("unknown unit '{unit}'; use us, ms, s, min or h")),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n * factor <= LONGEST_S => Ok(n * factor),
        Ok(n) if !n.is_nan() => {
            Err("it is too large: 100000000 seconds, about three years, are the maximum".to_owned())
        }
        _ => Err("write a number of seconds, or a number with a unit: 90s, 10min, 1h".to_owned()),
    }
}

/// Parses a size with its unit and returns it in bytes.
///
/// # Errors
/// A message, if it is not a size or has no unit.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let power = match unit {
        "B" => 0,
        "kB" | "KiB" => 1,
        "MB" | "MiB" => 2,
        "GB" | "GiB" => 3,
        "TB" | "TiB" => 4,
        "" => return Err(format!("{text} of what? Write it with its unit, as in 128GB")),
        unit => return Err(format!("unknown unit '{unit}'; use B, kB, MB, GB or TB")),
    };
    match number.parse::<f64>() {
        Ok(n) if (0.0..1e9).contains(&n) => Ok((n * 1024_f64.powi(power)).round() as u64),
        Ok(n) if n >= 1e9 => Err("it is too large: write it with a larger unit".to_owned()),
        _ => Err("write a number with a unit: 512MB, 128GB".to_owned()),
    }
}

/// Parses a number above zero.
///
/// # Errors
/// A message, if it is not a number or not above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
        Ok(n) if n > 0.0 => Err("it is too large".to_owned()),
        _ => Err("write a number above 0".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let refusal = "write a share above 0% and up to 100%, as in \"30%\"";
    number
        .map(|percent| percent / 100.0)
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| refusal.to_owned())
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (number, unit.trim())
}

/// Parses a string with `parse`, and refuses a number with `refuse`.
struct WithUnit<T> {
    parse: fn(&str) -> Result<T, String>,
    refuse: fn(&dyn fmt::Display) -> String,
}

impl<T> Visitor<'_> for WithUnit<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number with its unit, in quotes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom((self.refuse)(&number)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom((self.refuse)(&number)))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| match split(text) {
            (number, "") => Err(unit_of_time(&number)),
            _ => duration(text).map(Duration),
        };
        deserializer.deserialize_any(WithUnit { parse, refuse: |number| unit_of_time(number) })
    }
}

fn unit_of_time(number: &dyn fmt::Display) -> String {
    format!("{number} could be seconds or minutes: write it with its unit, as in \"{number}s\" or \"10min\"")
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let refuse =
            |number: &dyn fmt::Display| format!("{number} of what? Write it with its unit, as in \"{number}GB\"");
        deserializer.deserialize_any(WithUnit { parse: |text| bytes(text).map(Bytes), refuse })
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let refuse = |number: &dyn fmt::Display| {
            format!("{number} could be a share or a percentage: write it with a percent sign, as in \"30%\"")
        };
        deserializer.deserialize_any(WithUnit { parse: |text| share(text).map(Share), refuse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units_and_refuse_what_could_be_two_things() {
        assert_eq!(
            ["90", "90s", "1.5min", "2h", "250ms"].map(|t| duration(t).unwrap()),
            [90.0, 90.0, 90.0, 7200.0, 0.25]
        );
        assert_eq!(duration("5m").unwrap_err(), "'m' could be minutes or milliseconds: write min or ms");
        for wrong in ["", "s", "-5", "1e3", "five", "1 day"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for large in ["2147483648", "99999999999", "30000h"] {
            assert!(duration(large).unwrap_err().starts_with("it is too large: 100000000 seconds"), "{large}");
        }
        assert_eq!(bytes("1000000000000B").unwrap_err(), "it is too large: write it with a larger unit");
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(["30%", "100 %", "0.5%"].map(|t| share(t).unwrap()), [0.3, 1.0, 0.005]);
        for wrong in ["", "30", "0%", "101%", "-5%", "NaN%", "%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_take_units_and_refuse_bare_numbers() {
        assert_eq!(["1kB", "1.5 MB", "128GB", "7B"].map(|t| bytes(t).unwrap()), [1024, 1_572_864, 128 << 30, 7]);
        assert_eq!(bytes("128").unwrap_err(), "128 of what? Write it with its unit, as in 128GB");
        for wrong in ["", "GB", "-1GB", "1gb", "1e400GB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
