//! Whether the rate changes in the workload's steps.

use std::fmt;
use std::str::FromStr;

use pgdyno_text::parse::duration;
use serde::{Deserialize, Serialize};

/// What `--rate-steps` takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum RateStepsOrder {
    /// The rate is the same throughout.
    None,
    /// Each step is as long as the workload says.
    Own,
    /// Each step has this length in seconds.
    Each(f64),
}

/// The words.
const NONE: &str = "none";
/// See [`RateStepsOrder::Own`].
pub(crate) const OWN: &str = "own";

impl FromStr for RateStepsOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            NONE => Ok(Self::None),
            OWN => Ok(Self::Own),
            text => match duration(text) {
                Ok(seconds) if seconds > 0.0 => Ok(Self::Each(seconds)),
                _ => Err("write own, the length of a step such as 10s, or none".to_owned()),
            },
        }
    }
}

impl fmt::Display for RateStepsOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(NONE),
            Self::Own => f.write_str(OWN),
            Self::Each(seconds) => write!(f, "{seconds}s"),
        }
    }
}

impl From<RateStepsOrder> for String {
    fn from(steps: RateStepsOrder) -> Self {
        steps.to_string()
    }
}

impl TryFrom<String> for RateStepsOrder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_a_word_or_a_length() {
        for (text, steps) in
            [("none", RateStepsOrder::None), ("own", RateStepsOrder::Own), ("2.5s", RateStepsOrder::Each(2.5))]
        {
            assert_eq!((text.parse(), steps.to_string()), (Ok(steps), text.to_owned()));
        }
        assert_eq!("1min".parse(), Ok(RateStepsOrder::Each(60.0)));
        for wrong in ["", "0", "-1s", "1m", "always"] {
            assert!(wrong.parse::<RateStepsOrder>().is_err(), "{wrong}");
        }
    }
}
