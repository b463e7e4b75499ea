//! How far the figures of a run can be trusted: a degree, with the reasons.

use pgdyno_measure::WindowVerdict;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, Status, Warning};

/// Characters of a reason that fits into a line of a summary.
const LINE: usize = 70;

/// How far the figures of a run can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nothing known makes the figures differ from another run by more than 5 %.
    Good,
    /// Something makes them differ by up to 20 %, or a drift is not excluded.
    Fair,
    /// Something makes them differ by more.
    Poor,
    /// Records of 0.2.0: the run has warnings.
    WithCare,
    /// The run did not end as planned, or its figures do not hold.
    NotUsable,
}

impl Trust {
    /// All degrees, the best first.
    pub const ALL: [Self; 5] = [Self::Good, Self::Fair, Self::Poor, Self::WithCare, Self::NotUsable];

    /// The words in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::WithCare => "usable with care",
            Self::NotUsable => "not usable",
        }
    }

    /// Returns the degree of figures that may be off by a share.
    fn of_error(share: f64) -> Self {
        match share {
            share if share <= GOOD_MAX => Self::Good,
            share if share <= FAIR_MAX => Self::Fair,
            _ => Self::Poor,
        }
    }
}

/// The most that good figures may be off by.
const GOOD_MAX: f64 = 0.05;

/// The most that fair figures may be off by.
const FAIR_MAX: f64 = 0.2;

/// How far the figures of a run can be trusted, and why no further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrustRecord {
    /// How far, in the words of 0.2.0, which knew neither `fair` nor `poor`.
    pub verdict: Trust,
    /// How far; absent in records of 0.2.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<Trust>,
    /// The 95 % interval of the throughput within the run, as a share of it to either side; other runs may differ by more. Absent where
    /// the window has fewer than nine intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_error_share: Option<f64>,
    /// Why no further, in a few words each, what may matter most first; `warnings` says what each means and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl TrustRecord {
    fn new(degree: Trust, throughput_error_share: Option<f64>, reasons: Vec<String>) -> Self {
        let verdict = match degree {
            Trust::Fair | Trust::Poor => Trust::WithCare,
            other => other,
        };
        Self { verdict, degree: Some(degree), throughput_error_share, reasons }
    }

    /// Returns the degree; of a record of 0.2.0 its verdict.
    #[must_use]
    pub fn degree(&self) -> Trust {
        self.degree.unwrap_or(self.verdict)
    }

    /// Returns the stored judgement. Records of 0.1.0 have none, and warnings without figures: what those mean is unknown.
    #[must_use]
    pub fn of_stored(record: &RunRecord) -> Self {
        record.trust.clone().unwrap_or_else(|| {
            let judged = Self::of(record);
            if judged.verdict == Trust::WithCare { Self { degree: None, ..judged } } else { judged }
        })
    }

    /// Judges a run that has ended.
    #[must_use]
    pub fn of(record: &RunRecord) -> Self {
        let summary = record.summary.as_ref();
        let committed = summary.map_or(0, |summary| summary.committed + summary.rolled_back);
        if record.status != Status::Complete || committed == 0 {
            let ended = if record.status == Status::Complete { "nothing was committed" } else { record.status.name() };
            let why = record.reason.as_ref().map_or_else(|| ended.to_owned(), |why| format!("{ended}: {why}"));
            return Self::new(Trust::NotUsable, None, vec![why]);
        }
        let steady = summary.and_then(|summary| summary.steadiness);
        let throughput_error_share = steady.and_then(|steady| steady.chance).map(|chance| chance / 6.0_f64.sqrt());
        let of_warning = |warning: &Warning| (error_of(warning, record), head(&warning.to_string()).to_owned());
        let mut reasons: Vec<_> = record.warnings.iter().map(of_warning).collect();
        if let Some(steady) = steady.filter(|steady| steady.verdict() == WindowVerdict::Unknown) {
            let trend = steady.trend * 100.0;
            let text =
                format!("too noisy to confirm steady state, {trend:+.1} % from first to last third: try a longer -T");
            reasons.insert(0, (steady.trend.abs().max(UNSETTLED), text));
        }
        if let Some(earlier) = record.earlier_runs.filter(|earlier| earlier.error_share > GOOD_MAX) {
            let (runs, percent) = (earlier.runs + 1, earlier.error_share * 100.0);
            let text = format!("runs of this plan differ by ± {percent:.0} % ({runs} runs; pgdyno ab compares better)");
            reasons.push((earlier.error_share, text));
        }
        // What may matter most comes first; a stable sort keeps the order of what matters equally.
        reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
        let of_reasons = reasons.first().map_or(0.0, |(error, _)| *error);
        let error = of_reasons.max(throughput_error_share.unwrap_or_default());
        let reasons = reasons.into_iter().map(|(_, reason)| reason).collect();
        Self::new(Trust::of_error(error), throughput_error_share, reasons)
    }
}

