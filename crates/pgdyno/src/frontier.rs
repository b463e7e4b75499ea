//! A frontier: transactions at several rates beside several streams of queries. Each point is a run in a process of its own,
//! with a record of its own, on the same data.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_live::Progress;
use pgdyno_measure::frontier::{Point, area, area_reach, bounds, hull};
use pgdyno_measure::mean::{mean, reach};
use pgdyno_measure::search::Seen;
use pgdyno_plan::{AnalyticsOrder, Order, SuitePlan};
use pgdyno_results::{FrontierPoint, FrontierRecord, FrontierResult, Objective, Resumable as _, RunRecord, Status};
use pgdyno_text::units;

use crate::child::{self, Stopped};
use crate::resumable::{conclude, write_page};
use crate::search::point::judge;

/// Offered rates as shares of the highest.
const SHARES: [f64; 5] = [1.0, 0.8, 0.5, 0.2, 0.0];

/// A frontier in progress.
pub(crate) struct FrontierRun<'a> {
    pub(crate) record: FrontierRecord,
    pub(crate) objectives: &'a [Objective],
    /// The order of every run, without rate and streams, and with its passwords.
    pub(crate) order: Order,
    pub(crate) results: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
}

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

impl FrontierRun<'_> {
    fn log(&self) -> PathBuf {
        self.record.path(self.results).with_extension("log")
    }

    fn save(&self) -> Result<()> {
        self.record.save(self.results).or_fail(Code::Start)
    }

    /// Measures all points, until they are done, the budget has ended, or somebody ends it. What was measured is in the
    /// record, whatever happens.
    pub(crate) fn go(&mut self) -> Result<Code> {
        self.record.ended = None;
        self.save()?;
        let measured = self.measure();
        conclude(&mut self.record, self.results, measured.map(|why| (why, Code::Success)))
    }

    fn measure(&mut self) -> std::result::Result<&'static str, Stopped> {
        if self.record.highest_tps.is_none() {
            self.highest()?;
        }
        let (began, spent_before_s) = (Instant::now(), self.record.spent_s);
        let mut longest_s: f64 = 0.0;
        for repeat in 1..=self.record.repeats as usize {
            for nth in 0..self.record.points.len() {
                if self.record.points[nth].runs.len() >= repeat {
                    continue;
                }
                let so_far_s = spent_before_s + began.elapsed().as_secs_f64();
                if self.record.budget_s.is_some_and(|budget_s| so_far_s + longest_s > budget_s) {
                    return Ok("budget");
                }
                let point_began = Instant::now();
                self.point(nth)?;
                longest_s = longest_s.max(point_began.elapsed().as_secs_f64());
                self.record.spent_s = spent_before_s + began.elapsed().as_secs_f64();
                self.record.result = result(&self.record.points);
                self.save()?;
                // Pages of its runs link to it. Without it the record has the same.
                let _ = write_page(&self.record, self.results, pgdyno_report::frontier::page);
            }
        }
        Ok("complete")
    }

    /// Loads the data where it is missing, and measures the highest rate: a closed loop without queries.
    fn highest(&mut self) -> std::result::Result<(), Stopped> {
        let (_, record) = self.run(with_streams(&self.order, 0), "highest rate", 1)?;
        let tps = record.summary.as_ref().map_or(0.0, |summary| summary.tps);
        if tps <= 0.0 {
            let error = "nothing was committed in a closed loop, so there is no highest rate";
            return Err(Failure::new(Code::Run, error)
                .hint(format!("its output is in {}", self.log().display()))
                .into());
        }
        (self.record.highest_tps, self.record.highest_run) = (Some(tps), Some(record.id));
        self.progress.note(&format!("highest rate, closed loop without queries: {} TPS", units::rate(tps)));
        Ok(self.save()?)
    }

    /// Measures a point once.
    fn point(&mut self, nth: usize) -> std::result::Result<(), Stopped> {
        let FrontierPoint { share, streams, .. } = self.record.points[nth];
        let mut order = with_streams(&self.order, streams);
        (order.no_load, order.replace) = (!self.record.restored, false);
        if share > 0.0 {
            order.drive.rate = self.record.highest_tps.map(|tps| rounded(tps * share));
        } else {
            order.workload.params.push(("transactions".to_owned(), "false".to_owned()));
        }
        let name = format!("rate={:.0}%,streams={streams}", share * 100.0);
        let repetition = self.record.points[nth].runs.len() as u32 + 1;
        let (directory, record) = self.run(order, &name, repetition)?;
        let point = &mut self.record.points[nth];
        if *point.plan_hash.get_or_insert_with(|| record.plan_hash.clone()) != record.plan_hash {
            let error =
                format!("the run of {name} is not what it was before: something that it depends on has changed");
            return Err(Failure::new(Code::Start, error).hint("start another frontier").into());
        }
        let metric = |name: &str| record.metrics.get(name).map_or(0.0, |metric| metric.value);
        let tps = record.summary.as_ref().map_or(0.0, |summary| if share > 0.0 { summary.tps } else { 0.0 });
        let hour = metric("analytics-per-hour").max(metric("analytics-per-hour-alone"));
        point.tps.push(tps);
        point.queries_per_hour.push(hour);
        point.tps_interval = interval(&point.tps);
        // One run has its sets of queries.
        let streams = record.analytics.as_ref().and_then(|analytics| analytics.stages.first());
        let of_run = streams.and_then(|streams| streams.queries_per_hour_interval);
        point.queries_per_hour_interval = interval(&point.queries_per_hour).or(of_run);
        let missed = if share > 0.0 { missed(&record, &directory, self.objectives) } else { None };
        point.add_run(record.id.clone(), missed.clone());
        let note = format!(
            "{name}: {} TPS, {} queries/h{}",
            units::rate(tps),
            units::rate(hour),
            match missed {
                Some(why) => format!("; missed: {why}"),
                None => String::new(),
            }
        );
        self.progress.note(&note);
        Ok(())
    }

    /// Carries out a run.
    fn run(&mut self, order: Order, name: &str, repetition: u32) -> std::result::Result<(PathBuf, RunRecord), Stopped> {
        let suite = format!("frontier-{}", self.record.workload);
        let place = SuitePlan { suite, id: self.record.id.clone(), run: name.to_owned(), repetition };
        let ended = child::run(&order, &place, self.results, &self.log(), None, self.interrupt)?;
        if self.interrupt.control.is_stopping() {
            return Err(Stopped::Interrupted);
        }
        let failed = |record: Option<&RunRecord>| {
            child::failure(&format!("the run of {name} has no figures"), record, ended.code, &self.log()).into()
        };
        match ended.record {
            Some((directory, record)) if record.summary.is_some() && record.status != Status::Failed => {
                Ok((directory, record))
            }
            Some((_, record)) => Err(failed(Some(&record))),
            None => Err(failed(None)),
        }
    }
}

