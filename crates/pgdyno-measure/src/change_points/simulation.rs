//! Tests change points with histories whose truth is known: simulated ones, and the examples that Apache Otava publishes.

use super::{ChangePoint, Changes, RUNS_MIN, change_points};
use crate::compare::simulation::{Noise, autoregression};

const CONFIDENCE: f64 = 0.95;

/// How runs of one level vary; each with a mean of 0 and a standard deviation of about 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Normal,
    /// Lognormal: a long tail to one side.
    Skewed,
    /// Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// One run of twenty is ten deviations too slow.
    Outliers,
    /// Each run inherits a share of the one before.
    Inherited(f64),
    /// Runs of the second half vary three times as much.
    Louder,
}

const KINDS: [Kind; 7] = [
    Kind::Normal,
    Kind::Skewed,
    Kind::HeavyTailed,
    Kind::Outliers,
    Kind::Louder,
    Kind::Inherited(0.2),
    Kind::Inherited(0.4),
];

impl Kind {
    fn series(self, noise: &mut Noise, n: usize) -> Vec<f64> {
        let one = |noise: &mut Noise, nth: usize| match self {
            Self::Skewed => ((0.5 * noise.normal()).exp() - 0.125_f64.exp()) / 0.604,
            Self::HeavyTailed => {
                let chi_squared: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                noise.normal() / (chi_squared / 3.0).sqrt() / 3_f64.sqrt()
            }
            Self::Outliers if noise.uniform() < 0.05 => noise.normal() - 10.0,
            Self::Louder if nth >= n / 2 => 3.0 * noise.normal(),
            _ => noise.normal(),
        };
        match self {
            Self::Inherited(rho) => autoregression(noise, n, rho),
            _ => (0..n).map(|nth| one(noise, nth)).collect(),
        }
    }
}

/// A history around 1,000 with relative deviations of `deviation` and steps: from a run on, the level is multiplied by a ratio.
fn history(noise: &mut Noise, kind: Kind, n: usize, deviation: f64, steps: &[(usize, f64)]) -> Vec<f64> {
    let level = |nth: usize| steps.iter().filter(|(at, _)| *at <= nth).map(|(_, ratio)| ratio).product::<f64>();
    kind.series(noise, n).iter().enumerate().map(|(nth, v)| 1000.0 * level(nth) * (deviation * v).exp()).collect()
}

fn changes(values: &[f64]) -> Changes {
    change_points(values, CONFIDENCE).unwrap()
}

fn places(points: &[ChangePoint]) -> Vec<usize> {
    points.iter().map(|point| point.at).collect()
}

/// Returns the share of histories of equal runs that show a change point after any of their runs.
fn ever_false(kind: Kind, n: usize, times: u32, seed: u64) -> f64 {
    let mut noise = Noise::new(seed);
    let shows = |values: &Vec<f64>| (RUNS_MIN..=n).any(|end| !changes(&values[..end]).points.is_empty());
    let histories = (0..times).map(|_| history(&mut noise, kind, n, 0.02, &[]));
    histories.filter(shows).count() as f64 / f64::from(times)
}

/// What becomes of a step in a history.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Share of histories that show it, within two runs of its place.
    share: f64,
    /// Share of the histories that show it whose likely places hold its place.
    placed: f64,
    /// Share of those whose interval holds the true change.
    held: f64,
    /// Share of all histories with another change point.
    others: f64,
}

fn step(kind: Kind, deviation: f64, ratio: f64, before: usize, after: usize, times: u32) -> Found {
    let mut noise = Noise::new(57);
    let (mut shown, mut placed, mut held, mut others) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..times {
        let values = history(&mut noise, kind, before + after, deviation, &[(before, ratio)]);
        let points = changes(&values).points;
        let (its, other): (Vec<ChangePoint>, Vec<ChangePoint>) =
            points.iter().copied().partition(|point| point.at.abs_diff(before) <= 2);
        others += f64::from(u8::from(!other.is_empty()));
        if let Some(point) = its.first() {
            shown += 1.0;
            placed += f64::from(u8::from((point.earliest..=point.latest).contains(&before)));
            held += f64::from(u8::from((point.change.low..=point.change.high).contains(&ratio)));
        }
    }
    let times = f64::from(times);
    Found { share: shown / times, placed: placed / shown, held: held / shown, others: others / times }
}

