//! Reduces the points of long runs to what can be seen, and to a reasonable size of the page.

use super::chart::{Chart, ChartSeries, Fold};

/// Maximum number of intervals that a series shows one by one: more than an hour.
pub(super) const INTERVALS_MAX: usize = 4000;

/// Maximum number of samples that a series shows one by one.
pub(super) const SAMPLES_MAX: usize = 1500;

/// Returns the chart with at most `most` points in each series. Its note says if points are combined.
pub(super) fn chart(mut chart: Chart, most: usize) -> Chart {
    let longest = chart.series.iter().map(|series| series.values.len()).max().unwrap_or(0);
    // Combines the same number of points in all series, because stacked series share their times.
    let group = longest.div_ceil(most).max(1);
    if group > 1 {
        let maxima = if chart.series.iter().any(|s| s.fold == Fold::Max) { "; of maxima, the largest" } else { "" };
        chart.note = format!("{} Each point is the mean of {group} that follow each other{maxima}.", chart.note);
        chart.series = chart.series.into_iter().map(|series| fold(series, group)).collect();
    }
    chart
}

/// Returns a point for each `group` points: at the mean of their times, from the known values.
fn fold(series: ChartSeries, group: usize) -> ChartSeries {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let value = |values: &[Option<f64>]| {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        match series.fold {
            _ if known.is_empty() => None,
            Fold::Mean => Some(mean(&known)),
            Fold::Max => known.into_iter().reduce(f64::max),
        }
    };
    let seconds = series.seconds.chunks(group).map(mean).collect();
    let values = series.values.chunks(group).map(value).collect();
    ChartSeries { seconds, values, ..series }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(fold: Fold, values: &[Option<f64>]) -> Chart {
        let seconds = (0..values.len()).map(|at| at as f64).collect();
        let series = ChartSeries { seconds, values: values.to_vec(), fold, ..ChartSeries::default() };
        Chart { note: "What it is.".to_owned(), series: vec![series], ..Chart::default() }
    }

    #[test]
    fn points_stand_for_several_where_there_are_too_many() {
        let values = [Some(1.0), Some(3.0), None, Some(8.0), None, None, Some(5.0)];
        let means = chart(long(Fold::Mean, &values), 4);
        assert_eq!(means.series[0].values, [Some(2.0), Some(8.0), None, Some(5.0)]);
        assert_eq!(means.series[0].seconds, [0.5, 2.5, 4.5, 6.0]);
        assert_eq!(means.note, "What it is. Each point is the mean of 2 that follow each other.");
        let maxima = chart(long(Fold::Max, &values), 4);
        assert_eq!(maxima.series[0].values, [Some(3.0), Some(8.0), None, Some(5.0)]);
        assert!(maxima.note.ends_with("; of maxima, the largest."));
        assert_eq!(chart(long(Fold::Max, &values), 7), long(Fold::Max, &values));
    }
}
