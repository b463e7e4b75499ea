//! Whether the figures of a run can be used: in three words, with the reasons.

use pgdyno_measure::WindowVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, Status, Warning};

/// Characters of a reason that fits into a line of a summary.
const LINE: usize = 70;

/// How far the figures of a run can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nothing is known against them.
    Good,
    /// They stand, and a reader must know what they are figures of.
    WithCare,
    /// The run did not end as planned, or its figures do not hold.
    NotUsable,
}

impl Trust {
    /// The words in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::WithCare => "usable with care",
            Self::NotUsable => "not usable",
        }
    }
}

/// How far the figures of a run can be trusted, and why no further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustRecord {
    /// How far.
    pub verdict: Trust,
    /// Why no further, in a few words each; `warnings` says what each means and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl TrustRecord {
    /// Judges a run that has ended.
    #[must_use]
    pub fn of(record: &RunRecord) -> Self {
        let committed = record.summary.as_ref().map_or(0, |summary| summary.committed + summary.rolled_back);
        if record.status != Status::Complete || committed == 0 {
            let ended = if record.status == Status::Complete { "nothing was committed" } else { record.status.name() };
            let why = record.reason.as_ref().map_or_else(|| ended.to_owned(), |why| format!("{ended}: {why}"));
            return Self { verdict: Trust::NotUsable, reasons: vec![why] };
        }
        let mut reasons: Vec<String> =
            record.warnings.iter().map(|warning| head(&warning.to_string()).to_owned()).collect();
        let steady = record.summary.as_ref().and_then(|summary| summary.steadiness);
        if let Some(steady) = steady.filter(|steady| steady.verdict() == WindowVerdict::Unknown) {
            let trend = steady.trend * 100.0;
            let is_first = record.warnings.first().is_some_and(hides_more);
            reasons.insert(
                usize::from(is_first),
                format!("not shown steady, {trend:+.1} % from first to last third (longer -T)"),
            );
        }
        let verdict = if reasons.is_empty() { Trust::Good } else { Trust::WithCare };
        Self { verdict, reasons }
    }
}

/// Returns true if a warning says more than that a run is not shown to be steady: that nothing ended, or that the driver had no CPU.
fn hides_more(warning: &Warning) -> bool {
    matches!(warning, Warning::NothingEnded { .. } | Warning::DriverShortOfCpu { is_most: true, .. })
}

/// Returns a warning that fits into a line; of a longer one the words before the colon that explains them.
fn head(warning: &str) -> &str {
    if warning.chars().count() <= LINE { warning } else { warning.split(": ").next().unwrap_or(warning) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SteadyRecord, Summary};

    fn record() -> RunRecord {
        let mut record: RunRecord = serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap();
        record.status = Status::Complete;
        record.warnings.clear();
        record.summary = Some(Summary { committed: 1000, ..Summary::default() });
        record
    }

    #[test]
    fn a_run_is_good_until_something_is_known_against_it() {
        let mut record = record();
        assert_eq!(TrustRecord::of(&record), TrustRecord { verdict: Trust::Good, reasons: Vec::new() });
        record.warnings = vec![Warning::ShortWindow { window_s: 3.0 }].into();
        let trust = TrustRecord::of(&record);
        assert_eq!(
            (trust.verdict, trust.reasons),
            (Trust::WithCare, vec!["3.0 s is short (-T 1min or more)".to_owned()])
        );
        // What fits into a line is there as a whole.
        record.warnings = vec![Warning::note("fsync is off: do not compare")].into();
        assert_eq!(TrustRecord::of(&record).reasons, ["fsync is off: do not compare"]);
    }

    #[test]
    fn what_is_not_shown_to_be_steady_is_the_first_reason() {
        let mut record = record();
        record.warnings = vec![Warning::note("something")].into();
        let steadiness = SteadyRecord { variation: 0.1, trend: -0.08, chance: Some(0.09), drifts: false };
        record.summary = Some(Summary { committed: 1, steadiness: Some(steadiness), ..Summary::default() });
        let reasons = TrustRecord::of(&record).reasons;
        assert_eq!(reasons[0], "not shown steady, -8.0 % from first to last third (longer -T)");
        assert_eq!(reasons[1], "something");
        let stalled = Warning::NothingEnded { stalled_s: 2.0, share: 0.2, from_s: 1.0, in_flight_max: 4 };
        record.warnings.insert(0, stalled);
        let reasons = TrustRecord::of(&record).reasons;
        assert!(reasons[0].starts_with("no transaction ended for 2.0 s") && reasons[1].starts_with("not shown steady"));
    }

    #[test]
    fn a_run_that_broke_off_or_did_nothing_is_not_usable() {
        let mut idle = record();
        idle.summary = Some(Summary::default());
        assert_eq!(TrustRecord::of(&idle).reasons, ["nothing was committed"]);
        let mut failed = record();
        (failed.status, failed.reason) = (Status::Failed, Some("the server went away".to_owned()));
        let trust = TrustRecord::of(&failed);
        assert_eq!((trust.verdict, &*trust.reasons[0]), (Trust::NotUsable, "failed: the server went away"));
        failed.summary = None;
        assert_eq!(TrustRecord::of(&failed).verdict, Trust::NotUsable);
    }
}