/// The share that is promised, with three standard deviations of the share that is measured.
fn at_most(promise: f64, times: u32) -> f64 {
    promise + 3.0 * (promise * (1.0 - promise) / f64::from(times)).sqrt()
}

#[test]
fn equal_runs_hardly_ever_show_a_change_however_often_they_are_looked_at() {
    for kind in [Kind::Normal, Kind::Skewed, Kind::HeavyTailed, Kind::Outliers] {
        let share = ever_false(kind, 60, 150, 71);
        assert!(share <= at_most(0.05, 150), "{kind:?}: {share}");
    }
}

#[test]
fn runs_that_are_alike_or_vary_differently_cost_some_of_the_promise() {
    for kind in [Kind::Louder, Kind::Inherited(0.2)] {
        let share = ever_false(kind, 60, 150, 72);
        assert!(share <= at_most(0.1, 150), "{kind:?}: {share}");
    }
}

/// A step, and the least share of histories that show it.
const STEPS: [(Kind, f64, f64, usize, usize, f64); 12] = [
    (Kind::Normal, 0.01, 0.8, 5, 3, 0.9),
    (Kind::Normal, 0.01, 0.8, 20, 3, 0.95),
    (Kind::Normal, 0.01, 0.95, 10, 5, 0.8),
    (Kind::Normal, 0.01, 0.95, 30, 5, 0.9),
    (Kind::Normal, 0.02, 0.95, 30, 8, 0.7),
    (Kind::Normal, 0.02, 1.05, 30, 10, 0.8),
    (Kind::Normal, 0.03, 0.9, 30, 5, 0.7),
    (Kind::Normal, 0.05, 0.9, 30, 20, 0.8),
    (Kind::Skewed, 0.02, 0.95, 30, 10, 0.8),
    (Kind::HeavyTailed, 0.02, 0.95, 30, 10, 0.85),
    (Kind::Outliers, 0.01, 0.95, 30, 8, 0.85),
    (Kind::Inherited(0.2), 0.02, 0.95, 30, 15, 0.75),
];

#[test]
fn a_step_is_found_soon_where_it_is_and_as_large_as_it_is() {
    let times = 150;
    for (kind, deviation, ratio, before, after, least) in STEPS {
        let found = step(kind, deviation, ratio, before, after, times);
        let case = format!("{kind:?} {deviation} {ratio} {before}+{after}: {found:?}");
        assert!(found.share >= least && found.others <= 0.1, "{case}");
        assert!(found.placed >= 0.9 && found.held >= 0.87, "{case}");
    }
}

#[test]
fn a_change_that_is_undone_is_two_changes() {
    let (mut noise, mut both) = (Noise::new(58), 0);
    for _ in 0..100 {
        let values = history(&mut noise, Kind::Normal, 60, 0.02, &[(25, 0.93), (35, 1.0 / 0.93)]);
        let at = places(&changes(&values).points);
        both += u32::from(at.len() == 2 && at[0].abs_diff(25) <= 2 && at[1].abs_diff(35) <= 2);
    }
    assert!(both >= 85, "{both} of 100");
}

#[test]
fn a_slow_drift_is_no_staircase() {
    for (deviation, total) in [(0.01, 0.2), (0.02, 0.1), (0.02, -0.5)] {
        let [none, one, more, drifts] = drift_shares(deviation, total, 100);
        assert!(
            none >= 0.95 && one + more <= 0.05 && drifts >= 0.95,
            "{deviation} {total}: {none} {one} {more} {drifts}"
        );
    }
}

