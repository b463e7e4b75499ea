//! Whether the machine or the server changed while the search went on.
//!
//! One load, the *anchor*, is measured again and again. The margins of loads that were measured several times give a slope over
//! the number of measurements: the least-squares line with a level for each load. If it is larger than chance explains, all
//! margins are brought to the time of the last measurement: the result is the limit as it is at the end.

use super::Point;
use super::sequential::{Noise, SATURATED, t_quantile};

/// Margins, brought to the time of the last measurement if they drift.
pub(super) struct Today {
    /// By load, as they were measured.
    pub(super) points: Vec<Point>,
    /// Their spread.
    pub(super) noise: Noise,
    /// Change of the margin from the first measurement to the last, if it is more than chance.
    pub(super) drift: Option<f64>,
}

impl Today {
    pub(super) fn of(points: &[Point]) -> Self {
        let noise = |points: &[Point]| Noise::of(points.iter().map(|point| point.margins.as_slice()));
        let plain = || Self { points: points.to_vec(), noise: noise(points), drift: None };
        let Some((slope, squares)) = slope(points) else { return plain() };
        let last = points.iter().flat_map(|point| &point.at).copied().max().unwrap_or_default();
        let mut today = points.to_vec();
        for point in &mut today {
            let moved = point.margins.iter().zip(&point.at).map(|(margin, at)| (*margin, slope * (last - at) as f64));
            // One at the end of the scale may lie beyond it: when it would come back far it says nothing any more.
            let says = |(margin, change): &(f64, f64)| {
                margin.abs() < SATURATED || margin * change >= 0.0 || change.abs() < SATURATED / 2.0
            };
            point.margins =
                moved.filter(says).map(|(margin, change)| (margin + change).clamp(-SATURATED, SATURATED)).collect();
        }
        let rest = noise(&today);
        if slope.abs() <= t_quantile(rest.freedom) * rest.spread / squares.sqrt() {
            return plain();
        }
        Self { points: today, noise: rest, drift: Some(slope * last as f64) }
    }
}

/// Returns the change of the margin from one measurement to the next, and the sum of squares of the times that it rests on. `None`
/// if no load was measured twice.
fn slope(points: &[Point]) -> Option<(f64, f64)> {
    let (mut products, mut squares) = (0.0, 0.0);
    for point in points {
        let seen = point.at.iter().zip(&point.margins).filter(|(_, margin)| margin.abs() < SATURATED);
        let seen: Vec<(f64, f64)> = seen.map(|(at, margin)| (*at as f64, *margin)).collect();
        let n = seen.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| seen.iter().map(of).sum::<f64>() / n;
        let (at, margin) = (mean(|seen| seen.0), mean(|seen| seen.1));
        products += seen.iter().map(|seen| (seen.0 - at) * (seen.1 - margin)).sum::<f64>();
        squares += seen.iter().map(|seen| (seen.0 - at).powi(2)).sum::<f64>();
    }
    (squares > 0.0).then(|| (products / squares, squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_that_drift_are_brought_to_the_end_and_others_stay() {
        let point = |load, seen: &[(usize, f64)]| Point {
            load,
            at: seen.iter().map(|(at, _)| *at).collect(),
            margins: seen.iter().map(|(_, margin)| *margin).collect(),
        };
        let drifting = [
            point(100.0, &[(0, 0.6), (10, 0.4), (20, 0.2), (30, 0.0)]),
            point(120.0, &[(5, 0.0)]),
            point(500.0, &[(6, -1.0)]),
            point(10.0, &[(1, 1.0), (28, 1.0)]),
        ];
        let today = Today::of(&drifting);
        assert!((today.drift.unwrap() + 0.6).abs() < 1e-9, "{:?}", today.drift);
        assert!(today.points[0].margins.iter().all(|margin| margin.abs() < 1e-9), "{:?}", today.points);
        assert!((today.points[1].margins[0] + 0.5).abs() < 1e-9 && today.points[2].margins == [-1.0]);
        assert_eq!(today.points[3].margins.len(), 1, "the first may be far below the end of the scale by now");

        let steady = [point(100.0, &[(0, 0.2), (10, 0.25), (20, 0.18), (30, 0.22)])];
        let today = Today::of(&steady);
        assert_eq!((today.drift, &*today.points), (None, &steady[..]));
        assert_eq!(Today::of(&[point(1.0, &[(0, 0.5)])]).drift, None);
    }
}