/// What figures may be off by that are right for this run, and may be others in a longer one.
const UNSETTLED: f64 = 0.1;

/// Returns by which share the figures may be off for a warning's reason, from its own figures. docs/measurement.md has the table.
fn error_of(warning: &Warning, record: &RunRecord) -> f64 {
    match warning {
        Warning::NothingEnded { share, .. }
        | Warning::ThroughputStalled { share, .. }
        | Warning::CpuSteal { share, .. } => *share,
        // A driver on the server's machine takes its share of the CPUs in any case; a delay beyond that is the server's work.
        Warning::DriverShortOfCpu { is_most: true, .. } | Warning::DriverBottleneck { .. } => 1.0,
        // It does not count as a run with a fault.
        Warning::FaultWithoutEffect { .. } | Warning::FaultFailed { .. } => 1.0,
        Warning::DriverShortOfCpu { waited_share, .. } => match beside_server(record) {
            Some(share) => share.min(FAIR_MAX),
            None => *waited_share,
        },
        Warning::OtherPrograms { used_cpus, cpus, .. } => used_cpus / cpus.max(1.0),
        Warning::LowFidelity { time_percent, .. } => 1.0 - time_percent / 100.0,
        Warning::RateMissed { reached_share, .. } => 1.0 - reached_share,
        Warning::ClientsLost { lost: ended, clients } | Warning::ClientsAborted { aborted: ended, clients } => {
            *ended as f64 / f64::from((*clients).max(1))
        }
        Warning::LevelChanged { tps_before, tps_after, .. } => {
            (tps_after - tps_before).abs() / (tps_before + tps_after).max(f64::MIN_POSITIVE)
        }
        Warning::Drifts => {
            let steady = record.summary.as_ref().and_then(|summary| summary.steadiness);
            steady.map_or(UNSETTLED, |steady| steady.trend.abs() / 2.0).max(UNSETTLED)
        }
        Warning::ShortWindow { .. }
        | Warning::NotSettled { .. }
        | Warning::RepliesLeftUnread { .. }
        | Warning::SlowClock { .. }
        | Warning::UnsafeSetting { .. }
        | Warning::RuleBroken { .. }
        | Warning::UnevenNodes { .. }
        | Warning::NotDelegated { .. }
        | Warning::VacuumRan { .. }
        | Warning::NoCheckpoint { .. }
        // Steps report whatever they found, such as another run on the same server.
        | Warning::Note { .. } => UNSETTLED,
        Warning::TransactionError { .. }
        | Warning::StageNotWhole { .. }
        | Warning::TpmLeftOut { .. }
        | Warning::NotDiagnosed { .. }
        | Warning::LeftOut { .. } => 0.0,
    }
}

