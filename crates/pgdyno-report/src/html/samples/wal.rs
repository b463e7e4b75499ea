//! WAL bytes, and full-page images.

use pgdyno_results::{Points, SampleTable, Samples};
use pgdyno_samples::wal;

use super::super::chart::Chart;
use super::{drawn, inked, series, with_values};

/// Returns the WAL bytes from the counter of `pg_stat_wal`; from the WAL position without that view.
fn written(table: &SampleTable) -> Points {
    let counted = table.rate(&[], wal::WAL_BYTES);
    if counted.values.iter().any(Option::is_some) { counted } else { table.rate(&[], wal::LSN_BYTES) }
}

/// Returns bytes of WAL per second.
pub(super) fn bytes(samples: &Samples) -> Option<Chart> {
    drawn(Chart {
        title: "WAL".to_owned(),
        note: "Write-ahead log that the server generated.".to_owned(),
        unit: "bytes/s".to_owned(),
        series: with_values([inked(series("WAL", written(samples.of(wal::SOURCE))), "twal")]),
        ..Chart::default()
    })
}

/// Returns full-page images per second: after a checkpoint the first change of each page writes all of it.
pub(super) fn images(samples: &Samples) -> Option<Chart> {
    let images = series("full-page images", samples.of(wal::SOURCE).rate(&[], wal::WAL_FPI));
    drawn(Chart {
        title: "Full-page images".to_owned(),
        note: "Whole pages in the WAL, for the first change of each page after a checkpoint began.".to_owned(),
        unit: "pages/s".to_owned(),
        series: with_values([inked(images, "twal")]),
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn a_server_without_the_counter_shows_by_its_position() {
        let rows: [(f64, &[&str]); 3] = [(1.0, &["", "100"]), (2.0, &["", "150"]), (4.0, &["", "150"])];
        let chart = bytes(&samples("wal", &["wal_bytes", "lsn_bytes"], &rows)).unwrap();
        assert_eq!(values(&chart), [("WAL", vec![Some(50.0), Some(0.0)])]);
        let rows: [(f64, &[&str]); 2] = [(1.0, &["10", "100"]), (2.0, &["17", "150"])];
        let chart = bytes(&samples("wal", &["wal_bytes", "lsn_bytes"], &rows)).unwrap();
        assert_eq!(values(&chart), [("WAL", vec![Some(7.0)])]);
    }
}
