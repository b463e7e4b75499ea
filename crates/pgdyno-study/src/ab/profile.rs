//! The profiles of slices: added up by side, and written beside the record.

use std::path::Path;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_measure::pauses::share_at_work;
use pgdyno_report::flame;
use pgdyno_results::{AbProfile, AbRecord, Resumable as _, RunRecord, read_profile, write_inside};

/// The profile of a slice.
pub(super) struct SliceProfile {
    side: usize,
    frequency_hz: u32,
    stacks: Vec<(String, u64)>,
    /// What it committed while samples were taken.
    transactions: f64,
}

impl SliceProfile {
    /// Reads the profile of a slice in `directory`, if it has one.
    pub(super) fn read(side: usize, directory: &Path, record: &RunRecord) -> Result<Option<Self>> {
        let Some((profile, summary)) = record.profile.as_ref().zip(record.summary.as_ref()) else { return Ok(None) };
        Ok(Some(Self {
            side,
            frequency_hz: profile.frequency_hz,
            stacks: read_profile(directory).or_fail(Code::Start)?,
            transactions: summary.committed as f64 * share_at_work(summary.duration_s),
        }))
    }

    /// Adds it to that of the experiment.
    pub(super) fn add_to(self, profile: &mut AbProfile) {
        profile.frequency_hz = self.frequency_hz;
        profile.add(self.side, self.stacks, self.transactions);
    }
}

/// Writes the profiles of both sides, and their flame graph, beside the record, if there are any.
pub(super) fn keep(record: &AbRecord, results: &Path) -> Result<()> {
    if record.profile.is_empty() {
        return Ok(());
    }
    let directory = AbRecord::directory(results);
    let write = |end: &str, text: &str| {
        write_inside(&directory, &format!("{}.{end}", record.id), text.as_bytes()).or_fail(Code::Start)
    };
    write("folded", &record.profile.folded())?;
    write("svg", &flame::difference_svg(record))
}