/// Returns the order with so many streams of queries; without what concerns queries if there are none.
fn with_streams(order: &Order, streams: u32) -> Order {
    let mut order = order.clone();
    order.workload.streams = Some(streams.to_string());
    if streams == 0 {
        (order.workload.queries, order.workload.query_form, order.workload.timeout) = (None, None, None);
        order.analytics = AnalyticsOrder::default();
    }
    order
}

/// Returns a rate with three digits, which people can read and say again.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    ((rate / unit).round() * unit * 1000.0).round() / 1000.0
}

/// Returns why the transactions of a run missed their rate or an objective.
fn missed(record: &RunRecord, directory: &Path, objectives: &[Objective]) -> Option<String> {
    let measured = match judge(record, directory, objectives) {
        Ok(measured) => measured,
        Err(why) => return Some(why),
    };
    match measured.seen {
        Seen::Overloaded => measured.overload.or_else(|| Some("overloaded".to_owned())),
        Seen::Margin(margin) if margin < 0.0 => {
            let broken =
                objectives.iter().filter(|objective| objective.margin(record).is_some_and(|margin| margin < 0.0));
            Some(format!("not {}", broken.map(ToString::to_string).collect::<Vec<_>>().join(", not ")))
        }
        Seen::Margin(_) => None,
    }
}

/// Returns both ends of the 95 % interval of a mean of throughputs, which are not below 0; `None` with fewer than two.
fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let (mean, reach) = (mean(values)?, reach(values)?);
    Some([(mean - reach).max(0.0), mean + reach])
}

/// Returns what the points show so far.
fn result(points: &[FrontierPoint]) -> Option<FrontierResult> {
    let measured: Vec<(usize, Point)> =
        points.iter().enumerate().filter_map(|(nth, point)| Some((nth, point.mean()?))).collect();
    let means: Vec<Point> = measured.iter().map(|(_, point)| *point).collect();
    let box_of_both = bounds(&means);
    let repeated =
        |point: &FrontierPoint| point.tps.iter().copied().zip(point.queries_per_hour.iter().copied()).collect();
    let repeats: Vec<Vec<Point>> = measured.iter().map(|(nth, _)| repeated(&points[*nth])).collect();
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
    fn a_run_without_streams_asks_for_nothing_about_queries() {
        let mut order = Order::default();
        (order.workload.queries, order.workload.timeout) = (Some("1".to_owned()), Some(5.0));
        order.analytics.settings = vec![("work_mem".to_owned(), "1GB".to_owned())];
        let [none, some] = [0, 2].map(|streams| with_streams(&order, streams));
        assert_eq!(
            (none.workload.queries, none.workload.timeout, none.analytics),
            (None, None, AnalyticsOrder::default())
        );
        assert_eq!(some.workload.streams.as_deref(), Some("2"));
        assert_eq!((some.workload.queries, some.analytics), (order.workload.queries, order.analytics));
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
