//! Tests of the bounds on thousands of simulated windows with known properties.

use super::{WindowVerdict, level_changes, steadiness, warm_up};
use crate::compare::simulation::{Noise, autoregression};

/// Returns throughput by interval: 1000 with noise of 5 %.
fn throughput(noise: &mut Noise, n: usize, rho: f64) -> Vec<f64> {
    autoregression(noise, n, rho).iter().map(|v| 1000.0 * (1.0 + 0.05 * v)).collect()
}

/// Returns the share of `times` windows for which it holds.
fn share(times: u32, mut holds: impl FnMut() -> bool) -> f64 {
    let count = (0..times).filter(|_| holds()).count();
    count as f64 / f64::from(times)
}

#[test]
fn a_window_without_a_change_shows_one_in_at_most_one_of_twenty() {
    let mut noise = Noise::new(1);
    for (n, times) in [(12, 1000), (20, 1000), (30, 1000), (60, 1000), (120, 600), (600, 300), (3600, 100)] {
        for rho in [0.0, 0.5, 0.8, 0.9] {
            // Noise so large that no change is below the limit of reports.
            let mut window =
                || autoregression(&mut noise, n, rho).iter().map(|v| 1000.0 + 300.0 * v).collect::<Vec<_>>();
            let chance = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(times)).sqrt();
            let levels = share(times, || !level_changes(&window()).is_empty());
            let trends = share(times, || steadiness(&window()).is_some_and(|s| s.drifts));
            let warm = share(times, || warm_up(&window()).is_some());
            assert!(levels.max(trends).max(warm) <= chance, "{n} intervals, {rho}: {levels} {trends} {warm}");
        }
    }
}

#[test]
fn a_step_of_a_fifth_is_found_near_its_place() {
    let mut noise = Noise::new(2);
    for (rho, least) in [(0.0, 0.99), (0.3, 0.95), (0.5, 0.9)] {
        let found = share(500, || {
            let mut window = throughput(&mut noise, 60, rho);
            window[35..].iter_mut().for_each(|v| *v *= 0.8);
            let changes = level_changes(&window);
            changes.len() == 1 && changes[0].at.abs_diff(35) <= 3
        });
        assert!(found >= least, "{rho}: {found}");
    }
}

#[test]
fn a_slow_decline_is_a_drift() {
    let mut noise = Noise::new(3);
    let found = share(500, || {
        let mut window = throughput(&mut noise, 300, 0.5);
        window.iter_mut().enumerate().for_each(|(nth, v)| *v *= 1.0 - 0.2 * nth as f64 / 300.0);
        steadiness(&window).unwrap().drifts
    });
    assert!(found >= 0.9, "{found}");
}

#[test]
fn a_level_window_is_called_steady_once_it_is_long_enough() {
    let mut noise = Noise::new(4);
    let steady = |n, noise: &mut Noise| {
        share(300, || steadiness(&throughput(noise, n, 0.3)).unwrap().verdict() == WindowVerdict::Steady)
    };
    assert!(steady(120, &mut noise) > 0.9);
    assert!(steady(9, &mut noise) < 0.1);
}

#[test]
fn a_drift_of_a_tenth_is_called_steady_in_at_most_one_of_twenty_windows() {
    let mut noise = Noise::new(6);
    for (n, rho) in [(30, 0.0), (30, 0.5), (60, 0.3), (120, 0.5), (300, 0.8)] {
        let steady = share(500, || {
            let mut window = throughput(&mut noise, n, rho);
            // The middles of the first and the last third are two thirds of the window apart.
            window.iter_mut().enumerate().for_each(|(nth, v)| *v *= 1.0 + 0.15 * nth as f64 / n as f64);
            steadiness(&window).unwrap().verdict() == WindowVerdict::Steady
        });
        assert!(steady <= 0.05, "{n} intervals, {rho}: {steady}");
    }
}

#[test]
fn caches_that_fill_are_a_warm_up() {
    let mut noise = Noise::new(5);
    let found = share(300, || {
        let mut window = throughput(&mut noise, 120, 0.3);
        window.iter_mut().enumerate().for_each(|(nth, v)| *v *= 1.0 - 0.6 * (-(nth as f64) / 8.0).exp());
        warm_up(&window).is_some_and(|at| (10..=50).contains(&at))
    });
    assert!(found >= 0.9, "{found}");
}
