//! The figures of both sides, and where their clients' time went: of a unit, and of all units together.

use pgdyno_measure::ab::Experiment;
use pgdyno_measure::mean::{mean, reach};
use pgdyno_results::{AbFigure, AbLevel, AbRecord, AbTime, AbTimePart, AbUnit, RecordMetric, RunRecord};

/// The response times that are shown beside the figure that decides.
const PERCENTILES: [&str; 3] = ["p50", "p95", "p99"];

/// Smaller shares on both sides are left out.
const SHARE_MIN: f64 = 0.01;

/// Units from which on the parts of the clients' time have intervals.
const UNITS_MIN: usize = 3;

/// Returns a ratio as a change in percent.
pub(super) fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// Returns the levels of the slices of a unit, those of A and those of B: the figure that decides first. Whole runs have no response
/// times: a percentile of a set of queries is that of one of them.
pub(super) fn levels(record: &AbRecord, slices: &[Vec<RunRecord>; 2]) -> Vec<AbLevel> {
    let percentiles = PERCENTILES.iter().filter(|_| !record.whole_runs).copied();
    let names = std::iter::once(record.metric.as_str()).chain(percentiles);
    let level = |name: &str| {
        let metric = RecordMetric::named(name, slices[0].iter())?;
        let of = |slices: &[RunRecord]| {
            let logs: Option<Vec<f64>> = slices.iter().map(|slice| metric.value(slice).map(f64::ln)).collect();
            mean(&logs?).map(f64::exp)
        };
        Some(AbLevel { name: name.to_owned(), a: of(&slices[0])?, b: of(&slices[1])? })
    };
    names.filter_map(level).collect()
}

/// The change of the figure that decides, and its interval, in percent.
pub(super) struct Decided {
    pub(super) change_percent: f64,
    pub(super) interval_percent: [f64; 2],
}

/// Returns the figures of both sides over these units. `looked` is the experiment as it was before the look at them, with what that look
/// shows of the figure that decides, whose name is `metric`.
pub(super) fn figures(units: &[AbUnit], metric: &str, looked: Option<(Experiment, Decided)>) -> Vec<AbFigure> {
    let Some(first) = units.first() else { return Vec::new() };
    let others = first.levels.iter().filter(|level| level.name != metric).count().max(1);
    let figure = |name: &str| {
        let of = |unit: &AbUnit| unit.levels.iter().find(|level| level.name == name).map(|level| [level.a, level.b]);
        let levels: Vec<[f64; 2]> = units.iter().map(of).collect::<Option<_>>()?;
        let side = |at: usize| mean(&levels.iter().map(|level| level[at].ln()).collect::<Vec<_>>()).map(f64::exp);
        let ratios: Vec<f64> = levels.iter().map(|[a, b]| (b / a).ln()).collect();
        let (a, b) = (side(0)?, side(1)?);
        let decided = looked.as_ref().and_then(|(experiment, decided)| {
            if name == metric {
                return Some((decided.change_percent, decided.interval_percent));
            }
            let confidence = 1.0 - (1.0 - experiment.confidence) / others as f64;
            let change = Experiment { confidence, ..*experiment }.look(&ratios)?.change;
            Some((percent(change.ratio), [percent(change.low), percent(change.high)]))
        });
        let change_percent = decided.map_or(percent(b / a), |(change, _)| change);
        Some(AbFigure { name: name.to_owned(), a, b, change_percent, interval_percent: decided.map(|(_, of)| of) })
    };
    first.levels.iter().filter_map(|level| figure(&level.name)).collect()
}

