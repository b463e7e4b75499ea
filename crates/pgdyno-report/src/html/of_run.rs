//! The charts of one run.

use super::chart::Chart;
use super::{ReportRun, drive, groups, samples, thin};

/// Returns the charts of its intervals, of its samples, and its own; by part of the page.
pub(super) fn charts(run: &ReportRun) -> Vec<Chart> {
    let mut charts: Vec<Chart> = drive::charts(run)
        .into_iter()
        .chain(groups::charts(run))
        .map(|c| thin::chart(c, thin::INTERVALS_MAX))
        .collect();
    charts.extend(samples::charts(&run.samples).into_iter().map(|chart| thin::chart(chart, thin::SAMPLES_MAX)));
    charts.extend(run.charts.iter().cloned());
    // Charts without values are left out.
    for chart in &mut charts {
        chart.series.retain(|series| series.values.iter().any(Option::is_some));
    }
    charts.retain(|chart| !chart.series.is_empty());
    // The order within a part stays the same.
    charts.sort_by_key(|chart| chart.part);
    charts
}
