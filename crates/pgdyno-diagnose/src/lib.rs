//! What happened in a run, and what held the server back: from its record, its intervals and its samples.
//!
//! Nothing here looks at a server or a clock: the same run gives the same answer.

use pgdyno_results::{EventRecord, FindingRecord, RunRecord, Samples, Timeline};

/// What the samples of a run tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// What happened, by its begin.
    pub events: Vec<EventRecord>,
    /// What held the server back, the weightiest first.
    pub findings: Vec<FindingRecord>,
    /// What a reader must know before trusting the figures.
    pub warnings: Vec<String>,
}

/// Looks at a run that has ended.
#[must_use]
pub fn diagnose(record: &RunRecord, timeline: &Timeline, samples: &Samples) -> Diagnosis {
    let _ = (record, timeline, samples);
    Diagnosis::default()
}
