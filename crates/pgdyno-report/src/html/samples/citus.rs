//! The counters of Citus.

use pgdyno_results::Samples;
use pgdyno_samples::citus;

use super::super::chart::Chart;
use super::layers::Layers;
use super::{drawn, with_values};

/// Maximum number of counters with their own lines.
const COUNTERS_MAX: usize = 6;

/// Returns the counters of `citus_stat_counters` that changed most.
pub(super) fn chart(samples: &Samples) -> Option<Chart> {
    let table = samples.of(citus::SOURCE);
    let mut layers = Layers::at(table.rows().iter().map(|(at_s, _)| *at_s));
    for counter in citus::SOURCE.columns {
        layers.add_all(&counter.name.replace('_', " "), &table.rate(&[], *counter));
    }
    let mut series = layers.series(COUNTERS_MAX, "");
    // A sum of different counters would mean nothing.
    series.retain(|series| !series.name.is_empty());
    drawn(Chart {
        title: "Citus".to_owned(),
        note: "The largest counters of citus_stat_counters.".to_owned(),
        unit: "a second".to_owned(),
        series: with_values(series),
        ..Chart::default()
    })
}
