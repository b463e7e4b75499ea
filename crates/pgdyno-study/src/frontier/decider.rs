//! Decides which point of a frontier is measured next and with which order, and what the points show.

use pgdyno_measure::frontier::{Throughputs, area, area_reach, bounds, hull};
use pgdyno_measure::mean::{mean, reach};
use pgdyno_plan::{AnalyticsOrder, Order, RateOrder, RateStepsOrder};
use pgdyno_results::{FrontierPoint, FrontierRecord, FrontierResult};

/// Offered rates as shares of the highest.
const SHARES: [f64; 5] = [1.0, 0.8, 0.5, 0.2, 0.0];

/// Returns the points for up to so many streams: the ends of the axes and the corner first, so that a frontier that ends
/// early has them.
pub(crate) fn points(streams_max: u32) -> Vec<FrontierPoint> {
    let point = |share: f64, streams| FrontierPoint { share, streams, ..FrontierPoint::default() };
    let mut points = vec![point(0.0, streams_max), point(1.0, 0), point(1.0, streams_max)];
    let all = SHARES.iter().flat_map(|share| (0..=streams_max).rev().map(|streams| point(*share, streams)));
    for other in all.filter(|point| point.share > 0.0 || point.streams > 0) {
        if !points.contains(&other) {
            points.push(other);
        }
    }
    points
}

/// Returns the place of the point to measure next; `None` when each has all of its runs. All points are measured once before any
/// is measured again.
pub(crate) fn next(record: &FrontierRecord) -> Option<usize> {
    let missing = |nth: &usize| record.points[*nth].runs.len() < record.repeats as usize;
    (0..record.points.len()).filter(missing).min_by_key(|nth| record.points[*nth].runs.len())
}

/// Returns the order of a run of this point.
pub(crate) fn order_of(point: &FrontierPoint, record: &FrontierRecord, order: &Order) -> Order {
    let mut order = with_streams(order, point.streams);
    (order.no_load, order.replace) = (!record.restored, false);
    order.drive.rate_steps = Some(RateStepsOrder::None);
    if point.share > 0.0 {
        order.drive.rate = record.highest_tps.map(|tps| RateOrder::PerS(rounded(tps * point.share)));
    } else {
        order.workload.params.push(("transactions".to_owned(), "false".to_owned()));
    }
    order
}

/// Returns the order with so many streams of queries; without what concerns queries if there are none.
pub(crate) fn with_streams(order: &Order, streams: u32) -> Order {
    let mut order = order.clone();
    let options = &mut order.workload.options;
    options.insert("streams".to_owned(), streams.to_string());
    if streams == 0 {
        options.retain(|name, _| !["queries", "query-form", "timeout"].contains(&name.as_str()));
        order.analytics = AnalyticsOrder::default();
    }
    order
}

/// Returns a rate with three digits, which people can read and say again.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    ((rate / unit).round() * unit * 1000.0).round() / 1000.0
}

/// Returns both ends of the 95 % interval of a mean of throughputs, which are not below 0; `None` with fewer than two.
pub(crate) fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let (mean, reach) = (mean(values)?, reach(values)?);
    Some([(mean - reach).max(0.0), mean + reach])
}