/// Returns the share of the machine's CPUs that the driver used, where it is the server's machine.
fn beside_server(record: &RunRecord) -> Option<f64> {
    record.server.as_ref().filter(|server| server.local)?;
    let machine = record.server_machine.as_ref()?;
    Some(machine.driver_cpus? / machine.cpus?)
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
    fn the_degree_follows_from_what_figures_may_be_off_by() {
        let mut record = record();
        let good = TrustRecord::new(Trust::Good, None, Vec::new());
        assert_eq!(TrustRecord::of(&record), good);
        record.warnings = vec![Warning::ShortWindow { window_s: 3.0 }].into();
        let trust = TrustRecord::of(&record);
        assert_eq!((trust.degree(), trust.reasons), (Trust::Fair, vec!["3.0 s is short (-T 1min or more)".to_owned()]));
        let others = |used_cpus| Warning::OtherPrograms { machine: "this machine".to_owned(), used_cpus, cpus: 2.0 };
        let degree = |warning: Warning| {
            TrustRecord::of(&RunRecord { warnings: vec![warning].into(), ..record.clone() }).degree()
        };
        assert_eq!([0.05, 0.26, 1.6].map(|used| degree(others(used))), [Trust::Good, Trust::Fair, Trust::Poor]);
        assert_eq!(degree(Warning::note("another run measures this server")), Trust::Fair);
        let left_out = "left out: sample wait events and statistics: no room; the diagnosis knows less".to_owned();
        assert_eq!(degree(Warning::LeftOut { text: left_out }), Trust::Good);
        assert_eq!(degree(Warning::NotDiagnosed { why: "no samples".to_owned() }), Trust::Good);
        // What fits into a line is there as a whole.
        record.warnings = vec![Warning::note("fsync is off: do not compare")].into();
        assert_eq!(TrustRecord::of(&record).reasons, ["fsync is off: do not compare"]);
    }

    #[test]
    fn what_may_matter_most_is_the_first_reason() {
        let mut record = record();
        record.warnings = vec![Warning::note("something")].into();
        let steadiness = SteadyRecord { variation: 0.1, trend: -0.08, chance: Some(0.09), drifts: false };
        record.summary = Some(Summary { committed: 1, steadiness: Some(steadiness), ..Summary::default() });
        let trust = TrustRecord::of(&record);
        assert_eq!(
            trust.reasons[0],
            "too noisy to confirm steady state, -8.0 % from first to last third: try a longer -T"
        );
        assert_eq!(trust.reasons[1], "something");
        assert_eq!(
            (trust.degree(), trust.throughput_error_share.map(|share| (share * 1e3).round())),
            (Trust::Fair, Some(37.0))
        );
        let stalled = Warning::NothingEnded {
            stalled_s: 2.0,
            share: 0.2,
            from_s: 1.0,
            in_flight_max: 4,
            failed: 0,
            disconnected_max: 0,
            with_fault: false,
        };
        record.warnings.insert(0, stalled);
        let reasons = TrustRecord::of(&record).reasons;
        assert!(
            reasons[0].starts_with("no transaction succeeded for 2.0 s")
                && reasons[1].starts_with("too noisy to confirm steady state")
        );
    }

    #[test]
    fn records_of_the_version_before_keep_their_words() {
        let old: TrustRecord = serde_json::from_str(r#"{"verdict": "with-care", "reasons": ["short"]}"#).unwrap();
        assert_eq!((old.degree().name(), old.reasons), ("usable with care", vec!["short".to_owned()]));
    }

    #[test]
    fn a_run_that_broke_off_or_did_nothing_is_not_usable() {
        let mut idle = record();
        idle.summary = Some(Summary::default());
        assert_eq!(TrustRecord::of(&idle).reasons, ["nothing was committed"]);
        let mut failed = record();
        (failed.status, failed.reason) = (Status::Failed, Some("the server went away".to_owned()));
        let trust = TrustRecord::of(&failed);
        assert_eq!((trust.degree(), &*trust.reasons[0]), (Trust::NotUsable, "failed: the server went away"));
        failed.summary = None;
        assert_eq!(TrustRecord::of(&failed).degree(), Trust::NotUsable);
    }
}