/// Returns the shares of histories of 60 runs on a line that show no change point, one, more, and a drift.
fn drift_shares(deviation: f64, total: f64, times: u32) -> [f64; 4] {
    let (mut noise, mut counts) = (Noise::new(59), [0; 4]);
    for _ in 0..times {
        let mut values = history(&mut noise, Kind::Normal, 60, deviation, &[]);
        values.iter_mut().enumerate().for_each(|(nth, value)| *value *= (total * nth as f64 / 59.0).exp());
        let changes = changes(&values);
        counts[changes.points.len().min(2)] += 1;
        counts[3] += u32::from(!changes.drifts.is_empty());
    }
    counts.map(|count| f64::from(count) / f64::from(times))
}

#[test]
fn a_large_step_is_found_whatever_is_beside_it() {
    let (mut noise, mut both) = (Noise::new(60), 0);
    for _ in 0..60 {
        let mut values = history(&mut noise, Kind::Normal, 70, 0.01, &[(12, 0.83)]);
        values.iter_mut().enumerate().for_each(|(nth, value)| *value *= (-0.004 * (nth as f64 - 25.0).max(0.0)).exp());
        let changes = changes(&values);
        assert!(places(&changes.points).contains(&12), "{:?} {:?}", places(&changes.points), changes.drifts);
        both += u32::from(!changes.drifts.is_empty());
    }
    assert!(both >= 54, "{both} of 60 drifts");
}

#[test]
fn few_runs_have_no_changes_and_equal_figures_no_noise() {
    assert_eq!(change_points(&[1.0; RUNS_MIN - 1], CONFIDENCE), None);
    let equal = changes(&[3.0; 40]);
    assert!(equal.points.is_empty() && equal.drifts.is_empty() && equal.noise < 1e-9);
    let mut step = vec![3.0; 20];
    step.extend([2.0; 4]);
    assert_eq!(places(&changes(&step).points), [20]);
}

/// Prints the table of ADR 18: `cargo test --release -p pgdyno-measure the_table -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table, and takes minutes"]
fn the_table() {
    println!("histories of 100 equal runs that show a change point after any of their runs, of 1000");
    for kind in KINDS {
        println!("{kind:?}: {:.1} %", 100.0 * ever_false(kind, 100, 1000, 71));
    }
    println!(
        "\nsteps: noise, ratio, runs before + after: shown, likely places hold it, interval holds it, others; of 1000"
    );
    for (kind, deviation, ratio, before, after, _) in STEPS {
        let Found { share, placed, held, others } = step(kind, deviation, ratio, before, after, 1000);
        println!("{kind:?} {deviation} {ratio} {before}+{after}: {share:.3} {placed:.3} {held:.3} {others:.3}");
    }
    println!("\ndrifts over 60 runs: noise, total: no point, one, more, reported as a drift; of 1000");
    for (deviation, total) in [(0.01, 0.2), (0.02, 0.2), (0.02, 0.1), (0.02, 0.05), (0.02, -0.5)] {
        println!("{deviation} {total}: {:.3?}", drift_shares(deviation, total, 1000));
    }
}

/// Otava's tests/analysis_test.py: the change is at run 10.
const OTAVA_SINGLE: [f64; 20] = [
    1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50,
    0.49,
];

/// Otava's tests/series_test.py: changes at run 6 of the first and run 4 of the second.
const OTAVA_PAIR: [[f64; 11]; 2] = [
    [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55],
    [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78],
];

/// Otava's examples/csv/data/local_sample.csv: metric1 has none, metric2 falls by 12.9 % at run 6.
const OTAVA_SAMPLE: [[f64; 10]; 2] = [
    [154023.0, 138455.0, 143112.0, 149190.0, 132098.0, 151344.0, 155145.0, 148889.0, 149466.0, 148209.0],
    [10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03],
];

