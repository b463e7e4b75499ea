//! A/B experiments that stop when they are decided: B against A in blocks of slices, looked at again and again.
//!
//! - A *block* is four slices of measuring in the order ABBA or BAAB, so that a drift over the block goes to both alike. Its figure is
//!   the log-ratio of B to A.
//! - A *unit* is what varies independently: all blocks between two restarts of the servers, or a block where they are not
//!   restarted. What differs from start to start dwarfs what differs from slice to slice, so the units are what is drawn.
//! - The *interval* of few units is Student's for their mean. From 14 units on it is the one of Wilcoxon's signed-rank test: A before
//!   B as often as B before A makes the noise symmetric, which is all that this needs, and the units while another user
//!   took the machine no longer hide what the others show.
//! - *Looks* are few, at numbers of units that grow by √2. Each spends a part of the error that is allowed, so that the chance
//!   of a wrong verdict at any of them is at most 1 − confidence (Bonferroni over the looks, whatever their dependence), also
//!   when an experiment is taken up again after its budget has ended.

use crate::compare::{Change, Direction, POWER, RUNS_MAX, fewest, student};
use crate::ranks;

/// Fewer units than this are not looked at: their variance is hardly known. The first verdict comes after so many. A fifth is seen in
/// them where a unit varies by 4 % or less, see the simulations.
pub const UNITS_MIN: usize = 4;

/// The interval of fewer units is as wide as any drawing.
const DRAWN_UNITS_MIN: usize = 3;

/// The units and the points of a course at most: the interval by ranks takes n³ steps for n units.
const COURSE_UNITS_MAX: usize = 400;
const COURSE_POINTS_MAX: usize = 100;

/// From so many units on, ranks show about as much of quiet units as Student's interval, and more of troubled ones.
const RANKED_UNITS_MIN: usize = 14;

/// The looks that share most of the error equally: they reach 91 units.
const LOOKS: u32 = 10;

/// Their share of the error. Further looks spend half of what is left each.
const SHARE_OF_LOOKS: f64 = 0.9;

/// What an experiment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// B has more of the figure.
    Up,
    /// B has less of it.
    Down,
    /// No difference larger than the margin.
    Same,
    /// Not enough to decide.
    Nothing,
}

/// What is known after a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The change from A to B, with an interval that holds the truth at every look of the experiment together.
    pub change: Change,
    /// What that shows.
    pub shown: Shown,
    /// The chance that the interval of this look holds the truth.
    pub confidence: f64,
}

impl Look {
    /// Returns the smallest difference that a look like this one, at so many units, shows in four of five experiments with this noise:
    /// as a ratio beyond 1, such as 0.05.
    #[must_use]
    pub fn detectable(&self, units: usize) -> f64 {
        shown_in_most(units as f64, self.change.variance_of_one, self.confidence).exp_m1()
    }

    /// Returns how many units would show the change that was measured, or that there is none, in four of five experiments with this
    /// margin: more than the `units` of a look that did not show it. `None` where it takes more than a thousand.
    #[must_use]
    pub fn units_for_power(&self, units: usize, margin: f64) -> Option<u32> {
        // Beside a margin, a small change is to be distinguished from the margin, and a large one from nothing.
        let log = self.change.ratio.ln().abs();
        let distance = log.max(margin.ln_1p() - log);
        let least = if self.shown == Shown::Nothing { units + 1 } else { UNITS_MIN };
        let shows = |n| shown_in_most(f64::from(n), self.change.variance_of_one, self.confidence) < distance;
        fewest(u32::try_from(least).ok()?, RUNS_MAX, shows)
    }
}

/// Returns the smallest difference, of logarithms, that a look at `n` units of this variance shows in [`POWER`] of all experiments.
fn shown_in_most(n: f64, variance_of_one: f64, confidence: f64) -> f64 {
    let dof = n - 1.0;
    student::shift(POWER, student::quantile(0.5 + confidence / 2.0, dof), dof) * (variance_of_one / n).sqrt()
}

/// An experiment: what it is to show, and how often it was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// The ratio beyond 1 that is a difference: 0.02.
    pub margin: f64,
    /// The chance that no look shows what is not so: 0.95.
    pub confidence: f64,
    /// Looks so far.
    pub looks: u32,
}

