//! Tests the confidence of comparisons with thousands of simulated runs whose truth is known.

use super::{Change, Direction, Estimate, Latencies};

/// Random numbers that are the same in every test: SplitMix64, and Box and Muller.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, turn) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        radius * turn.cos()
    }
}

/// A series of mean 0 and variance 1 in which each value inherits the share `rho` of the one before.
pub(crate) fn autoregression(noise: &mut Noise, n: usize, rho: f64) -> Vec<f64> {
    let mut value = noise.normal();
    let fresh = (1.0 - rho * rho).sqrt();
    let next = |_| {
        value = rho * value + fresh * noise.normal();
        value
    };
    (0..n).map(next).collect()
}

/// Throughput by interval, around `level`.
fn throughput(noise: &mut Noise, n: usize, rho: f64, level: f64, variation: f64) -> Vec<f64> {
    autoregression(noise, n, rho).iter().map(|v| level * (1.0 + variation * v)).collect()
}

/// Returns how often `compare` gives each direction in `times` comparisons: up, down, unknown; as shares. No interval at all is
/// unknown, too.
fn shares(times: u32, seed: u64, mut compare: impl FnMut(&mut Noise) -> Option<Change>) -> [f64; 3] {
    let (mut noise, mut counts) = (Noise::new(seed), [0; 3]);
    for _ in 0..times {
        counts[match compare(&mut noise).map_or(Direction::Unknown, |change| change.direction()) {
            Direction::Up => 0,
            Direction::Down => 1,
            Direction::Unknown => 2,
        }] += 1;
    }
    counts.map(|count| f64::from(count) / f64::from(times))
}

/// Three standard deviations of a share of 0.95 among `times`.
fn chance(times: u32) -> f64 {
    3.0 * (0.95 * 0.05 / f64::from(times)).sqrt()
}

#[test]
fn the_same_system_in_single_runs_shows_no_difference_as_often_as_promised() {
    // Short and very persistent series are worth next to nothing, and say so: never less than promised.
    for (n, rho) in [(30, 0.0), (30, 0.5), (30, 0.9), (60, 0.5), (300, 0.0), (300, 0.5), (300, 0.9)] {
        let times = 1000;
        let run = |noise: &mut Noise| Estimate::of_intervals(&throughput(noise, n, rho, 1000.0, 0.05)).unwrap();
        let [_, _, none] = shares(times, 7, |noise| Some(Change::between(&run(noise), &run(noise), 0.95)));
        let room = if rho > 0.0 && n < 300 || rho > 0.5 { 0.03 } else { chance(times) };
        assert!((0.95 - chance(times)..=0.95 + room).contains(&none), "{n} intervals, {rho}: {none}");
    }
}

#[test]
fn an_hour_of_intervals_keeps_the_promise_too() {
    let times = 300;
    let run = |noise: &mut Noise| Estimate::of_intervals(&throughput(noise, 3600, 0.9, 1000.0, 0.05)).unwrap();
    let [_, _, none] = shares(times, 8, |noise| Some(Change::between(&run(noise), &run(noise), 0.95)));
    assert!((none - 0.95).abs() < chance(times), "{none}");
}

#[test]
fn the_same_system_in_several_runs_shows_no_difference_as_often_as_promised() {
    // Runs differ by 2 %, and within them neighbours are alike.
    for (runs, confidence) in [(3, 0.95), (5, 0.95), (10, 0.95), (5, 0.8)] {
        let times = 2000;
        let side = |noise: &mut Noise| {
            let run = |_| {
                let level = 1000.0 * (1.0 + 0.02 * noise.normal());
                let series = throughput(noise, 30, 0.5, level, 0.02);
                series.iter().sum::<f64>() / series.len() as f64
            };
            (0..runs).map(run).collect::<Vec<_>>()
        };
        let [up, down, none] = shares(times, 9, |noise| Change::of_runs(&side(noise), &side(noise), confidence));
        let chance = 3.0 * (confidence * (1.0 - confidence) / f64::from(times)).sqrt();
        // Welch's interval is a little wide for very few runs.
        let room = if runs < 5 { 0.02 } else { 0.0 };
        assert!(none > confidence - chance && none < confidence + chance + room, "{runs} runs: {none}");
        assert!((up - down).abs() < chance, "neither side is favoured: {up} {down}");
    }
}

#[test]
fn one_run_against_several_keeps_the_promise() {
    let times = 2000;
    let run = |noise: &mut Noise| 1000.0 * (1.0 + 0.02 * noise.normal());
    let [_, _, none] = shares(times, 10, |noise| {
        let several: Vec<f64> = (0..5).map(|_| run(noise)).collect();
        Change::of_runs(&several, &[run(noise)], 0.95)
    });
    assert!((none - 0.95).abs() < chance(times), "{none}");
}

#[test]
fn a_true_change_of_five_percent_is_found() {
    let times = 500;
    let [up, down, _] = shares(times, 11, |noise| {
        let side =
            |noise: &mut Noise, level: f64| (0..5).map(|_| level * (1.0 + 0.01 * noise.normal())).collect::<Vec<_>>();
        Change::of_runs(&side(noise, 1000.0), &side(noise, 950.0), 0.95)
    });
    assert!(down > 0.99 && up == 0.0, "five runs each at 1 %: {down}");
    let [up, _, _] = shares(times, 12, |noise| {
        let run = |noise: &mut Noise, level| Estimate::of_intervals(&throughput(noise, 120, 0.5, level, 0.05)).unwrap();
        Some(Change::between(&run(noise, 1000.0), &run(noise, 1050.0), 0.95))
    });
    assert!(up > 0.9, "two minutes each, intervals at 5 %: {up}");
}

#[test]
fn the_seen_interval_holds_the_true_change_as_often_as_promised() {
    let (times, mut noise, mut held) = (1000, Noise::new(13), 0);
    for _ in 0..times {
        let mut run = |level| Estimate::of_intervals(&throughput(&mut noise, 120, 0.5, level, 0.1)).unwrap();
        let change = Change::between(&run(1000.0), &run(1300.0), 0.95);
        held += u32::from((change.low..=change.high).contains(&1.3));
    }
    let share = f64::from(held) / f64::from(times);
    assert!((share - 0.95).abs() < chance(times), "{share}");
}

#[test]
fn percentiles_keep_the_promise_where_neighbours_are_alike() {
    // Log-normal latencies on a level that swings slowly: of a hundred transactions each, all are slow at once.
    for (quantile, rho) in [(0.5, 0.5), (0.9, 0.5), (0.95, 0.0), (0.9, 0.8)] {
        let times = 300;
        let run = |noise: &mut Noise| {
            let levels = autoregression(noise, 120, rho);
            let mut latency = |level: f64| ((0.2 * level + 0.5 * noise.normal()).exp() * 1e6) as u64;
            Latencies::new(levels.iter().map(|level| (0..30).map(|_| (latency(*level), 1)).collect()).collect())
        };
        let [up, down, none] = shares(times, 14, |noise| Latencies::change(&run(noise), &run(noise), quantile, 0.95));
        assert!((0.95 - chance(times)..=0.985).contains(&none), "p{} {rho}: {none} {up} {down}", quantile * 100.0);
    }
}
