//! Charts of the clients, by interval.

use pgdyno_results::{IntervalRecord, LevelChangeRecord};

use super::ReportRun;
use super::chart::{Chart, ChartPart, ChartSeries, Fold, Mark};

/// An interval needs this share of its length for a rate.
const WHOLE: f64 = 0.3;

/// Returns the charts of a run's intervals.
pub(super) fn charts(run: &ReportRun) -> Vec<Chart> {
    let intervals = &run.timeline.intervals;
    if intervals.is_empty() {
        return Vec::new();
    }
    let changes = run.record.summary.as_ref().map_or(&[][..], |summary| &summary.level_changes);
    let mut charts = vec![throughput(intervals, changes), latency(intervals)];
    charts.extend(failures(intervals));
    charts.extend([in_flight(intervals), driver(intervals, run.record.client.cpus)]);
    charts
}

/// Returns the spans before and after the measured window, as marks.
pub(super) fn phases(intervals: &[IntervalRecord]) -> Vec<Mark> {
    let mut spans: Vec<Mark> = Vec::new();
    let mut last = None;
    for interval in intervals.iter().filter(|i| !i.is_measured()) {
        match spans.last_mut() {
            Some(span) if last == Some(&interval.phase) => span.until_s = Some(interval.end_s),
            _ => {
                let name = phase_name(&interval.phase);
                spans.push(Mark {
                    kind: name.to_owned(),
                    text: name.to_owned(),
                    from_s: interval.start_s,
                    until_s: Some(interval.end_s),
                });
            }
        }
        last = Some(&interval.phase);
    }
    spans
}

/// Returns the name of a phase for readers.
fn phase_name(phase: &str) -> &str {
    if phase == "ramp" { "warm-up" } else { phase }
}

/// Returns a rate per second in each interval. Intervals that were cut short have none.
pub(super) fn rate(name: &str, intervals: &[IntervalRecord], amount: impl Fn(&IntervalRecord) -> f64) -> ChartSeries {
    let longest = intervals.iter().map(IntervalRecord::seconds).fold(0.0, f64::max);
    series(name, intervals, |i, seconds| (seconds >= longest * WHOLE).then(|| amount(i) / seconds))
}

/// Returns a series with a value for each interval, at its middle.
pub(super) fn series(
    name: &str,
    intervals: &[IntervalRecord],
    value: impl Fn(&IntervalRecord, f64) -> Option<f64>,
) -> ChartSeries {
    ChartSeries {
        name: name.to_owned(),
        seconds: intervals.iter().map(|i| (i.start_s + i.end_s) / 2.0).collect(),
        values: intervals.iter().map(|i| value(i, i.seconds().max(1e-9))).collect(),
        ..ChartSeries::default()
    }
}

fn throughput(intervals: &[IntervalRecord], changes: &[LevelChangeRecord]) -> Chart {
    let tps = rate("TPS", intervals, |i| i.committed as f64);
    let offered = intervals.iter().any(|i| i.offered_per_s.is_some());
    let offered = offered.then(|| ChartSeries { over: true, ..series("offered", intervals, |i, _| i.offered_per_s) });
    // Levels of throughput are those that it would have at one rate.
    let levels = if offered.is_some() { None } else { levels(intervals, changes) };
    let note = "Committed transactions a second, by interval";
    Chart {
        title: "Throughput".to_owned(),
        note: if offered.is_some() { format!("{note}, and the offered rate.") } else { format!("{note}.") },
        unit: "transactions/s".to_owned(),
        first: true,
        part: ChartPart::Drive,
        series: std::iter::once(tps).chain(offered).chain(levels).collect(),
        ..Chart::default()
    }
}

/// Returns the levels between which throughput changed, as steps over the measured window.
fn levels(intervals: &[IntervalRecord], changes: &[LevelChangeRecord]) -> Option<ChartSeries> {
    let measured = || intervals.iter().filter(|i| i.is_measured());
    let (first, last) = (measured().next()?, measured().next_back()?);
    let begins = std::iter::once(first.start_s).chain(changes.iter().map(|change| change.at_s));
    let ends = changes.iter().map(|change| change.at_s).chain([last.end_s]);
    let tps = changes.first().map(|change| change.tps_before).into_iter().chain(changes.iter().map(|c| c.tps_after));
    let mut steps = ChartSeries { name: "level".to_owned(), over: true, ..ChartSeries::default() };
    for ((begin, end), tps) in begins.zip(ends).zip(tps) {
        // A gap between levels has no value.
        steps.seconds.extend([begin, end, end]);
        steps.values.extend([Some(tps), Some(tps), None]);
    }
    (!steps.seconds.is_empty()).then_some(steps)
}

/// Returns the p50, the p95, the p99 or the maximum (0 to 3) of an interval in milliseconds. `None` for a percentile of so few
/// transactions that it would be the maximum, and after the window.
fn percentile_ms(interval: &IntervalRecord, at: usize) -> Option<f64> {
    let least = [1, 20, 100, 1][at];
    let is_known = !interval.is_drain() && interval.committed >= least;
    interval.response_latency_ns.filter(|_| is_known).map(|latency| latency.percentiles()[at] as f64 / 1e6)
}

fn latency(intervals: &[IntervalRecord]) -> Chart {
    let of = |name, at: usize| series(name, intervals, move |i, _| percentile_ms(i, at));
    let max = ChartSeries { fold: Fold::Max, ..of("max", 3) };
    let is_known = |series: &ChartSeries| series.values.iter().any(Option::is_some);
    Chart {
        title: "Response time".to_owned(),
        note: "Percentiles of each interval, from the intended start to the end of the reply; p95 and p99 only for \
               intervals with at least 20 and 100 transactions."
            .to_owned(),
        unit: "ms".to_owned(),
        logarithmic: true,
        first: true,
        part: ChartPart::Drive,
        series: [of("p50", 0), of("p95", 1), of("p99", 2)].into_iter().filter(is_known).chain([max]).collect(),
        ..Chart::default()
    }
}