/// What an experiment has shown after some of its units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoursePoint {
    /// The number of units.
    pub units: usize,
    /// The ratio of B to A.
    pub ratio: f64,
    /// Its interval; absent after fewer than three units.
    pub interval: Option<[f64; 2]>,
}

impl Experiment {
    /// Returns the number of units at which the next look is due.
    #[must_use]
    pub fn next_look(&self) -> usize {
        (UNITS_MIN as f64 * std::f64::consts::SQRT_2.powi(self.looks as i32)).round() as usize
    }

    /// The error that the next look may spend.
    fn alpha(&self) -> f64 {
        let all = 1.0 - self.confidence;
        if self.looks < LOOKS {
            all * SHARE_OF_LOOKS / f64::from(LOOKS)
        } else {
            all * (1.0 - SHARE_OF_LOOKS) / 2_f64.powi((self.looks - LOOKS + 1) as i32)
        }
    }

    /// Looks at the log-ratios of all units. `None` for fewer than [`UNITS_MIN`]; that is no look.
    pub fn look(&mut self, units: &[f64]) -> Option<Look> {
        if units.len() < UNITS_MIN {
            return None;
        }
        let confidence = 1.0 - self.alpha();
        self.looks += 1;
        let change = change(units, confidence);
        let shown = match change.direction() {
            _ if change.low > 1.0 / (1.0 + self.margin) && change.high < 1.0 + self.margin => Shown::Same,
            Direction::Up => Shown::Up,
            Direction::Down => Shown::Down,
            Direction::Unknown => Shown::Nothing,
        };
        Some(Look { change, shown, confidence })
    }

    /// Returns the change after units, with the interval that a look there would have: after each, or at equal distances where they are
    /// many, and of the first 400 at most.
    #[must_use]
    pub fn course(&self, units: &[f64]) -> Vec<CoursePoint> {
        let confidence = 1.0 - Self { looks: 0, ..*self }.alpha();
        let last = units.len().min(COURSE_UNITS_MAX);
        let step = last.div_ceil(COURSE_POINTS_MAX).max(1);
        let after = |n: usize| {
            let change = change(&units[..n], confidence);
            let interval = (n >= DRAWN_UNITS_MIN).then_some([change.low, change.high]);
            CoursePoint { units: n, ratio: change.ratio, interval }
        };
        (1..=last).filter(|n| (last - n).is_multiple_of(step)).map(after).collect()
    }
}

/// Returns the change from A to B that units show, as a look does, before a look is due. Needs at least one unit.
#[must_use]
pub fn so_far(units: &[f64]) -> f64 {
    change(units, 0.5).ratio
}

