//! Decides which load a search measures next, and what its runs show. `pgdyno_measure::search` has the state machine and the
//! statistics.

use std::collections::BTreeMap;

use pgdyno_life::exit_code::Code;
use pgdyno_measure::search::{Bounds, LoadVerdict, REPEATS, Search, SearchResult, knee};
use pgdyno_report::search::load as words;
use pgdyno_results::{SearchRecord, SearchStatus};
use pgdyno_text::units;

use super::SearchRequest;
use super::judge::{Measured, summed_up};

/// Default of the highest number of clients.
pub const MAX_CLIENTS: f64 = 256.0;
/// At least so many arrivals of a kind of transactions are needed for a judgement.
const ARRIVALS_MIN: f64 = 10.0;

/// The decider of a search.
#[derive(Default)]
pub(crate) struct Decider {
    /// Absent until the bounds are known.
    search: Option<Search>,
    /// The runs of each load. The bits of a positive load have the same order as the load.
    measured: BTreeMap<u64, Vec<Measured>>,
}

/// What a search shows.
pub(crate) struct Outcome {
    pub(crate) status: SearchStatus,
    pub(crate) reason: Option<String>,
    pub(crate) code: Code,
}

/// Returns the bounds of a search. Those of a rate follow from the throughput of a closed loop, which took one of the runs.
pub(crate) fn bounds(wanted: &SearchRequest, capacity_tps: Option<f64>) -> Bounds {
    let (precision, fill) = (wanted.precision, wanted.curve);
    let Some(tps) = capacity_tps else {
        let min = wanted.min.unwrap_or(1.0);
        let max = wanted.max.unwrap_or(MAX_CLIENTS.max(min));
        return Bounds { min, max, start: min, growth: 2.0, whole: true, precision, budget: wanted.steps, fill };
    };
    let least = (tps / 1000.0).max(wanted.time_s.map_or(0.0, |time| ARRIVALS_MIN / wanted.share / time)).min(tps);
    let min = wanted.min.unwrap_or(least.min(wanted.max.unwrap_or(f64::INFINITY)));
    let max = wanted.max.unwrap_or((2.0 * tps).max(min));
    let (start, budget) = ((0.7 * tps).clamp(min, max), wanted.steps - 1);
    Bounds { min, max, start, growth: std::f64::consts::SQRT_2, whole: false, precision, budget, fill }
}

impl Decider {
    /// Begins to search between these bounds.
    pub(crate) fn begin(&mut self, bounds: Bounds) {
        self.search = Some(Search::new(bounds));
    }

    /// Returns the load to measure next; `None` when the search is finished.
    pub(crate) fn next(&self) -> Option<f64> {
        self.search.as_ref().and_then(Search::next)
    }

    /// Adds a run with this load, and updates the curve in the record.
    pub(crate) fn add(&mut self, load: f64, measured: Measured, record: &mut SearchRecord) {
        let Some(search) = &mut self.search else { return };
        search.saw(load, measured.seen);
        self.measured.entry(load.to_bits()).or_default().push(measured);
        let point = |(bits, runs): (&u64, &Vec<Measured>)| {
            let load = f64::from_bits(*bits);
            let verdict = match search.verdict(load) {
                LoadVerdict::Kept => "kept",
                LoadVerdict::Broken => "broken",
                LoadVerdict::Open if runs.len() < REPEATS => "not decided",
                LoadVerdict::Open => "cannot tell",
            };
            summed_up(load, verdict, runs)
        };
        record.points = self.measured.iter().map(point).collect();
        let curve = record.points.iter().map(|p| (p.achieved_per_s, p.response_latency_ns_mean.unwrap_or_default()));
        record.knee = knee(&curve.collect::<Vec<_>>()).map(|at| record.points[at].load);
        let limit = search.limit();
        (record.kept, record.broken) = (limit.kept, limit.broken);
        // A margin is the logarithm of bound over figure.
        record.drift_percent = limit.drift.map(|drift| ((-drift).exp() - 1.0) * 100.0);
    }

    /// Returns what a search shows that has measured enough, or all that it may.
    pub(crate) fn outcome(&self, wanted: &SearchRequest, record: &SearchRecord) -> Outcome {
        let limit = self.search.as_ref().map_or_else(SearchResult::default, Search::limit);
        let Some(kept) = limit.kept else {
            let least = record.points.first().map(|point| words(&wanted.by, point.load)).unwrap_or_default();
            return none_kept(none_meets(limit, &least, wanted.steps));
        };
        if let Some(reason) = self.too_slow(wanted, kept) {
            return none_kept(reason);
        }
        let within = |load: f64| load > kept && limit.broken.is_none_or(|broken| load < broken);
        let undecided = record.points.iter().filter(|point| within(point.load)).count();
        let reason = match limit.exhausted {
            true => Some(format!(
                "ended by its {} runs before the interval was as narrow as asked for: give more --steps",
                wanted.steps
            )),
            false => (undecided > 0).then(|| {
                format!("noise hides the verdict on {undecided} loads in the interval: measure for longer (-T)")
            }),
        };
        Outcome { status: SearchStatus::Found, reason, code: Code::Success }
    }

