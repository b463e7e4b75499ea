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

/// The highest rate of a schedule: one arrival per nanosecond, the engine's unit of time. Higher rates count as this.
pub const RATE_MAX_PER_S: f64 = 1e9;

/// The rate of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Transactions a second, over all clients.
    pub per_s: f64,
    /// How they are spread.
    pub arrivals: Arrivals,
}

/// A schedule that was missed by a smaller share than this was kept.
const KEPT: f64 = 0.01;

/// The number of Poisson arrivals varies by chance; a shortfall of fewer standard deviations than this shows nothing.
const DEVIATIONS: f64 = 3.0;

impl Rate {
    /// Returns by how much `achieved` transactions a second, measured for this long, miss the schedule, as a share of it;
    /// `None` if the difference is below 1 %, or within what chance explains: three standard deviations of a Poisson
    /// distribution, or one of equally spaced arrivals.
    #[must_use]
    pub fn shortfall(self, achieved: f64, seconds: f64) -> Option<f64> {
        let expected = (self.per_s * seconds).max(1.0);
        let chance = match self.arrivals {
            Arrivals::Poisson => DEVIATIONS / expected.sqrt(),
            Arrivals::Uniform => 1.0 / expected,
        };
        Some(1.0 - achieved / self.per_s).filter(|missed| *missed > KEPT.max(chance))
    }
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

    #[test]
    fn a_schedule_is_missed_by_more_than_chance_and_a_hundredth() {
        let missed =
            |per_s, arrivals, achieved, seconds| Rate { per_s, arrivals }.shortfall(achieved, seconds).is_some();
        // Of 250 arrivals, a standard deviation is 6.3 %.
        assert!(!missed(50.0, Arrivals::Poisson, 46.8, 5.0));
        assert!(!missed(50.0, Arrivals::Poisson, 41.0, 5.0));
        assert!(missed(50.0, Arrivals::Poisson, 40.0, 5.0));
        // Of a million, 1 % is more.
        assert!(!missed(10_000.0, Arrivals::Poisson, 9_901.0, 100.0));
        assert!(missed(10_000.0, Arrivals::Poisson, 9_899.0, 100.0));
        assert!(!missed(1.0, Arrivals::Uniform, 0.8, 5.0), "the last of five may end after the window");
        assert!(missed(1.0, Arrivals::Uniform, 0.6, 5.0));
        assert!(missed(1_000.0, Arrivals::Uniform, 989.0, 10.0));
    }

    #[test]
    fn poisson_schedules_that_are_kept_are_rarely_called_missed() {
        let rate = Rate { per_s: 50.0, arrivals: Arrivals::Poisson };
        let of_seed = |seed: u64| {
            let mut rng = crate::Rng::derive(seed, "arrivals", &[]);
            let mut at = 0.0;
            let gap = || {
                at += rng.exponential(1.0 / rate.per_s);
                at
            };
            std::iter::repeat_with(gap).take_while(|at| *at < 5.0).count()
        };
        let missed = (0..2_000).filter(|seed| rate.shortfall(of_seed(*seed) as f64 / 5.0, 5.0).is_some()).count();
        // One in 740 is beyond three standard deviations on one side.
        assert!(missed <= 10, "{missed} of 2,000");
    }
}
