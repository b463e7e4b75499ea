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

/// The most steps of a rate.
const STEPS_MAX: usize = 20_000;

/// The shortest and the longest step, in seconds.
const STEP_S: std::ops::RangeInclusive<f64> = 0.01..=86_400.0;

/// The most times that a step has the rate.
const FACTOR_MAX: f64 = 1e6;

/// A rate that changes in steps over the measured window. After the last step follows the first again; the warm-up has the rate of the
/// first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateSteps {
    /// Transactions a second, over all clients, in a step of 1.
    pub per_s: f64,
    /// The length of a step in seconds.
    pub step_s: f64,
    /// How many times this rate each step has.
    pub steps: Vec<f64>,
}

impl RateSteps {
    /// Refuses steps that make no schedule. The error says why.
    ///
    /// # Errors
    /// When there are none or too many, when none is above 0, or when a number is out of its range.
    pub fn admit(&self) -> Result<(), String> {
        let is_factor = |factor: &f64| (0.0..=FACTOR_MAX).contains(factor);
        if self.steps.is_empty() || self.steps.len() > STEPS_MAX {
            return Err(format!("it has {} steps: write 1 to {STEPS_MAX}", self.steps.len()));
        }
        if let Some(wrong) = self.steps.iter().find(|factor| !is_factor(factor)) {
            return Err(format!("a step is {wrong}: write how many times the rate it has, 0 to {FACTOR_MAX}"));
        }
        if self.steps.iter().all(|factor| *factor == 0.0) {
            return Err("all steps are 0".to_owned());
        }
        if !STEP_S.contains(&self.step_s) {
            return Err(format!(
                "a step of {} s is not between {} s and {} s",
                self.step_s,
                STEP_S.start(),
                STEP_S.end()
            ));
        }
        Ok(())
    }

    /// Returns how long all steps take, in seconds.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.step_s * self.steps.len() as f64
    }

    /// Returns the arrivals that are expected up to a time of the measured window, in seconds; before it the number is negative.
    #[must_use]
    pub fn arrivals_until(&self, at_s: f64) -> f64 {
        let first = self.steps.first().copied().unwrap_or_default();
        if at_s <= 0.0 {
            return self.per_s * first * at_s;
        }
        let all: f64 = self.steps.iter().sum();
        let steps = at_s / self.step_s;
        let rounds = (steps / self.steps.len().max(1) as f64).floor();
        let steps = steps - rounds * self.steps.len() as f64;
        let whole: f64 = self.steps.iter().take(steps as usize).sum();
        let part = self.steps.get(steps as usize).map_or(0.0, |factor| factor * steps.fract());
        self.per_s * self.step_s * (rounds * all + whole + part)
    }

    /// Returns the mean rate between two times of the measured window, in seconds.
    #[must_use]
    pub fn mean_per_s(&self, from_s: f64, until_s: f64) -> f64 {
        (self.arrivals_until(until_s) - self.arrivals_until(from_s)) / (until_s - from_s)
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
    fn steps_follow_each_other_and_begin_anew() {
        let steps = RateSteps { per_s: 100.0, step_s: 2.0, steps: vec![0.5, 2.0, 0.0] };
        assert_eq!((steps.admit(), steps.length_s()), (Ok(()), 6.0));
        for (at_s, wanted) in [
            (-1.0, -50.0),
            (0.0, 0.0),
            (1.0, 50.0),
            (2.0, 100.0),
            (3.0, 300.0),
            (5.0, 500.0),
            (6.0, 500.0),
            (15.0, 1300.0),
        ] {
            assert!((steps.arrivals_until(at_s) - wanted).abs() < 1e-9, "{at_s} s: {}", steps.arrivals_until(at_s));
        }
        assert!((steps.mean_per_s(1.0, 3.0) - 125.0).abs() < 1e-9);
        for wrong in [vec![], vec![0.0, 0.0], vec![-1.0], vec![f64::NAN], vec![f64::INFINITY], vec![1.0; STEPS_MAX + 1]]
        {
            assert!(RateSteps { steps: wrong, ..steps.clone() }.admit().is_err());
        }
        for step_s in [0.0, -1.0, f64::NAN, 1e9] {
            assert!(RateSteps { step_s, ..steps.clone() }.admit().is_err(), "{step_s}");
        }
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
