//! Throughput and latency over time.

use std::collections::VecDeque;

use pgdyno_measure::{Interval, Phase};

use super::totals::Figures;

/// Number of intervals that are kept: an hour of seconds.
const KEPT: usize = 3600;

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Its end, in seconds since the run started.
    pub(crate) end_s: f64,
    /// Committed transactions per second.
    pub(crate) tps: f64,
    /// The 99th percentile, in nanoseconds.
    pub(crate) p99_ns: Option<u64>,
    /// Whether it belongs to the measured window.
    pub(crate) measured: bool,
}

/// The last hour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    points: VecDeque<Point>,
}

/// The points of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    /// Number of intervals per point.
    pub(crate) intervals: usize,
    /// The oldest first.
    pub(crate) points: Vec<Point>,
}

impl Series {
    pub(super) fn push(&mut self, interval: &Interval, figures: Option<&Figures>) {
        if self.points.len() == KEPT {
            self.points.pop_front();
        }
        self.points.push_back(Point {
            end_s: interval.end_ns as f64 / 1e9,
            tps: interval.tps(),
            p99_ns: figures.and_then(|figures| figures.latency).map(|latency| latency.p99),
            measured: interval.phase == Phase::Measure,
        });
    }

    /// Returns the greatest throughput of the measured intervals, or of all if none was measured yet.
    pub(crate) fn best_tps(&self) -> Option<f64> {
        let best = |points: &mut dyn Iterator<Item = &Point>| points.map(|point| point.tps).reduce(f64::max);
        best(&mut self.points.iter().filter(|point| point.measured)).or_else(|| best(&mut self.points.iter()))
    }

    /// Returns at most `width` points: throughput is the mean of the intervals, latency their worst.
    pub(crate) fn columns(&self, width: usize) -> Columns {
        let intervals = self.points.len().div_ceil(width.max(1)).max(1);
        let points = self.points.iter().copied().collect::<Vec<_>>();
        let column = |part: &[Point]| {
            let last = part.last().copied()?;
            Some(Point {
                tps: part.iter().map(|point| point.tps).sum::<f64>() / part.len() as f64,
                p99_ns: part.iter().filter_map(|point| point.p99_ns).max(),
                ..last
            })
        };
        Columns { intervals, points: points.chunks(intervals).filter_map(column).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(tps: &[f64]) -> Series {
        let point = |(nth, tps): (usize, &f64)| Point {
            end_s: nth as f64 + 1.0,
            tps: *tps,
            p99_ns: Some(*tps as u64),
            measured: nth > 0,
        };
        Series { points: tps.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn a_long_series_becomes_means_of_several_intervals() {
        let columns = series(&[10.0, 20.0, 30.0, 50.0, 70.0]).columns(3);
        let tps: Vec<_> = columns.points.iter().map(|point| (point.end_s, point.tps, point.p99_ns)).collect();
        assert_eq!(
            (columns.intervals, tps),
            (2, vec![(2.0, 15.0, Some(20)), (4.0, 40.0, Some(50)), (5.0, 70.0, Some(70))])
        );
        assert_eq!(series(&[1.0, 2.0]).columns(80).points.len(), 2, "a short one stays as it is");
        assert_eq!(Series::default().columns(10), Columns { intervals: 1, points: Vec::new() });
    }

    #[test]
    fn the_best_is_of_the_measured_window() {
        assert_eq!(series(&[90.0, 20.0, 30.0]).best_tps(), Some(30.0));
        assert_eq!((series(&[90.0]).best_tps(), Series::default().best_tps()), (Some(90.0), None));
    }
}