/// Returns the change. By ranks, the variance of a unit is the one that has an interval as wide as theirs: the units while another user
/// took the machine are not the noise of the others.
fn change(units: &[f64], confidence: f64) -> Change {
    let n = units.len() as f64;
    let mean = units.iter().sum::<f64>() / n;
    let variance = units.iter().map(|unit| (unit - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let by_mean = Change::of(mean, variance / n, (n - 1.0).max(1.0), confidence, variance);
    let middle = (units.len() >= RANKED_UNITS_MIN).then(|| ranks::middle(units, 1.0 - confidence)).flatten();
    let Some(middle) = middle.filter(|_| variance > 0.0) else { return by_mean };
    let narrower = (middle.high - middle.low) / (by_mean.high / by_mean.low).ln();
    Change {
        ratio: middle.at.exp(),
        low: middle.low.exp(),
        high: middle.high.exp(),
        variance_of_one: variance * narrower.powi(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::simulation::{Noise, autoregression};

    const ALL: [Shown; 4] = [Shown::Up, Shown::Down, Shown::Same, Shown::Nothing];

    /// Slices of 2 s on a machine whose level swings slowly, blocks of four of them, each unit a restart with noise of its own.
    fn unit(noise: &mut Noise, nth: usize, change: f64, of_slices: f64, of_restarts: f64) -> f64 {
        let swing = autoregression(noise, 4, 0.8);
        let order = if nth.is_multiple_of(2) { [0.0, 1.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0, 1.0] };
        let slices = order.iter().zip(swing);
        let difference: f64 = slices.map(|(side, swing)| (2.0 * side - 1.0) * of_slices * swing / 2.0).sum();
        (1.0 + change).ln() + difference + of_restarts * noise.normal()
    }

    /// The units of an experiment without restarts: the level of the machine swings through all of its slices, each of which inherits
    /// the share `rho` of the one before.
    fn trace(noise: &mut Noise, units: usize, change: f64, of_slices: f64, rho: f64) -> Vec<f64> {
        let levels = autoregression(noise, 4 * units, rho);
        let unit = |(nth, slices): (usize, &[f64])| {
            let signs = if nth.is_multiple_of(2) { [-0.5, 0.5, 0.5, -0.5] } else { [0.5, -0.5, -0.5, 0.5] };
            let difference: f64 = signs.iter().zip(slices).map(|(sign, level)| sign * level).sum();
            (1.0 + change).ln() + of_slices * difference
        };
        levels.chunks(4).enumerate().map(unit).collect()
    }

    /// Shares of experiments by what they show, and the mean of units that they took.
    fn experiments(times: u32, change: f64, of_slices: f64, of_restarts: f64, budget: usize) -> ([f64; 4], f64) {
        shares(times, budget, |noise| (0..budget).map(|nth| unit(noise, nth, change, of_slices, of_restarts)).collect())
    }

    /// Shares of experiments by what they show, and the mean of units that they took, of units that are drawn.
    fn shares(times: u32, budget: usize, mut draw: impl FnMut(&mut Noise) -> Vec<f64>) -> ([f64; 4], f64) {
        let mut noise = Noise::new(31);
        let (mut counts, mut all_units) = ([0_u32; 4], 0);
        for _ in 0..times {
            let mut experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
            let drawn = draw(&mut noise);
            let mut units = Vec::new();
            let shown = loop {
                let until = experiment.next_look().min(budget);
                units.extend_from_slice(&drawn[units.len()..until]);
                let look = experiment.look(&units).unwrap();
                if look.shown != Shown::Nothing || units.len() == budget {
                    break look.shown;
                }
            };
            all_units += units.len();
            counts[ALL.iter().position(|one| *one == shown).unwrap()] += 1;
        }
        (counts.map(|count| f64::from(count) / f64::from(times)), all_units as f64 / f64::from(times))
    }

    #[test]
    fn the_same_server_twice_is_hardly_ever_different() {
        for (of_slices, of_restarts) in [(0.02, 0.0), (0.05, 0.03), (0.1, 0.1)] {
            let ([up, down, ..], _) = experiments(600, 0.0, of_slices, of_restarts, 60);
            assert!(up + down <= 0.05, "{of_slices} {of_restarts}: {up} {down}");
        }
    }

    #[test]
    fn a_level_that_swings_for_long_makes_no_difference_and_a_large_one_is_found_at_once() {
        for rho in [0.0, 0.5, 0.9, 0.99] {
            let ([up, down, ..], _) = shares(400, 32, |noise| trace(noise, 32, 0.0, 0.05, rho));
            assert!(up + down <= 0.05, "{rho}: {up} {down}");
            // A unit of four slices of a second takes less than 7 s where the servers are not restarted.
            let ([up, ..], units) = shares(200, 60, |noise| trace(noise, 60, 0.2, 0.03, rho));
            assert!(up > 0.99 && units < 4.3, "{rho}: {up} in {units} units");
        }
    }

    /// Units of real experiments, A = A, tpcb-like -s 10 -c 4 on two CPUs that others kept busy:
    /// `benches/results/2026-11-23-1940-ab-turns-duets.txt`, its slices in turns.
    #[rustfmt::skip]
    const BUSY: [f64; 40] = [
        0.01201, -0.06520, -0.07255, -0.09434, 0.02406, 0.16522, 0.08698, 0.11978, 0.04505, 0.11700, -0.14302,
        0.03151, 0.15646, 0.10034, -0.19511, 0.34011, 0.17524, 0.52249, -0.50076, 0.32191, 0.09297, -0.10714,
        -0.09324, 0.02854, 0.17857, 0.13971, -0.16735, -0.01272, -0.14840, -0.18772, 0.26464, 0.14894, 0.17397,
        0.43240, 0.02234, -0.09046, 0.00257, 0.05837, 0.15525, 0.20967,
    ];

    /// Units of one real experiment, A = A, tpcb-like -s 10 -c 2 on two CPUs that others took at times:
    /// the first of `benches/results/2026-11-24-0207-ab-same-server-builds.txt`.
    const TROUBLED_AT_TIMES: [f64; 21] = [
        0.00251, 0.14476, -0.03628, 0.04754, -0.08221, -0.00072, -0.00374, -0.02572, 0.11934, 0.05486, 0.03368,
        0.03103, -0.09925, -0.70370, 0.04288, -0.34995, -0.29159, 0.47098, 0.09851, -0.44454, -0.07080,
    ];

    /// The share of 400 experiments of up to 40 units that show this, with units drawn from real ones.
    fn share_that_shows(real: &[f64], change: f64, shown: Shown) -> f64 {
        let mut noise = Noise::new(47);
        let one = |_| {
            let mut experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
            let mut units = Vec::new();
            loop {
                while units.len() < experiment.next_look().min(40) {
                    let drawn = real[(noise.uniform() * real.len() as f64) as usize];
                    units.push((1.0 + change).ln() + if noise.uniform() < 0.5 { drawn } else { -drawn });
                }
                match experiment.look(&units).unwrap().shown {
                    Shown::Nothing if units.len() < 40 => {}
                    decided => return decided,
                }
            }
        };
        (0..400).map(one).filter(|decided| *decided == shown).count() as f64 / 400.0
    }

    #[test]
    fn the_noise_of_a_busy_machine_makes_no_difference_and_hides_no_large_one() {
        // A unit varies by 20 %: five percent are not to be seen in ten minutes, a fifth is. Where it does so at times only, a tenth
        // is seen, too; Student's interval alone finds it in 46 of 100.
        for (real, change, least) in [(&BUSY[..], 0.25, 0.9), (&TROUBLED_AT_TIMES, 0.1, 0.65)] {
            let wrong = share_that_shows(real, 0.0, Shown::Up) + share_that_shows(real, 0.0, Shown::Down);
            assert!(wrong <= 0.05, "{wrong}");
            let found = share_that_shows(real, change, Shown::Up);
            assert!(found >= least, "{found}");
        }
    }

    #[test]
    fn a_difference_at_the_margin_is_hardly_ever_none() {
        let ([.., same, _], _) = experiments(600, 0.02, 0.02, 0.01, 60);
        assert!(same <= 0.05, "{same}");
    }

    #[test]
    fn a_difference_of_five_percent_is_found_and_none_is_shown() {
        // 3 % between restarts and 4 % between slices; a unit takes about 15 s, so that 40 are ten minutes.
        let ([up, down, ..], units) = experiments(300, 0.05, 0.04, 0.03, 40);
        assert!(up > 0.95 && down == 0.0 && units < 20.0, "{up} {down} {units}");
        let ([.., same, _], units) = experiments(300, 0.0, 0.01, 0.01, 40);
        assert!(same > 0.9 && units < 25.0, "{same} {units}");
    }

    #[test]
    fn all_looks_together_spend_no_more_than_is_allowed() {
        let mut experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
        let mut spent = 0.0;
        let mut last = 0;
        for _ in 0..40 {
            spent += experiment.alpha();
            assert!(experiment.next_look() > last, "looks are further and further apart");
            last = experiment.next_look();
            experiment.looks += 1;
        }
        assert!((0.0499..=0.05).contains(&spent), "{spent}");
    }

    #[test]
    fn a_difference_that_is_called_detectable_is_found_in_four_of_five_experiments() {
        let mut noise = Noise::new(53);
        let looked = Experiment { margin: 0.0001, confidence: 0.95, looks: 0 };
        for (units, deviation) in [(5, 0.04_f64), (10, 0.1)] {
            let spread: Vec<f64> = (0..units).map(|nth| if nth % 2 == 0 { 0.0 } else { 1.0 }).collect();
            let mut look = looked.clone().look(&spread).unwrap();
            look.change.variance_of_one = deviation.powi(2);
            let change = look.detectable(units).ln_1p();
            let found = (0..2000).filter(|_| {
                let units: Vec<f64> = (0..units).map(|_| change + deviation * noise.normal()).collect();
                looked.clone().look(&units).unwrap().shown == Shown::Up
            });
            let share = found.count() as f64 / 2000.0;
            assert!((0.75..0.85).contains(&share), "{units} units: {share}");
        }
    }

    #[test]
    fn the_units_that_are_said_to_decide_do_so_in_four_of_five_experiments() {
        let mut noise = Noise::new(59);
        let looked = Experiment { margin: 0.0001, confidence: 0.95, looks: 0 };
        // Changes of so many standard deviations of a unit.
        for change in [1.5, 2.0, 3.0] {
            // Their standard deviation is 1.
            let half = 0.75_f64.sqrt();
            let look = looked.clone().look(&[change - half, change + half, change - half, change + half]).unwrap();
            let units = look.units_for_power(4, looked.margin).unwrap();
            let share = |units: u32, noise: &mut Noise| {
                let found = (0..1000).filter(|_| {
                    let units: Vec<f64> = (0..units).map(|_| change + noise.normal()).collect();
                    looked.clone().look(&units).unwrap().shown == Shown::Up
                });
                found.count() as f64 / 1000.0
            };
            let (enough, fewer) = (share(units, &mut noise), share(units - 1, &mut noise));
            assert!(enough > 0.76 && fewer < 0.84, "{change}: {units} units: {enough}, {fewer}");
        }
        // Those that did not decide it are not enough, whatever the estimate.
        let look = looked.clone().look(&[3.2, 4.6, 3.2, 4.6]).unwrap();
        assert_eq!(look.shown, Shown::Up);
        let undecided = Look { shown: Shown::Nothing, ..look };
        assert!(undecided.units_for_power(9, looked.margin).unwrap() > 9, "{undecided:?}");
    }

    #[test]
    fn units_while_another_took_the_machine_are_not_the_noise_of_the_others() {
        let mut noise = Noise::new(61);
        let mut units: Vec<f64> = (0..30).map(|_| 0.1 + 0.02 * noise.normal()).collect();
        units.extend([-1.2, -1.2]);
        let look = Experiment { margin: 0.02, confidence: 0.95, looks: 0 }.look(&units).unwrap();
        assert_eq!(look.shown, Shown::Up);
        assert!(look.change.variance_of_one.sqrt() < 0.06 && look.detectable(32) < 0.04, "{look:?}");
    }

    #[test]
    fn the_course_has_the_interval_of_each_look_and_narrows() {
        let experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
        let units = [0.1, 0.12, 0.09, 0.11, 0.1, 0.12, 0.08];
        let course = experiment.course(&units);
        let look = experiment.clone().look(&units[..5]).unwrap().change;
        assert_eq!(course[4], CoursePoint { units: 5, ratio: look.ratio, interval: Some([look.low, look.high]) });
        assert_eq!((course.len(), course[1].interval), (7, None));
        let long = experiment.course(&[0.1; 1_000]);
        assert_eq!(
            (long.len(), long[0].units, long[99].units),
            (100, 4, 400),
            "also of a long experiment, in little time"
        );
        let width = |nth: usize| course[nth].interval.map(|[low, high]| high / low).unwrap();
        assert!(width(2) > width(4) && width(4) > width(6), "{course:?}");
    }

    #[test]
    fn few_units_are_no_look_and_equal_ones_are_certain() {
        let mut experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
        assert_eq!((experiment.look(&[0.1; 3]), experiment.looks), (None, 0));
        assert_eq!(experiment.look(&[0.1; 4]).unwrap().shown, Shown::Up);
        assert_eq!(experiment.look(&[0.001; 5]).unwrap().shown, Shown::Same);
        assert!((so_far(&[0.1]) - 1.1052).abs() < 1e-4);
        let equal = experiment.look(&[0.1; 14]).unwrap();
        assert!(equal.change.low == equal.change.high && equal.shown == Shown::Up, "{equal:?}");
    }
}
