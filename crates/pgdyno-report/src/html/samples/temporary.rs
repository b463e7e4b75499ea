//! Temporary files of sorts and hashes.

use pgdyno_results::Samples;
use pgdyno_samples::database;

use super::super::chart::Chart;
use super::{drawn, series, with_values};

/// Returns bytes per second of temporary files.
pub(super) fn chart(samples: &Samples) -> Option<Chart> {
    drawn(Chart {
        title: "Temporary files".to_owned(),
        note: "Written by sorts and hashes that did not fit in work_mem; counted when a file is closed.".to_owned(),
        unit: "bytes/s".to_owned(),
        series: with_values([series("temporary files", samples.of(database::SOURCE).rate(&[], database::TEMP_BYTES))]),
        ..Chart::default()
    })
}
