//! Charts of several runs on the same axes.
//!
//! A chart of lines is split into one chart per line, in which each run has a colour: four percentiles of two runs in
//! one chart would be unreadable. Areas cannot overlap: each run has its own chart, with the same height.

use super::ReportRun;
use super::chart::{Chart, ChartSeries};
use super::of_run;

/// Maximum number of runs with their own areas and heat maps; of more runs, only the first of each side.
const RUNS_MAX: usize = 4;

/// Maximum number of lines of a chart; the others are in the reports of the runs.
const LINES_MAX: usize = 4;

/// The percentile on the first screen.
const FIRST_PERCENTILE: &str = "p99";

/// A chart with the series of several runs.
#[derive(Debug, PartialEq)]
pub(super) struct Drawn {
    /// The chart, without series.
    pub(super) chart: Chart,
    /// Its series, and the run of each.
    pub(super) series: Vec<(usize, ChartSeries)>,
    /// The run, if the chart is of one among several.
    pub(super) run: Option<usize>,
}

/// Returns the runs that have their own charts.
pub(super) fn drawn_runs(runs: &[ReportRun]) -> Vec<usize> {
    if runs.len() <= RUNS_MAX {
        return (0..runs.len()).collect();
    }
    let first = |nth: &usize| runs[*nth].side.is_some() && runs[..*nth].iter().all(|run| run.side != runs[*nth].side);
    (0..runs.len()).filter(first).collect()
}

/// Returns the charts of all runs.
pub(super) fn charts(runs: &[ReportRun]) -> Vec<Drawn> {
    if let [run] = runs {
        let drawn = |mut chart: Chart| {
            let series = std::mem::take(&mut chart.series).into_iter().map(|series| (0, series)).collect();
            Drawn { chart, series, run: None }
        };
        return of_run::charts(run).into_iter().map(drawn).collect();
    }
    let mut titled: Vec<(Chart, Vec<(usize, ChartSeries)>)> = Vec::new();
    for (run, mut chart) in
        runs.iter().enumerate().flat_map(|(at, run)| of_run::charts(run).into_iter().map(move |c| (at, c)))
    {
        let series = std::mem::take(&mut chart.series).into_iter().map(|series| (run, series));
        match titled.iter_mut().find(|(known, _)| known.title == chart.title) {
            Some((_, all)) => all.extend(series),
            None => titled.push((chart, series.collect())),
        }
    }
    titled.sort_by_key(|(chart, _)| chart.part);
    let drawn = drawn_runs(runs);
    titled
        .into_iter()
        .flat_map(|(chart, series)| match chart.stacked {
            true => by_run(&chart, &series, runs, &drawn),
            false => by_line(&chart, series),
        })
        .collect()
}

/// Returns a chart for each run with its own charts, all as high as the highest.
fn by_run(chart: &Chart, series: &[(usize, ChartSeries)], runs: &[ReportRun], drawn: &[usize]) -> Vec<Drawn> {
    let of = |run: usize| -> Vec<(usize, ChartSeries)> { series.iter().filter(|(r, _)| *r == run).cloned().collect() };
    let parts: Vec<_> = drawn.iter().map(|run| (*run, of(*run))).filter(|(_, series)| !series.is_empty()).collect();
    let most = chart.most.into_iter().chain(parts.iter().map(|(_, series)| highest(series))).reduce(f64::max);
    let drawn = |(run, series): (usize, Vec<(usize, ChartSeries)>)| Drawn {
        chart: Chart { title: format!("{}: {}", chart.title, runs[run].name), most, ..chart.clone() },
        series,
        run: Some(run),
    };
    parts.into_iter().map(drawn).collect()
}

/// Returns the greatest sum.
fn highest(series: &[(usize, ChartSeries)]) -> f64 {
    let lines = series.iter().filter(|(_, s)| s.over).flat_map(|(_, s)| s.values.iter().copied().flatten());
    let areas: Vec<&ChartSeries> = series.iter().filter(|(_, s)| !s.over).map(|(_, s)| s).collect();
    let moments = areas.iter().map(|s| s.values.len()).max().unwrap_or(0);
    let sum = |nth: usize| areas.iter().filter_map(|s| s.values.get(nth).copied().flatten()).sum::<f64>();
    lines.chain((0..moments).map(sum)).fold(0.0, f64::max)
}