/// Returns where the clients' time went over these units, the parts that changed most first; nothing unless all units have it.
pub(super) fn parts(units: &[AbUnit]) -> Vec<AbTimePart> {
    if units.iter().any(|unit| unit.clients_time.is_empty()) {
        return Vec::new();
    }
    let mut names: Vec<&str> = units.iter().flat_map(|unit| unit.clients_time.iter().map(|part| &*part.name)).collect();
    names.sort_unstable();
    names.dedup();
    let nothing = AbTime::default();
    let part = |name: &str| {
        let of = |unit: &'_ AbUnit| {
            unit.clients_time.iter().find(|part| part.name == name).cloned().unwrap_or_else(|| nothing.clone())
        };
        let times: Vec<AbTime> = units.iter().map(of).collect();
        let mean_of = |figure: fn(&AbTime) -> f64| mean(&times.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0);
        let changes: Vec<f64> = times.iter().map(|time| time.b_ns - time.a_ns).collect();
        let interval = mean(&changes).zip(reach(&changes)).filter(|_| changes.len() >= UNITS_MIN);
        AbTimePart {
            time: AbTime {
                name: name.to_owned(),
                a_share: mean_of(|time| time.a_share),
                b_share: mean_of(|time| time.b_share),
                a_ns: mean_of(|time| time.a_ns),
                b_ns: mean_of(|time| time.b_ns),
            },
            change_ns_interval: interval.map(|(change, reach)| [change - reach, change + reach]),
        }
    };
    let mut parts: Vec<AbTimePart> = names.into_iter().map(part).collect();
    parts.retain(|part| part.time.a_share.max(part.time.b_share) >= SHARE_MIN);
    parts.sort_by(|a, b| b.time.change_ns().abs().total_cmp(&a.time.change_ns().abs()));
    parts
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{LatencyRecord, Summary, TimePartRecord, clients_time_of};

    use super::*;

    /// A slice of two clients and two seconds.
    fn slice(committed: u64, p99_ns: u64, parts: &[(&str, f64)]) -> RunRecord {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        record.plan.drive.clients = 2;
        record.summary = Some(Summary {
            committed,
            duration_s: 2.0,
            tps: committed as f64 / 2.0,
            response_latency_ns: Some(LatencyRecord { p99: p99_ns, ..LatencyRecord::default() }),
            ..Summary::default()
        });
        let part = |(name, share): &(&str, f64)| TimePartRecord { name: (*name).to_owned(), share: *share };
        record.clients_time = parts.iter().map(part).collect();
        record
    }

    fn unit(slices: [Vec<RunRecord>; 2]) -> AbUnit {
        let record = AbRecord { metric: "tps".to_owned(), ..AbRecord::default() };
        AbUnit {
            levels: levels(&record, &slices),
            clients_time: clients_time_of(slices.each_ref().map(Vec::as_slice)),
            ..AbUnit::default()
        }
    }

    #[test]
    fn a_unit_has_the_levels_of_both_sides_and_the_time_of_a_transaction_by_parts() {
        let flushes = [("WAL flush", 0.75), ("CPU", 0.25)];
        let a = vec![slice(100, 4_000_000, &flushes), slice(400, 1_000_000, &flushes)];
        let b = vec![slice(400, 1_000_000, &[("CPU", 1.0)]), slice(400, 1_000_000, &[("CPU", 1.0)])];
        let one = unit([a.clone(), b]);
        let tps = &one.levels[0];
        assert_eq!((tps.name.as_str(), tps.a.round(), tps.b.round()), ("tps", 100.0, 200.0), "the mean is geometric");
        let p99 = one.levels.iter().find(|level| level.name == "p99").unwrap();
        assert_eq!((p99.a.round(), p99.b.round()), (2e6, 1e6));
        let flush = one.clients_time.iter().find(|part| part.name == "WAL flush").unwrap();
        // Two clients, two seconds: 40 ms and 10 ms for each transaction.
        assert!((flush.a_share - 0.75).abs() < 1e-9 && (flush.a_ns - 0.75 * 25e6).abs() < 1.0, "{flush:?}");
        assert_eq!((flush.b_share, flush.b_ns), (0.0, 0.0), "a part that one side lacks");
        let without = unit([a, vec![slice(400, 1_000_000, &[])]]);
        assert_eq!(without.clients_time, [], "one slice has no account");

        // Of clients that think, only the responses count: 1 ms, and a fifth of them are rolled back.
        let mut thinks = slice(400, 1_000_000, &[("CPU", 1.0)]);
        let summary = thinks.summary.as_mut().unwrap();
        summary.rolled_back = 100;
        summary.schedule_lag_ns = Some(LatencyRecord::default());
        summary.response_latency_ns = Some(LatencyRecord { mean: 1e6, ..LatencyRecord::default() });
        assert_eq!(clients_time_of([&[thinks.clone()], &[thinks]])[0].a_ns, 1.25e6);

        let parts = parts(&[one.clone(), one.clone(), one]);
        assert_eq!(parts[0].time.name, "WAL flush", "what changed most comes first");
        let [low, high] = parts[0].change_ns_interval.unwrap();
        assert!((low + 0.75 * 25e6).abs() < 1.0 && low == high, "{low} {high}");
    }

    #[test]
    fn figures_have_intervals_once_they_were_looked_at_and_those_beside_the_verdict_are_wider() {
        let units: Vec<AbUnit> = [0.02, -0.01, 0.0, 0.01, -0.02]
            .map(|noise: f64| {
                let level = |name: &str| AbLevel { name: name.to_owned(), a: 100.0, b: 110.0 * noise.exp() };
                AbUnit { levels: ["tps", "p50", "p95", "p99"].map(level).to_vec(), ..AbUnit::default() }
            })
            .to_vec();
        let so_far = figures(&units, "tps", None);
        assert!(
            so_far.iter().all(|figure| figure.interval_percent.is_none() && (figure.change_percent - 10.0).abs() < 0.1)
        );
        let experiment = Experiment { margin: 0.02, confidence: 0.95, looks: 0 };
        let look = experiment.clone().look(&[0.1153, 0.0853, 0.0953, 0.1053, 0.0753]).unwrap();
        let of_verdict = [percent(look.change.low), percent(look.change.high)];
        let decided = Decided { change_percent: 9.5, interval_percent: of_verdict };
        let looked = figures(&units, "tps", Some((experiment, decided)));
        let width = |nth: usize| looked[nth].interval_percent.map(|[low, high]| high - low).unwrap();
        assert_eq!(
            (looked[0].change_percent, looked[0].interval_percent),
            (9.5, Some(of_verdict)),
            "those of the verdict"
        );
        assert!(width(3) > width(0), "{looked:?}");
    }
}