    /// Returns why the highest load that meets the other objectives has too little throughput; `None` if it has enough.
    fn too_slow(&self, wanted: &SearchRequest, kept: f64) -> Option<String> {
        let runs = self.measured.get(&kept.to_bits()).map_or(&[][..], Vec::as_slice);
        let tps = runs.iter().map(|run| run.tps).sum::<f64>() / runs.len().max(1) as f64;
        let objective = wanted.objectives.iter().find(|o| o.least_tps().is_some_and(|least| tps <= least))?;
        let (load, rate) = (words(&wanted.by, kept), units::rate(tps));
        Some(format!(
            "{load} is the highest load that meets the other objectives, and achieves {rate} TPS: {objective} is not met"
        ))
    }
}

fn none_kept(reason: String) -> Outcome {
    Outcome { status: SearchStatus::NoneKept, reason: Some(reason), code: Code::Run }
}

/// Returns why no load meets the objectives. `least` is the lowest that was measured.
fn none_meets(limit: SearchResult, least: &str, steps: usize) -> String {
    match limit {
        SearchResult { exhausted: true, .. } => {
            format!("ended by its {steps} runs before that was decided: give more --steps, or measure for longer (-T)")
        }
        SearchResult { broken: Some(_), .. } => format!("even {least} does not meet it"),
        SearchResult { .. } => format!("noise hides whether {least} meets it"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use pgdyno_results::Objective;

    use super::*;

    fn wanted(by: &str, objectives: &[&str]) -> SearchRequest {
        SearchRequest {
            objectives: objectives.iter().map(|text| Objective::parse(text).unwrap()).collect(),
            share: 1.0,
            by: by.to_owned(),
            min: None,
            max: None,
            steps: 40,
            precision: 0.05,
            curve: 0,
            time_s: Some(10.0),
        }
    }

    fn record(by: &str) -> SearchRecord {
        SearchRecord::begin("id".to_owned(), Timestamp::UNIX_EPOCH, "noop".to_owned(), "here".to_owned(), by)
    }

    /// Searches a server that carries up to `limit`, without noise.
    fn search(wanted: &SearchRequest, limit: f64) -> (SearchRecord, Outcome) {
        let (mut decider, mut record) = (Decider::default(), record(&wanted.by));
        assert_eq!(decider.next(), None, "the bounds are unknown");
        decider.begin(bounds(wanted, None));
        while let Some(load) = decider.next() {
            decider.add(load, Measured::of((limit / load).ln() * 3.0, load * 10.0), &mut record);
        }
        let outcome = decider.outcome(wanted, &record);
        (record, outcome)
    }

    #[test]
    fn rates_are_searched_around_the_throughput_of_a_closed_loop() {
        let found = bounds(&wanted("rate", &[]), Some(1000.0));
        assert_eq!((found.min, found.max, found.start, found.budget, found.whole), (1.0, 2000.0, 700.0, 39, false));
        // The rarest kind of an objective needs ten arrivals.
        let rare = SearchRequest { share: 0.04, ..wanted("rate", &[]) };
        assert_eq!(bounds(&rare, Some(1000.0)).min, 25.0);
        let given = SearchRequest { min: Some(900.0), max: Some(950.0), ..wanted("rate", &[]) };
        let found = bounds(&given, Some(1000.0));
        assert_eq!((found.min, found.max, found.start), (900.0, 950.0, 900.0));
    }

    #[test]
    fn clients_are_searched_from_one_on_by_doubling() {
        let found = bounds(&wanted("clients", &[]), None);
        assert_eq!((found.min, found.max, found.start, found.growth, found.budget), (1.0, MAX_CLIENTS, 1.0, 2.0, 40));
        assert_eq!(bounds(&SearchRequest { min: Some(300.0), ..wanted("clients", &[]) }, None).max, 300.0);
    }

    #[test]
    fn the_highest_load_that_meets_the_objectives_is_found() {
        let (record, outcome) = search(&wanted("clients", &["p99 < 10ms"]), 20.5);
        assert_eq!((record.kept, record.broken), (Some(20.0), Some(21.0)));
        assert_eq!((outcome.status, outcome.code, outcome.reason), (SearchStatus::Found, Code::Success, None));
    }

    #[test]
    fn a_search_that_finds_nothing_says_why() {
        let (_, outcome) = search(&wanted("clients", &["p99 < 10ms"]), 0.1);
        assert_eq!((outcome.status, outcome.code), (SearchStatus::NoneKept, Code::Run));
        assert_eq!(outcome.reason.as_deref(), Some("even 1 client does not meet it"));
        let (_, slow) = search(&wanted("clients", &["p99 < 10ms", "tps > 1000"]), 20.5);
        assert_eq!((slow.status, slow.code), (SearchStatus::NoneKept, Code::Run));
        assert!(slow.reason.as_ref().is_some_and(|why| why.contains("200.0 TPS")), "{:?}", slow.reason);
        let short = SearchRequest { steps: 3, ..wanted("clients", &["p99 < 10ms"]) };
        let (_, exhausted) = search(&short, 20.5);
        assert!(exhausted.reason.is_some_and(|why| why.contains("give more --steps")));
    }
}