/// Returns what the points show so far.
pub(crate) fn result(points: &[FrontierPoint]) -> Option<FrontierResult> {
    let measured: Vec<(usize, Throughputs)> =
        points.iter().enumerate().filter_map(|(nth, point)| Some((nth, point.mean()?))).collect();
    let means: Vec<Throughputs> = measured.iter().map(|(_, point)| *point).collect();
    let box_of_both = bounds(&means);
    let repeated =
        |point: &FrontierPoint| point.tps.iter().copied().zip(point.queries_per_hour.iter().copied()).collect();
    let repeats: Vec<Vec<Throughputs>> = measured.iter().map(|(nth, _)| repeated(&points[*nth])).collect();
    let area = area(&means, box_of_both)?;
    let ends = |reach: f64| [(area - reach).max(0.0), (area + reach).min(1.0)];
    Some(FrontierResult {
        hull: hull(&means).into_iter().map(|nth| measured[nth].0).collect(),
        tps_max: box_of_both.0,
        queries_per_hour_max: box_of_both.1,
        area,
        area_interval: area_reach(&repeats).map(ends),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_meets_every_number_of_streams_once_and_the_corners_come_first() {
        let grid: Vec<_> = points(2).iter().map(|point| (point.share, point.streams)).collect();
        assert_eq!(grid[..3], [(0.0, 2), (1.0, 0), (1.0, 2)]);
        assert_eq!(grid.len(), 5 * 3 - 1);
        assert!(grid.iter().enumerate().all(|(nth, point)| !grid[..nth].contains(point)));
        assert!(!grid.contains(&(0.0, 0)));
    }

    #[test]
    fn all_points_are_measured_once_before_any_is_measured_again() {
        let mut record = FrontierRecord { repeats: 2, points: points(1), ..FrontierRecord::default() };
        let mut order = Vec::new();
        while let Some(nth) = next(&record) {
            order.push(nth);
            record.points[nth].runs.push("run".to_owned());
        }
        let all: Vec<usize> = (0..9).collect();
        assert_eq!(order, [all.clone(), all].concat());
    }

    #[test]
    fn a_point_has_its_share_of_the_highest_rate_or_no_transactions() {
        let record = FrontierRecord { highest_tps: Some(1234.5), restored: true, ..FrontierRecord::default() };
        let of = |share, streams| {
            let point = FrontierPoint { share, streams, ..FrontierPoint::default() };
            order_of(&point, &record, &Order::default())
        };
        let half = of(0.5, 2);
        assert_eq!((half.drive.rate, half.workload.options["streams"].as_str()), (Some(RateOrder::PerS(617.0)), "2"));
        assert!(!half.no_load, "each run has a fresh copy of the data");
        let queries = of(0.0, 2);
        assert_eq!(queries.drive.rate, None);
        assert_eq!(queries.workload.params, [("transactions".to_owned(), "false".to_owned())]);
    }

    #[test]
    fn a_run_without_streams_asks_for_nothing_about_queries() {
        let mut order = Order::default();
        order.workload.options =
            [("queries", "1"), ("timeout", "5.000")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        order.analytics.settings = vec![("work_mem".to_owned(), "1GB".to_owned())];
        let [none, some] = [0, 2].map(|streams| with_streams(&order, streams));
        let names = |order: &Order| order.workload.options.keys().cloned().collect::<Vec<_>>();
        assert_eq!((names(&none), none.analytics), (vec!["streams".to_owned()], AnalyticsOrder::default()));
        assert_eq!(
            (names(&some), some.analytics),
            (["queries", "streams", "timeout"].map(str::to_owned).into(), order.analytics)
        );
    }

    #[test]
    fn rates_are_rounded_to_three_digits() {
        assert_eq!([1234.5, 0.98765, 47_777.0].map(rounded), [1230.0, 0.988, 47_800.0]);
    }

    #[test]
    fn the_result_has_the_hull_of_what_was_measured() {
        let mut points = points(1);
        for (nth, (tps, hour)) in [(0, (0.0, 100.0)), (1, (50.0, 0.0)), (2, (40.0, 50.0))] {
            points[nth].runs = vec!["a".to_owned(), "b".to_owned()];
            points[nth].tps = vec![tps * 0.9, tps * 1.1];
            points[nth].queries_per_hour = vec![hour; 2];
        }
        let result = result(&points).unwrap();
        assert_eq!((result.hull, result.tps_max, result.queries_per_hour_max), (vec![0, 2, 1], 50.0, 100.0));
        assert!((result.area - (40.0 * 75.0 + 10.0 * 25.0) / 5000.0).abs() < 1e-9, "{}", result.area);
        // Both runs of a point differ by the same factor, so that the shares of the box do not.
        let [low, high] = result.area_interval.unwrap();
        assert!(high - low < 1e-9 && (low - result.area).abs() < 1e-9, "{low} {high}");
        points[2].tps = vec![36.0, 47.0];
        let [low, high] = super::result(&points).unwrap().area_interval.unwrap();
        assert!(low < result.area && result.area < high, "{low} {high}");
        points[0].runs.pop();
        points[0].tps.pop();
        assert_eq!(super::result(&points).unwrap().area_interval, None, "not all were measured twice");
    }
}