/// Returns one chart for each line, with that line of all runs.
fn by_line(chart: &Chart, series: Vec<(usize, ChartSeries)>) -> Vec<Drawn> {
    let mut lines: Vec<(String, Vec<(usize, ChartSeries)>)> = Vec::new();
    // A line that depends on another one is only in the report of its run.
    for (run, series) in series.into_iter().filter(|(_, series)| !series.over) {
        // Runs are distinguished only by their colours.
        let series = ChartSeries { ink: None, ..series };
        match lines.iter_mut().find(|(name, _)| *name == series.name) {
            Some((_, all)) => all.push((run, series)),
            None => lines.push((series.name.clone(), vec![(run, series)])),
        }
    }
    let alone = lines.len() == 1;
    let drawn = |(name, series): (String, Vec<(usize, ChartSeries)>)| {
        let title = if alone { chart.title.clone() } else { format!("{}: {name}", chart.title) };
        // Of several percentiles the first screen has one.
        let first = chart.first && (alone || name == FIRST_PERCENTILE);
        let chart = Chart { title, first, wide: chart.wide && alone, ..chart.clone() };
        Drawn { chart, series, run: None }
    };
    lines.into_iter().take(LINES_MAX).map(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ChartPart, PageSide};
    use super::*;
    use pgdyno_results::{RunRecord, Timeline};

    fn run(name: &str, side: Option<PageSide>, charts: Vec<Chart>) -> ReportRun {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let record: RunRecord = pgdyno_results::read_record(&path).unwrap();
        let name = name.to_owned();
        ReportRun { name, side, charts, ..ReportRun::new(record, Timeline::default()) }
    }

    fn series(name: &str, values: &[f64]) -> ChartSeries {
        let seconds = (0..values.len()).map(|at| at as f64).collect();
        ChartSeries {
            name: name.to_owned(),
            seconds,
            values: values.iter().copied().map(Some).collect(),
            ..ChartSeries::default()
        }
    }

    fn chart(title: &str, stacked: bool, series: Vec<ChartSeries>) -> Chart {
        Chart { title: title.to_owned(), stacked, part: ChartPart::Server, series, ..Chart::default() }
    }

    #[test]
    fn lines_share_axes_and_areas_share_their_height() {
        let one = |name: &str, high| {
            let lines = chart("times", false, vec![series("p50", &[1.0]), series("p99", &[9.0])]);
            let areas = chart("waits", true, vec![series("a", &[high, 1.0]), series("b", &[2.0, 3.0])]);
            run(name, None, vec![lines, areas])
        };
        let all = charts(&[one("old", 1.0), one("new", 5.0)]);
        let facts: Vec<_> = all.iter().map(|d| (d.chart.title.as_str(), d.series.len(), d.run, d.chart.most)).collect();
        assert_eq!(
            facts,
            [
                ("times: p50", 2, None, None),
                ("times: p99", 2, None, None),
                ("waits: old", 2, Some(0), Some(7.0)),
                ("waits: new", 2, Some(1), Some(7.0))
            ]
        );
    }

    #[test]
    fn of_many_runs_the_first_of_each_side_has_pictures() {
        let side = |side: Option<PageSide>, n: usize| (0..n).map(move |_| run("r", side, Vec::new()));
        let sides =
            |base, new| side(Some(PageSide::Base), base).chain(side(Some(PageSide::New), new)).collect::<Vec<_>>();
        assert_eq!(drawn_runs(&sides(2, 2)), [0, 1, 2, 3]);
        assert_eq!(drawn_runs(&sides(3, 5)), [0, 3]);
        assert_eq!(drawn_runs(&side(None, 5).collect::<Vec<_>>()), [] as [usize; 0]);
    }
}
