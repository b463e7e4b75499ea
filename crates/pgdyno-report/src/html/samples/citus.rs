//! What Citus counts.

use pgdyno_results::Samples;
use pgdyno_samples::citus;

use super::super::chart::Chart;
use super::layers::Layers;
use super::{drawn, seen};

/// Counters that have lines of their own, at most.
const COUNTERS_MAX: usize = 6;

/// The counters of `citus_stat_counters` that moved most.
pub(super) fn chart(samples: &Samples) -> Option<Chart> {
    let table = samples.of(citus::SOURCE);
    let mut layers = Layers::at(table.rows().iter().map(|(at_s, _)| *at_s));
    for counter in citus::SOURCE.columns {
        layers.add_all(&counter.name.replace('_', " "), &table.rate(&[], *counter));
    }
    let mut series = layers.series(COUNTERS_MAX, "");
    // A sum of counters of different things means nothing.
    series.retain(|series| !series.name.is_empty());
    drawn(Chart {
        title: "Citus".to_owned(),
        note: "What citus_stat_counters counted most of.".to_owned(),
        unit: "a second".to_owned(),
        series: seen(series),
        ..Chart::default()
    })
}