#[test]
fn the_examples_of_otava_change_where_they_do() {
    assert_eq!(places(&changes(&OTAVA_SINGLE).points), [10]);
    assert_eq!(places(&changes(&OTAVA_PAIR[0]).points), [6]);
    assert_eq!(places(&changes(&OTAVA_PAIR[1]).points), [4]);
    assert_eq!(places(&changes(&OTAVA_SAMPLE[0]).points), [0; 0]);
    let metric2 = changes(&OTAVA_SAMPLE[1]).points;
    assert_eq!(places(&metric2), [6]);
    assert!((metric2[0].change.ratio - 0.871).abs() < 0.001, "{metric2:?}");
}

#[test]
fn of_a_real_series_the_steps_are_found_a_wild_run_is_none_and_a_slow_rise_is_a_drift() {
    let found = changes(&TIGERBEETLE);
    assert_eq!(places(&found.points), [15, 61, 71, 95]);
    assert!(matches!(found.drifts[..], [drift] if (drift.from, drift.to) == (95, 160)), "{:?}", found.drifts);
    // Otava has 15, 61, 71, 95, 117, 131, 142 and 148 at p = 0.001: the slow rise is a staircase there.
}

/// Otava's tests/tigerbeetle_test.py, the first 160 runs: a wild run (10), real steps down (15) and up (61, 71), one down (95), then a
/// slow rise.
const TIGERBEETLE: [f64; 160] = [
    26705.0, 26475.0, 26641.0, 26806.0, 26835.0, 26911.0, 26564.0, 26812.0, 26874.0, 26682.0, 15672.0, 26745.0,
    26460.0, 26977.0, 26851.0, 23412.0, 23547.0, 23674.0, 23519.0, 23670.0, 23662.0, 23462.0, 23750.0, 23717.0,
    23524.0, 23588.0, 23687.0, 23793.0, 23937.0, 23715.0, 23570.0, 23730.0, 23690.0, 23699.0, 23670.0, 23860.0,
    23988.0, 23652.0, 23681.0, 23798.0, 23728.0, 23604.0, 23523.0, 23412.0, 23685.0, 23773.0, 23771.0, 23718.0,
    23409.0, 23739.0, 23674.0, 23597.0, 23682.0, 23680.0, 23711.0, 23660.0, 23990.0, 23938.0, 23742.0, 23703.0,
    23536.0, 24363.0, 24414.0, 24483.0, 24509.0, 24944.0, 24235.0, 24560.0, 24236.0, 24667.0, 24730.0, 28346.0,
    28437.0, 28436.0, 28057.0, 28217.0, 28456.0, 28427.0, 28398.0, 28250.0, 28331.0, 28222.0, 28726.0, 28578.0,
    28345.0, 28274.0, 28514.0, 28590.0, 28449.0, 28305.0, 28411.0, 28788.0, 28404.0, 28821.0, 28580.0, 27483.0,
    26805.0, 27487.0, 27124.0, 26898.0, 27295.0, 26951.0, 27312.0, 27660.0, 27154.0, 27050.0, 26989.0, 27193.0,
    27503.0, 27326.0, 27375.0, 27513.0, 27057.0, 27421.0, 27574.0, 27609.0, 27123.0, 27824.0, 27644.0, 27394.0,
    27836.0, 27949.0, 27702.0, 27457.0, 27272.0, 28207.0, 27802.0, 27516.0, 27586.0, 28005.0, 27768.0, 28543.0,
    28237.0, 27915.0, 28437.0, 28342.0, 27733.0, 28296.0, 28524.0, 28687.0, 28258.0, 28611.0, 29360.0, 28590.0,
    29641.0, 28965.0, 29474.0, 29256.0, 28611.0, 28205.0, 28539.0, 27962.0, 28398.0, 28509.0, 28240.0, 28592.0,
    28102.0, 28461.0, 28578.0, 28669.0,
];