/// Returns the failures, if there were any.
fn failures(intervals: &[IntervalRecord]) -> Option<Chart> {
    type Count = fn(&IntervalRecord) -> u64;
    let kinds: [(&str, Count); 4] =
        [("failed", |i| i.failed), ("retries", |i| i.retries), ("skipped", |i| i.skipped), ("late", |i| i.late)];
    let seen = kinds.into_iter().filter(|(_, count)| intervals.iter().any(|i| count(i) > 0));
    let of = |(name, count): (&str, Count)| rate(name, intervals, |i| count(i) as f64);
    let series: Vec<_> = seen.map(of).collect();
    (!series.is_empty()).then(|| Chart {
        title: "Failures and retries".to_owned(),
        note: "Failed transactions, tries after the first, skipped arrivals, and transactions above the latency \
               limit."
            .to_owned(),
        unit: "a second".to_owned(),
        part: ChartPart::Drive,
        series,
        ..Chart::default()
    })
}

fn in_flight(intervals: &[IntervalRecord]) -> Chart {
    Chart {
        title: "Transactions in flight".to_owned(),
        note: "Transactions that had begun and not yet ended at the end of each interval.".to_owned(),
        unit: "transactions".to_owned(),
        part: ChartPart::Drive,
        series: vec![series("in flight", intervals, |i, _| Some(i.in_flight as f64))],
        ..Chart::default()
    }
}

fn driver(intervals: &[IntervalRecord], cpus: usize) -> Chart {
    Chart {
        title: "CPU of the driver".to_owned(),
        note: "CPU time of pgdyno's engine threads. A thread that needs a whole CPU is the bottleneck.".to_owned(),
        unit: "CPUs".to_owned(),
        most: Some(cpus as f64),
        part: ChartPart::Machines,
        series: vec![rate("CPUs used", intervals, |i| i.client_cpu_s)],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_results::IntervalLatency;

    use super::*;

    fn interval(phase: &str, start_s: f64) -> IntervalRecord {
        IntervalRecord { phase: phase.to_owned(), start_s, end_s: start_s + 2.0, committed: 10, ..Default::default() }
    }

    #[test]
    fn spans_outside_the_window_are_marked_each_as_one() {
        let phases =
            phases(&[interval("ramp", 0.0), interval("ramp", 2.0), interval("measure", 4.0), interval("drain", 6.0)]);
        let facts: Vec<_> = phases.iter().map(|m| (m.text.as_str(), m.from_s, m.until_s)).collect();
        assert_eq!(facts, [("warm-up", 0.0, Some(4.0)), ("drain", 6.0, Some(8.0))]);
    }

    #[test]
    fn values_stand_at_the_middle_of_their_interval() {
        let chart = throughput(&[interval("measure", 4.0)], &[]);
        assert_eq!((chart.series[0].seconds[0], chart.series[0].values[0]), (5.0, Some(5.0)));
        let short = IntervalRecord { end_s: 6.1, ..interval("drain", 6.0) };
        let chart_of_both = throughput(&[interval("measure", 4.0), short], &[]);
        assert_eq!(chart_of_both.series[0].values, [Some(5.0), None], "ten in a tenth of a second are no rate");
        assert_eq!(chart.series.len(), 1, "a level that does not change is not drawn");
    }

    #[test]
    fn levels_reach_from_change_to_change_within_the_window() {
        let intervals = [interval("ramp", 0.0), interval("measure", 2.0), interval("measure", 4.0)];
        let change = |at_s, tps_before, tps_after| LevelChangeRecord { at_s, tps_before, tps_after };
        let steps = levels(&intervals, &[change(3.0, 10.0, 20.0), change(5.0, 20.0, 5.0)]).unwrap();
        assert_eq!(steps.seconds, [2.0, 3.0, 3.0, 3.0, 5.0, 5.0, 5.0, 6.0, 6.0]);
        let level = |tps| [Some(tps), Some(tps), None];
        assert_eq!(steps.values, [level(10.0), level(20.0), level(5.0)].concat());
    }

    #[test]
    fn percentiles_stand_where_enough_transactions_were_measured() {
        let with = |phase, committed| {
            let latency =
                IntervalLatency { p50: 1_000_000, p95: 2_000_000, p99: 3_000_000, max: 4_000_000, mean: None };
            let response_latency_ns = Some(latency);
            let interval = IntervalRecord { committed, response_latency_ns, ..interval(phase, 0.0) };
            [0, 1, 2, 3].map(|at| percentile_ms(&interval, at))
        };
        assert_eq!(with("measure", 100), [Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
        assert_eq!(with("measure", 99), [Some(1.0), Some(2.0), None, Some(4.0)]);
        assert_eq!(with("measure", 19), [Some(1.0), None, None, Some(4.0)]);
        assert_eq!(with("drain", 100), [None; 4]);
    }

    #[test]
    fn failures_are_shown_only_where_there_were_some() {
        let fine = interval("measure", 0.0);
        assert_eq!(failures(std::slice::from_ref(&fine)), None);
        let bad = IntervalRecord { retries: 4, ..fine.clone() };
        let chart = failures(&[fine, bad]).map(|chart| chart.series);
        let facts: Vec<_> = chart.iter().flatten().map(|s| (s.name.as_str(), s.values.clone())).collect();
        assert_eq!(facts, [("retries", vec![Some(0.0), Some(2.0)])]);
    }
}
