//! The rate that an order asks for.

use std::fmt;
use std::str::FromStr;

use pgdyno_workload::RATE_MAX_PER_S;
use serde::{Deserialize, Serialize};

/// What `--rate` takes: transactions a second, a multiple of the workload's own rate (`3x`), or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "RateText", try_from = "RateText")]
#[cfg_attr(feature = "schema", schemars(with = "RateText"))]
pub enum RateOrder {
    /// Transactions a second over all clients.
    PerS(f64),
    /// This many times the workload's own rate.
    Times(f64),
    /// Each client goes as fast as it can, also where the workload has a rate of its own.
    None,
}

/// The word for a closed loop.
const NONE: &str = "none";

impl FromStr for RateOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case(NONE) {
            return Ok(Self::None);
        }
        let times = text.strip_suffix(['x', 'X']);
        let number = match times.unwrap_or(text).trim_end().parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => number,
            Ok(number) if number > 0.0 => return Err("it is too large".to_owned()),
            _ => {
                return Err(
                    "write a number above 0, a multiple of the workload's own rate such as 3x, or none".to_owned()
                );
            }
        };
        match times {
            _ if number > RATE_MAX_PER_S => {
                Err("write a rate of at most 1e9: the schedule has room for one transaction in each nanosecond"
                    .to_owned())
            }
            None => Ok(Self::PerS(number)),
            Some(_) => Ok(Self::Times(number)),
        }
    }
}

impl fmt::Display for RateOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerS(per_s) => per_s.fmt(f),
            Self::Times(times) => write!(f, "{times}x"),
            Self::None => f.write_str(NONE),
        }
    }
}

/// A rate in a file: a number, or a text.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum RateText {
    Number(f64),
    Text(String),
}

impl From<RateOrder> for RateText {
    fn from(rate: RateOrder) -> Self {
        match rate {
            RateOrder::PerS(per_s) => Self::Number(per_s),
            other => Self::Text(other.to_string()),
        }
    }
}

impl TryFrom<RateText> for RateOrder {
    type Error = String;

    fn try_from(text: RateText) -> Result<Self, String> {
        match text {
            RateText::Number(number) => number.to_string().parse(),
            RateText::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_a_multiple_or_none() {
        let read = |text: &str| text.parse::<RateOrder>();
        assert_eq!([read("0.5"), read("1e9")], [Ok(RateOrder::PerS(0.5)), Ok(RateOrder::PerS(1e9))]);
        assert_eq!([read("3x"), read("none")], [Ok(RateOrder::Times(3.0)), Ok(RateOrder::None)]);
        for wrong in ["0", "-1", "inf", "nan", "x", "0x", "-2x", "1e99", "3 times", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("1e10").unwrap_err().contains("at most 1e9"));
    }

    #[test]
    fn a_file_has_a_number_or_a_text() {
        for (rate, text) in
            [(RateOrder::PerS(5.0), "5.0"), (RateOrder::Times(1.5), "\"1.5x\""), (RateOrder::None, "\"none\"")]
        {
            assert_eq!(serde_json::to_string(&rate).unwrap(), text);
            assert_eq!(serde_json::from_str::<RateOrder>(text).unwrap(), rate);
        }
        assert!(
            serde_json::from_str::<RateOrder>("-1").is_err() && serde_json::from_str::<RateOrder>("\"y\"").is_err()
        );
    }
}
