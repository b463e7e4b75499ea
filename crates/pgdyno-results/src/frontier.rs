//! The record of a frontier: `frontiers/<id>.json` in the results directory. Each of its measurements is an ordinary run with
//! its own record; this one has their names.

use pgdyno_plan::Order;
use serde::{Deserialize, Serialize};

use crate::record::FORMAT_VERSION;
use crate::resumable::Resumable;

/// Throughputs of transactions and of queries that share a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontierRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Its name.
    pub id: String,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// Why it ended: `complete`, `budget`, `interrupted` or what failed; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The workload.
    pub workload: String,
    /// The target, without passwords.
    pub target: String,
    /// What each run does, without its rate and streams, and without passwords.
    pub order: Order,
    /// Whether each run has a fresh copy of the same data. If not, data grows from run to run.
    pub restored: bool,
    /// Objectives of the transactions; points that miss them are shown hollow.
    pub objectives: Vec<String>,
    /// The largest number of streams.
    pub streams_max: u32,
    /// How often each point is measured.
    pub repeats: u32,
    /// The time that it may take, in seconds; absent if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// The time that it has taken, in seconds.
    pub spent_s: f64,
    /// Transactions a second in a closed loop without queries: 100 % of the offered rates. Absent until it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_tps: Option<f64>,
    /// The run that measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_run: Option<String>,
    /// The points, in the order in which they are measured.
    pub points: Vec<FrontierPoint>,
    /// What they show; absent until both sides have a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<FrontierResult>,
}

/// A rate of transactions beside a number of streams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontierPoint {
    /// The offered rate as a share of the highest, 0 to 1. 0: no transactions.
    pub share: f64,
    /// Streams of queries. 0: no queries.
    pub streams: u32,
    /// Committed transactions a second, by run.
    pub tps: Vec<f64>,
    /// Queries an hour, by run.
    pub queries_per_hour: Vec<f64>,
    /// Both ends of the 95 % interval of the mean of the former, from two runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_interval: Option<[f64; 2]>,
    /// The same of queries an hour; of a single run, that of its sets of queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries_per_hour_interval: Option<[f64; 2]>,
    /// How many of its runs missed the rate or an objective, and why the first of them did: `1 of 2 runs: …`; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
    /// Why the transactions missed their rate or an objective, by run; empty if none did, and in records of 0.2.0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed_by_run: Vec<Option<String>>,
    /// The hash of the plan of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_hash: Option<String>,
    /// Names of its runs.
    pub runs: Vec<String>,
}

/// The shape of a frontier. Points are named by their places.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontierResult {
    /// The points that no other one reaches in both throughputs, by transactions.
    pub hull: Vec<usize>,
    /// The highest throughput of transactions.
    pub tps_max: f64,
    /// The highest throughput of queries.
    pub queries_per_hour_max: f64,
    /// Area below the frontier, as a share of the box of both: 0.5 in proportion, 1 without any loss.
    pub area: f64,
    /// Both ends of its 95 % interval; absent unless each point has two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area_interval: Option<[f64; 2]>,
}

impl FrontierPoint {
    /// Returns the means of both throughputs; `None` before it was measured.
    #[must_use]
    pub fn mean(&self) -> Option<(f64, f64)> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        (!self.runs.is_empty()).then(|| (mean(&self.tps), mean(&self.queries_per_hour)))
    }

    /// Adds a run, and why its transactions missed their rate or an objective, if they did.
    pub fn add_run(&mut self, id: String, missed: Option<String>) {
        let earlier = self.runs.len();
        self.runs.push(id);
        if missed.is_none() && self.missed.is_none() {
            return;
        }
        // Records of 0.2.0 have the reason of one run, and not of which.
        if let (Some(why), true) = (&self.missed, self.missed_by_run.is_empty()) {
            self.missed_by_run.push(Some(why.clone()));
        }
        self.missed_by_run.resize(earlier, None);
        self.missed_by_run.push(missed);
        let reasons = || self.missed_by_run.iter().flatten();
        self.missed = reasons().next().map(|first| match self.runs.len() {
            1 => first.clone(),
            runs => format!("{} of {runs} runs: {first}", reasons().count()),
        });
    }

    /// Returns true if half of its runs missed the rate or an objective, or more.
    #[must_use]
    pub fn is_hollow(&self) -> bool {
        let missed = self.missed_by_run.iter().flatten().count();
        match self.missed_by_run.is_empty() {
            true => self.missed.is_some(),
            false => 2 * missed >= self.runs.len(),
        }
    }

    /// Returns true if the run in this place missed the rate or an objective.
    #[must_use]
    pub fn has_missed(&self, run: usize) -> bool {
        match self.missed_by_run.get(run) {
            Some(missed) => missed.is_some(),
            None => self.missed_by_run.is_empty() && self.missed.is_some(),
        }
    }
}

impl Resumable for FrontierRecord {
    const DIRECTORY: &'static str = "frontiers";

    fn id(&self) -> &str {
        &self.id
    }

    fn set_ended(&mut self, why: Option<String>) {
        self.ended = why;
    }
}

impl FrontierRecord {
    /// Returns the record of a frontier that begins.
    #[must_use]
    pub fn begin(id: String, started: jiff::Timestamp, workload: String, target: String, order: Order) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            id,
            pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started.to_string(),
            workload,
            target,
            order,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_a_point_is_judged_and_one_that_missed_does_not_speak_for_the_others() {
        let mut point = FrontierPoint::default();
        point.add_run("a".to_owned(), None);
        assert_eq!((point.missed.as_deref(), point.is_hollow()), (None, false));
        point.add_run("b".to_owned(), Some("90.0 % of the offered rate were achieved".to_owned()));
        assert_eq!(point.missed.as_deref(), Some("1 of 2 runs: 90.0 % of the offered rate were achieved"));
        assert!(point.is_hollow() && !point.has_missed(0) && point.has_missed(1));
        point.add_run("c".to_owned(), None);
        assert_eq!(point.missed.as_deref(), Some("1 of 3 runs: 90.0 % of the offered rate were achieved"));
        assert!(!point.is_hollow() && !point.has_missed(2));
    }

    #[test]
    fn a_point_of_an_older_record_goes_on() {
        let mut point = FrontierPoint { missed: Some("late".to_owned()), ..FrontierPoint::default() };
        point.runs = vec!["a".to_owned(), "b".to_owned()];
        assert!(point.is_hollow() && point.has_missed(1));
        point.add_run("c".to_owned(), None);
        assert_eq!((point.missed.as_deref(), point.is_hollow()), (Some("1 of 3 runs: late"), false));
    }
}
