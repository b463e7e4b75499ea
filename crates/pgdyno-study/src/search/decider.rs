//! Decides which load a search measures next, and what its runs show. `pgdyno_measure::search` has the state machine and the
//! statistics.

use std::collections::BTreeMap;

use pgdyno_life::exit_code::Code;
use pgdyno_measure::search::{Bounds, LoadVerdict, REPEATS, Search, SearchResult, knee};
use pgdyno_report::search::{load as words, miss, scatter};
use pgdyno_results::{Objective, SearchPoint, SearchRecord, SearchStatus};
use pgdyno_text::units;

use super::SearchRequest;
use super::judge::{Measured, summed_up};

/// Default of the highest number of clients.
pub const MAX_CLIENTS: f64 = 256.0;

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
    let arrivals = wanted.objectives.iter().map(Objective::arrivals_min).fold(0.0, f64::max);
    let rate = |arrivals: f64| wanted.time_s.map_or(0.0, |time| arrivals / wanted.share / time);
    // A search that begins near the capacity could only miss: there a percentile is judged by fewer arrivals.
    let hardly = rate(arrivals.min(Objective::ARRIVALS_LEAST)).min(tps);
    let least = rate(arrivals).min(tps / 10.0).max(hardly).max(tps / 1000.0);
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
        let Some(kept) = limit.kept else { return self.without_kept(limit, wanted, record) };
        if let Some(reason) = self.too_slow(wanted, kept) {
            return none_kept(reason);
        }
        let within = |load: f64| load > kept && limit.broken.is_none_or(|broken| load < broken);
        let mut open = record.points.iter().filter(|point| within(point.load));
        let reason = match (limit.exhausted, open.next()) {
            (true, _) => Some(format!(
                "ended by its {} runs before the interval was as narrow as asked for: give more --steps",
                wanted.steps
            )),
            (false, Some(point)) => {
                let loads = match open.count() {
                    0 => "undecided above it",
                    others => &format!("undecided at {} loads above it", others + 1),
                };
                Some(format!("{loads}: {}", self.scatter(wanted, record, point)))
            }
            (false, None) => None,
        };
        Outcome { status: SearchStatus::Found, reason, code: Code::Success }
    }

    /// Returns what a search shows that found no load that meets the objectives.
    fn without_kept(&self, limit: SearchResult, wanted: &SearchRequest, record: &SearchRecord) -> Outcome {
        let Some(lowest) = record.points.first() else { return undecided("no load was measured".to_owned()) };
        let (least, runs) = (words(&wanted.by, lowest.load), wanted.steps);
        let met = record.points.iter().find(|point| point.verdict == "kept");
        // A run that met them is no clear miss, whatever the others show.
        let runs_of_lowest = self.measured.get(&lowest.load.to_bits()).map_or(&[][..], Vec::as_slice);
        let is_missed = lowest.verdict == "broken" && !runs_of_lowest.iter().any(Measured::is_met);
        match (is_missed, met) {
            (true, Some(met)) => undecided(format!(
                "{} meets it, and {least} does not: {}",
                words(&wanted.by, met.load),
                remedy(wanted, None)
            )),
            (true, None) => {
                let miss = miss(&record.objectives, lowest);
                none_kept(match limit.exhausted {
                    true => format!(
                        "{least} does not meet it ({miss}), and its {runs} runs were used up before lower loads: give more --steps"
                    ),
                    false => format!("even {least} does not meet it: {miss}"),
                })
            }
            (false, _) if limit.exhausted && lowest.verdict != "broken" => undecided(format!(
                "its {runs} runs ended before {least} was decided: give more --steps, or {}",
                remedy(wanted, None)
            )),
            (false, _) => undecided(self.scatter(wanted, record, lowest)),
        }
    }

    /// Says why a load is undecided, and what would decide it: `p99 scatters between 15.0 and 162 ms at 50.0/s; use -T 60`.
    fn scatter(&self, wanted: &SearchRequest, record: &SearchRecord, point: &SearchPoint) -> String {
        let why = scatter(&record.objectives, point, &words(&wanted.by, point.load));
        let factor = self.search.as_ref().and_then(|search| search.lengthening(point.load));
        format!("{why}; {}", remedy(wanted, factor))
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

fn undecided(reason: String) -> Outcome {
    Outcome { status: SearchStatus::Undecided, reason: Some(reason), code: Code::Unsure }
}

/// Returns the advice to measure for longer: `factor` times as long, or twice where that is unknown.
fn remedy(wanted: &SearchRequest, factor: Option<f64>) -> String {
    let Some(time_s) = wanted.time_s else { return "measure more transactions (-t)".to_owned() };
    let least = time_s * factor.unwrap_or(2.0);
    let step = match least {
        s if s < 10.0 => 1.0,
        s if s < 60.0 => 5.0,
        _ => 30.0,
    };
    // At least a step longer than now.
    let longer = ((least / step).ceil() * step).max(((time_s / step).floor() + 1.0) * step);
    format!("use -T {longer}")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

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
        let found = bounds(&wanted("rate", &["p90 < 10ms"]), Some(1000.0));
        assert_eq!((found.min, found.max, found.start, found.budget, found.whole), (1.0, 2000.0, 700.0, 39, false));
        // The rarest kind of an objective needs ten arrivals, and as many as its percentile has.
        let rare = |objective| SearchRequest { share: 0.04, ..wanted("rate", &[objective]) };
        assert_eq!(bounds(&rare("p50 < 10ms"), Some(1000.0)).min, 25.0);
        assert_eq!(bounds(&rare("p95 < 10ms"), Some(1000.0)).min, 50.0);
        assert_eq!(bounds(&rare("p99 < 10ms"), Some(1000.0)).min, 100.0, "a tenth of the capacity");
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
        assert!(outcome.reason.is_some_and(|why| why.starts_with("even 1 client does not meet it: ")));
        let (_, slow) = search(&wanted("clients", &["p99 < 10ms", "tps > 1000"]), 20.5);
        assert_eq!((slow.status, slow.code), (SearchStatus::NoneKept, Code::Run));
        assert!(slow.reason.as_ref().is_some_and(|why| why.contains("200.0 TPS")), "{:?}", slow.reason);
        let short = SearchRequest { steps: 3, ..wanted("clients", &["p99 < 10ms"]) };
        let (_, exhausted) = search(&short, 20.5);
        assert!(exhausted.reason.is_some_and(|why| why.contains("give more --steps")));
    }

    /// Searches from one client on, with these p99 of its runs in milliseconds, and of those of more clients.
    fn search_of(one: &[f64], more_ms: f64, steps: usize) -> (SearchRecord, Outcome) {
        let wanted = SearchRequest { steps, ..wanted("clients", &["p99 < 10ms"]) };
        let (mut decider, mut record) = (Decider::default(), record(&wanted.by));
        record.objectives = vec!["p99 < 10ms".to_owned()];
        decider.begin(bounds(&wanted, None));
        let mut of_one = one.iter().copied().cycle();
        while let Some(load) = decider.next() {
            let p99_ms = if load == 1.0 { of_one.next().unwrap() } else { more_ms };
            decider.add(load, Measured::of_p99_ms(p99_ms), &mut record);
        }
        let outcome = decider.outcome(&wanted, &record);
        (record, outcome)
    }

    #[test]
    fn figures_on_both_sides_of_the_objective_are_undecided_and_not_a_miss() {
        let (record, outcome) = search_of(&[9.0, 25.0, 6.0, 16.0, 8.0], 60.0, 40);
        assert_eq!((outcome.status, outcome.code), (SearchStatus::Undecided, Code::Unsure));
        let reason = outcome.reason.unwrap();
        assert_eq!(reason, "p99 scatters between 6.00 and 25.0 ms at 1 client; use -T 20", "{record:#?}");
        // Near the objective, the length that would do is known.
        let (_, near) = search_of(&[8.6, 9.9, 9.1, 8.8, 9.6], 60.0, 40);
        let reason = near.reason.unwrap();
        assert_eq!(reason, "p99 of 8.60 to 9.90 ms at 1 client is too close to 10.0 ms; use -T 15");
        assert_eq!(near.status, SearchStatus::Undecided);
    }

    #[test]
    fn a_lowest_load_that_clearly_misses_is_no_matter_of_noise() {
        let (_, outcome) = search_of(&[24.0, 26.0], 60.0, 40);
        assert_eq!((outcome.status, outcome.code), (SearchStatus::NoneKept, Code::Run));
        assert_eq!(outcome.reason.as_deref(), Some("even 1 client does not meet it: p99 is 25.0 ms"));
        let (record, mixed) = search_of(&[24.0, 9.0, 26.0, 25.0, 24.0], 60.0, 40);
        assert_eq!((mixed.status, record.points[0].verdict.as_str()), (SearchStatus::Undecided, "broken"));
        assert!(mixed.reason.is_some_and(|why| why.starts_with("p99 scatters between 9.00 and 26.0 ms")));
        let (_, ended) = search_of(&[9.5], 60.0, 2);
        assert_eq!(ended.status, SearchStatus::Undecided);
        assert!(ended.reason.is_some_and(|why| why.starts_with("its 2 runs ended before 1 client was decided")));
    }

    #[test]
    fn an_undecided_load_above_the_limit_is_named_with_its_figures() {
        let wanted = wanted("clients", &["p99 < 10ms"]);
        let (mut decider, mut record) = (Decider::default(), record("clients"));
        record.objectives = vec!["p99 < 10ms".to_owned()];
        decider.begin(bounds(&wanted, None));
        let mut of_two = [8.0, 13.0, 9.0, 11.0, 10.1].into_iter().cycle();
        while let Some(load) = decider.next() {
            let p99_ms = if load == 2.0 { of_two.next().unwrap() } else { 4.0 * load };
            decider.add(load, Measured::of_p99_ms(p99_ms), &mut record);
        }
        let outcome = decider.outcome(&wanted, &record);
        assert_eq!((outcome.status, record.kept, record.broken), (SearchStatus::Found, Some(1.0), Some(3.0)));
        let reason = outcome.reason.unwrap();
        assert_eq!(reason, "undecided above it: p99 scatters between 8.00 and 13.0 ms at 2 clients; use -T 20");
    }

    #[test]
    fn the_advised_length_is_round_and_longer_than_now() {
        let advice = |time_s, factor| remedy(&SearchRequest { time_s, ..wanted("rate", &[]) }, factor);
        assert_eq!(advice(Some(10.0), None), "use -T 20");
        assert_eq!(advice(Some(10.0), Some(1.05)), "use -T 15");
        assert_eq!(advice(Some(30.0), Some(5.2)), "use -T 180");
        assert_eq!(advice(Some(1.0), Some(1.0)), "use -T 2");
        assert_eq!(advice(None, Some(3.0)), "measure more transactions (-t)");
    }
}
