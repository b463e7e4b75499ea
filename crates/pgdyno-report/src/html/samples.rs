//! Charts of the samples of server and machines: one file for each idea. Charts without values are left out.

mod buffers;
mod citus;
mod layers;
mod locks;
mod machine;
mod processes;
mod replication;
mod storage;
mod tables;
mod temporary;
mod waits;
mod wal;

use pgdyno_results::{Points, Samples};

use super::chart::{Chart, ChartSeries, Fold, Ink};

/// Returns the charts of all samples, in the order of the page.
pub(super) fn charts(samples: &Samples) -> Vec<Chart> {
    [
        waits::chart(samples),
        locks::waiting(samples),
        locks::longest(samples),
        wal::bytes(samples),
        wal::images(samples),
        buffers::hits(samples),
        buffers::writers(samples),
        storage::server(samples),
        storage::blocks(samples),
        storage::durations(samples),
        temporary::chart(samples),
        replication::lag(samples),
        replication::bytes(samples),
        citus::chart(samples),
        processes::chart(samples),
        machine::cpu(samples, pgdyno_samples::machine::SOURCE),
        machine::percent(samples),
        machine::memory(samples),
        machine::disks(samples),
        machine::busy(samples),
        machine::network(samples),
        machine::cpu(samples, pgdyno_samples::machine::OF_DRIVER),
        tables::dead(samples),
        tables::growth(samples),
    ]
    .into_iter()
    .flatten()
    .filter(has_shape)
    .collect()
}

/// Two moments are a straight edge, not an area over time.
fn has_shape(chart: &Chart) -> bool {
    const MOMENTS: usize = 3;
    let moments = |series: &ChartSeries| series.values.iter().flatten().count();
    !chart.stacked || chart.series.iter().map(moments).max().unwrap_or(0) >= MOMENTS
}

/// Returns values over time as a series.
fn series(name: &str, points: Points) -> ChartSeries {
    let Points { at_s, values } = layers::with_gaps(points);
    ChartSeries { name: name.to_owned(), seconds: at_s, values, ..ChartSeries::default() }
}

/// Returns those series that have a value other than 0.
fn with_values(series: impl IntoIterator<Item = ChartSeries>) -> Vec<ChartSeries> {
    let known = |series: &ChartSeries| series.values.iter().flatten().any(|value| *value != 0.0);
    series.into_iter().filter(known).collect()
}

/// Returns a chart if it has series.
fn drawn(chart: Chart) -> Option<Chart> {
    (!chart.series.is_empty()).then_some(chart)
}

/// Returns the series in a colour with a meaning.
fn inked(series: ChartSeries, ink: &'static str) -> ChartSeries {
    ChartSeries { ink: Some(Ink(ink, 0)), ..series }
}

/// Returns the series with the maximum for combined values.
fn greatest(series: ChartSeries) -> ChartSeries {
    ChartSeries { fold: Fold::Max, ..series }
}

/// Returns the values multiplied by `factor`.
fn times(points: Points, factor: f64) -> Points {
    let values = points.values.into_iter().map(|value| value.map(|value| value * factor)).collect();
    Points { values, ..points }
}

#[cfg(test)]
mod tests {
    use pgdyno_results::SampleTable;
    use pgdyno_samples::SampleColumn;

    use super::*;

    /// Returns a table of one source: columns, and rows of cells.
    pub(super) fn samples(source: &str, columns: &[&str], rows: &[(f64, &[&str])]) -> Samples {
        let row = |(at, cells): &(f64, &[&str])| (*at, cells.iter().map(|cell| (*cell).to_owned()).collect());
        let mut samples = Samples::default();
        samples.insert(source, SampleTable::new(columns, rows.iter().map(row).collect()));
        samples
    }

    /// Returns the names of the series, each with its values.
    pub(super) fn values(chart: &Chart) -> Vec<(&str, Vec<Option<f64>>)> {
        chart.series.iter().map(|s| (s.name.as_str(), s.values.clone())).collect()
    }

    /// Returns samples of every source, in which every number grows.
    fn everything() -> Samples {
        let mut samples = Samples::default();
        for source in pgdyno_samples::SOURCES {
            let row = |at: u32| {
                let cell =
                    |column: &SampleColumn| column.unit().map_or("word".to_owned(), |_| (10 * at + 1).to_string());
                (f64::from(at), source.columns.iter().map(cell).collect())
            };
            samples.insert(source.name, SampleTable::new(source.names, (0..3).map(row).collect()));
        }
        samples
    }

    #[test]
    fn every_chart_is_drawn_from_the_catalogue() {
        // The total CPU percentage is for machines without other samples.
        let all = charts(&everything());
        let titles: Vec<_> = all.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles.len(), 22, "{titles:#?}");
    }

    #[test]
    fn an_area_needs_three_moments_and_a_line_does_not() {
        let of = |stacked, moments: usize| {
            let series = vec![ChartSeries { values: vec![Some(1.0); moments], ..ChartSeries::default() }];
            has_shape(&Chart { stacked, series, ..Chart::default() })
        };
        assert_eq!([of(true, 2), of(true, 3), of(false, 1)], [false, true, true]);
    }

    #[test]
    fn of_nothing_there_is_no_chart() {
        assert_eq!(charts(&Samples::default()), []);
        let zero = samples("database", &["temp_bytes", "blks_hit"], &[(0.0, &["0", "0"]), (1.0, &["0", "0"])]);
        assert_eq!(charts(&zero), []);
    }
}
