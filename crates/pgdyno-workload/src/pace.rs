//! When transactions start: as soon as a client is ready, or on a schedule.

use serde::{Deserialize, Serialize};

/// How the arrivals of a schedule are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At exponentially distributed distances, as independent users arrive; pgbench's `--rate`.
    #[default]
    Poisson,
    /// At equal distances.
    Uniform,
}

impl Arrivals {
    /// Every one of them.
    pub const ALL: [Self; 2] = [Self::Poisson, Self::Uniform];

    /// Returns its name in options and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Uniform => "uniform",
        }
    }
}

impl std::str::FromStr for Arrivals {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|arrivals| arrivals.name() == s);
        found.ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(" or ");
            format!("'{s}' is not a distribution of arrivals; use {known}")
        })
    }
}

/// The rate of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Transactions a second, over all clients.
    pub per_s: f64,
    /// How they are spread.
    pub arrivals: Arrivals,
}

/// When transactions start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// When the client's last one ended.
    ClosedLoop,
    /// On a schedule (open loop).
    Rate(Rate),
}

impl Pace {
    /// Returns the rate of the schedule, where there is one.
    #[must_use]
    pub fn rate(self) -> Option<Rate> {
        match self {
            Self::ClosedLoop => None,
            Self::Rate(rate) => Some(rate),
        }
    }
}

impl From<Option<Rate>> for Pace {
    fn from(rate: Option<Rate>) -> Self {
        rate.map_or(Self::ClosedLoop, Self::Rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distribution_is_known_by_its_name() {
        for arrivals in Arrivals::ALL {
            assert_eq!(arrivals.name().parse(), Ok(arrivals));
        }
        let error = "bursts".parse::<Arrivals>().unwrap_err();
        assert_eq!(error, "'bursts' is not a distribution of arrivals; use poisson or uniform");
    }
}
