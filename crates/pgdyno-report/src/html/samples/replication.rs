//! The lag of standbys.

use pgdyno_results::Samples;
use pgdyno_samples::{SampleColumn, replication};

use super::super::chart::{Chart, ChartSeries};
use super::{drawn, greatest, series, times, with_values};

/// Maximum number of standbys with their own lines.
const STANDBYS_MAX: usize = 4;

/// Returns a series of `column`, multiplied by `factor`, for each standby.
fn by_standby(samples: &Samples, what: &str, column: SampleColumn, factor: f64) -> Vec<ChartSeries> {
    let standbys = samples.of(replication::SOURCE).by(replication::APPLICATION_NAME);
    let of = |(name, table): (&String, &pgdyno_results::SampleTable)| {
        let name = if name.is_empty() { "standby" } else { name };
        greatest(series(&format!("{name}{what}"), times(table.gauge(column), factor)))
    };
    standbys.iter().take(STANDBYS_MAX).map(of).collect()
}

/// Returns the time from the WAL's flush on the primary to its replay on the standby.
pub(super) fn lag(samples: &Samples) -> Option<Chart> {
    let of = |what, column| by_standby(samples, what, column, 1e3);
    let all = [of(": flushed", replication::FLUSH_LAG_S), of(": replayed", replication::REPLAY_LAG_S)].concat();
    drawn(Chart {
        title: "Replication lag".to_owned(),
        note: "Time from the flush of WAL on the primary until each standby flushed and replayed it.".to_owned(),
        unit: "ms".to_owned(),
        series: with_values(all),
        ..Chart::default()
    })
}

/// Returns the WAL that the standbys have not replayed yet.
pub(super) fn bytes(samples: &Samples) -> Option<Chart> {
    drawn(Chart {
        title: "Replication lag in bytes".to_owned(),
        note: "From the primary's WAL position to the one that each standby has replayed.".to_owned(),
        unit: "bytes".to_owned(),
        series: with_values(by_standby(samples, "", replication::LAG_BYTES, 1.0)),
        ..Chart::default()
    })
}
