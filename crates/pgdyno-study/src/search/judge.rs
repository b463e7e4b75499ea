//! Judges a load by the record of its run.

use std::path::Path;

use pgdyno_measure::mean::median;
use pgdyno_measure::search::Seen;
use pgdyno_plan::Rate;
use pgdyno_results::{
    KindFigure, Objective, ObjectiveValue, RunFigures, RunRecord, SearchPoint, Status, Summary, read_intervals,
};
use pgdyno_text::units;

/// An open loop with a greater share of late or skipped arrivals than this is overloaded.
const MISSED: f64 = 0.01;
/// Minimum number of intervals for a trend.
const LEAST_INTERVALS: usize = 6;

/// The part of a run that a search needs.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) id: String,
    pub(crate) seen: Seen,
    /// Why the load was too high, if no figure shows by how much.
    pub(crate) overload: Option<String>,
    achieved_per_s: f64,
    pub(crate) tps: f64,
    failed_share: f64,
    mean_ns: Option<f64>,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    of_kinds: Vec<KindFigure>,
    /// The figure of each objective but throughput.
    figures: Vec<(String, Option<ObjectiveValue>)>,
}

impl Measured {
    /// Returns true if this run met the objectives.
    pub(crate) fn is_met(&self) -> bool {
        matches!(self.seen, Seen::Margin(margin) if margin > 0.0)
    }
}

#[cfg(test)]
impl Measured {
    /// Returns a run with this margin and throughput, and nothing else.
    pub(crate) fn of(margin: f64, tps: f64) -> Self {
        Self {
            id: String::new(),
            seen: Seen::Margin(margin),
            overload: None,
            achieved_per_s: tps,
            tps,
            failed_share: 0.0,
            mean_ns: None,
            p50_ns: None,
            p99_ns: None,
            of_kinds: Vec::new(),
            figures: Vec::new(),
        }
    }

    /// Returns a run with this p99 in milliseconds under the objective that it is below 10 ms.
    pub(crate) fn of_p99_ms(p99_ms: f64) -> Self {
        let figure = ("p99".to_owned(), Some(ObjectiveValue::LatencyNs(p99_ms * 1e6)));
        Self { p99_ns: Some(p99_ms * 1e6), figures: vec![figure], ..Self::of((10.0 / p99_ms).ln(), 100.0) }
    }
}

/// Judges the run with this record, in `directory`.
///
/// # Errors
/// When the run has no figures, or not those of an objective; says why.
pub(crate) fn judge(record: &RunRecord, directory: &Path, objectives: &[Objective]) -> Result<Measured, String> {
    let summary = record.summary.as_ref().ok_or_else(|| record.reason.clone().unwrap_or_default())?;
    let overload =
        doubt(record, objectives).or_else(|| behind(record, summary)).or_else(|| growing(directory, summary));
    let is_blank = |objective: &&Objective| objective.least_tps().is_none() && objective.value(record).is_none();
    if let Some(objective) = objectives.iter().find(is_blank).filter(|_| overload.is_none()) {
        let kind = objective.transaction().unwrap_or("transaction");
        return Err(format!("no {kind} ended in the window, and so nothing shows whether \"{objective}\" is met"));
    }
    let margin = objectives.iter().filter_map(|o| o.margin(record)).fold(f64::INFINITY, f64::min);
    let latency = summary.response_latency_ns.as_ref();
    Ok(Measured {
        id: record.id.clone(),
        seen: if overload.is_some() { Seen::Overloaded } else { Seen::Margin(margin) },
        overload,
        achieved_per_s: per_s(summary.committed + summary.rolled_back, summary),
        tps: summary.tps,
        failed_share: summary.failed_share(),
        mean_ns: latency.map(|l| l.mean),
        p50_ns: latency.map(|l| l.p50 as f64),
        p99_ns: latency.map(|l| l.p99 as f64),
        of_kinds: objectives.iter().filter_map(|objective| of_kind(record, objective)).collect(),
        figures: objectives.iter().filter(|o| o.bound().is_some()).map(|o| (o.figure(), o.value(record))).collect(),
    })
}

/// Returns the figure of an objective that names a kind of transactions.
fn of_kind(record: &RunRecord, objective: &Objective) -> Option<KindFigure> {
    objective.transaction()?;
    let name = objective.figure();
    Some(match objective.value(record) {
        Some(ObjectiveValue::LatencyNs(ns)) => KindFigure { name, latency_ns: Some(ns), failed_share: None },
        Some(ObjectiveValue::FailedShare(share)) => KindFigure { name, latency_ns: None, failed_share: Some(share) },
        None => KindFigure { name, latency_ns: None, failed_share: None },
    })
}

/// Returns so many transactions as a rate over the window.
fn per_s(transactions: u64, summary: &Summary) -> f64 {
    if summary.duration_s > 0.0 { transactions as f64 / summary.duration_s } else { 0.0 }
}

/// Returns why the figures of a run cannot be trusted, so that it meets no objective. Failures may be part of an
/// objective.
fn doubt(record: &RunRecord, objectives: &[Objective]) -> Option<String> {
    let admits = |kind: &str| objectives.iter().any(|objective| objective.admits_failures_of(kind));
    let mut failed = record.transactions.iter().filter(|kind| kind.failed > 0).peekable();
    match record.status {
        Status::Invalid if failed.peek().is_some() && failed.all(|kind| admits(&kind.name)) => None,
        Status::Invalid | Status::Failed => {
            Some(record.reason.clone().unwrap_or_else(|| record.status.name().to_owned()))
        }
        Status::Complete | Status::Interrupted => None,
    }
}

/// Returns how far an open loop fell behind its schedule, if it is overloaded.
fn behind(record: &RunRecord, summary: &Summary) -> Option<String> {
    // Each group of clients has the rate.
    let rate = Rate { per_s: record.plan.offered()?.per_s, ..record.plan.drive.pace.rate()? };
    if let Some(shortfall) = rate.shortfall(per_s(summary.ended(), summary), summary.duration_s) {
        return Some(format!("{} of the offered rate were achieved", units::percent(1.0 - shortfall)));
    }
    let missed = (summary.late + summary.skipped) as f64 / (rate.per_s * summary.duration_s).max(1.0);
    (missed > MISSED).then(|| format!("{} of the arrivals were late or skipped", units::percent(missed)))
}

/// Returns the trend of response times if they grew throughout: the queue is never worked off.
fn growing(directory: &Path, summary: &Summary) -> Option<String> {
    // Without the series there is no trend.
    let intervals = read_intervals(directory).ok()?;
    let measured = intervals.iter().filter(|interval| interval.is_measured());
    let series: Vec<f64> = measured.filter_map(|interval| Some(interval.response_latency_ns?.p50 as f64)).collect();
    let third = series.len() / 3;
    if series.len() < LEAST_INTERVALS {
        return None;
    }
    let thirds = [&series[..third], &series[third..series.len() - third], &series[series.len() - third..]];
    let [first, middle, last] = thirds.map(|third| median(third).unwrap_or(0.0));
    let service = summary.service_latency_ns.as_ref().map_or(0.0, |latency| latency.p50 as f64);
    let grows = first < middle && middle < last && last > 2.0 * first && last > 2.0 * service;
    grows.then(|| {
        format!(
            "response times grew from {} to {} ms: the queue grows",
            units::ms(first as u64),
            units::ms(last as u64)
        )
    })
}

/// Returns a load and its runs, as the record of the search stores them.
pub(crate) fn summed_up(load: f64, verdict: &str, runs: &[Measured]) -> SearchPoint {
    let of = |figure: fn(&Measured) -> Option<f64>| median(&runs.iter().filter_map(figure).collect::<Vec<_>>());
    let of_kind = |(nth, kind): (usize, &KindFigure)| {
        let of = |figure: fn(&KindFigure) -> Option<f64>| {
            median(&runs.iter().filter_map(|run| figure(run.of_kinds.get(nth)?)).collect::<Vec<_>>())
        };
        let (latency_ns, failed_share) = (of(|kind| kind.latency_ns), of(|kind| kind.failed_share));
        KindFigure { name: kind.name.clone(), latency_ns, failed_share }
    };
    let kinds = runs.first().map_or(&[][..], |run| &run.of_kinds);
    let objectives = runs.first().map_or(0, |run| run.figures.len());
    SearchPoint {
        load,
        verdict: verdict.to_owned(),
        repeats: runs.len(),
        overloaded: runs.iter().filter(|run| run.overload.is_some()).count(),
        overload: runs.iter().find_map(|run| run.overload.clone()),
        achieved_per_s: of(|run| Some(run.achieved_per_s)).unwrap_or_default(),
        failed_share: of(|run| Some(run.failed_share)).unwrap_or_default(),
        response_latency_ns_mean: of(|run| run.mean_ns),
        response_latency_ns_p50: of(|run| run.p50_ns),
        response_latency_ns_p99: of(|run| run.p99_ns),
        of_kinds: kinds.iter().enumerate().map(of_kind).collect(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        of_runs: (0..objectives).map(|nth| figures_of(nth, runs)).collect(),
    }
}

/// Returns the figure of the `nth` objective in all runs.
fn figures_of(nth: usize, runs: &[Measured]) -> RunFigures {
    let mut all = RunFigures::default();
    for (name, value) in runs.iter().filter_map(|run| run.figures.get(nth)) {
        all.name.clone_from(name);
        match value {
            Some(ObjectiveValue::LatencyNs(ns)) => all.latency_ns.push(*ns),
            Some(ObjectiveValue::FailedShare(share)) => all.failed_share.push(*share),
            None => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::{Arrivals, Pace};

    use super::*;

    fn record() -> RunRecord {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        record.plan.drive.pace = Pace::Rate(Rate { per_s: 1000.0, arrivals: Arrivals::Uniform });
        let summary = record.summary.as_mut().unwrap();
        (summary.committed, summary.rolled_back, summary.failed, summary.duration_s) = (10_000, 0, 0, 10.0);
        (summary.late, summary.skipped) = (0, 0);
        record.status = Status::Complete;
        record
    }

    fn judged(record: &RunRecord, intervals: &str, objective: &str) -> Measured {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("intervals.csv"), intervals).unwrap();
        judge(record, directory.path(), &[Objective::parse(objective).unwrap()]).unwrap()
    }

    fn series(medians: &[u64]) -> String {
        let rows = medians.iter().map(|p50| format!("measure,0,1,9,{p50},{p50}\n"));
        let header = "phase,start_s,end_s,committed,response_latency_ns_p50,response_latency_ns_max";
        format!("{header}\nramp,0,1,9,9,9\n{}", rows.collect::<String>())
    }

    #[test]
    fn a_margin_is_bound_over_figure() {
        let mut record = record();
        record.summary.as_mut().unwrap().response_latency_ns.as_mut().unwrap().p99 = 5_000_000;
        assert_eq!(judged(&record, "", "p99 < 10ms").seen, Seen::Margin(2f64.ln()));
        record.summary.as_mut().unwrap().failed = 200;
        let kind = &mut record.transactions[0];
        (kind.committed, kind.rolled_back, kind.failed) = (10_000, 0, 200);
        record.status = Status::Invalid;
        assert_eq!(judged(&record, "", "p99 < 10ms").seen, Seen::Overloaded);
        let kind = record.transactions[0].name.clone();
        for objective in ["errors < 1%".to_owned(), format!("{kind} errors < 1%")] {
            let Seen::Margin(margin) = judged(&record, "", &objective).seen else { panic!("failures are counted") };
            assert!((margin - (0.01_f64 / (200.0 / 10_200.0)).ln()).abs() < 1e-9, "{objective}");
        }
    }

    #[test]
    fn a_kind_of_transactions_is_judged_by_its_own_figures_and_by_nothing_if_it_did_not_end() {
        let mut record = record();
        let name = record.transactions[0].name.clone();
        let objective = format!("{name} p99 < 10ms");
        record.transactions[0].response_latency_ns.as_mut().unwrap().p99 = 20_000_000;
        let missed = judged(&record, "", &objective);
        assert_eq!(missed.seen, Seen::Margin(0.5f64.ln()));
        record.transactions[0].response_latency_ns.as_mut().unwrap().p99 = 40_000_000;
        let point = summed_up(9.0, "broken", &[missed, judged(&record, "", &objective)]);
        let figure = KindFigure { name: format!("{name} p99"), latency_ns: Some(3e7), failed_share: None };
        assert_eq!(point.of_kinds, [figure]);
        assert_eq!(
            (point.of_runs[0].name.as_str(), &*point.of_runs[0].latency_ns),
            (&*format!("{name} p99"), &[2e7, 4e7][..])
        );

        (record.transactions[0].response_latency_ns, record.transactions[0].service_latency_ns) = (None, None);
        let directory = tempfile::tempdir().unwrap();
        let reported = judge(&record, directory.path(), &[Objective::parse(&objective).unwrap()]).unwrap_err();
        assert!(reported.contains(&format!("no {name} ended")), "{reported}");
        // An overload needs no figure.
        record.summary.as_mut().unwrap().skipped = 150;
        assert_eq!(judged(&record, "", &objective).seen, Seen::Overloaded);
    }

    #[test]
    fn a_schedule_that_is_not_kept_is_overload() {
        let mut record = record();
        record.summary.as_mut().unwrap().committed = 9_850;
        let run = judged(&record, "", "max < 1h");
        assert_eq!(
            (run.seen, run.overload.as_deref()),
            (Seen::Overloaded, Some("98.5 % of the offered rate were achieved"))
        );
        // Random variation of Poisson arrivals is no overload.
        record.plan.drive.pace = Pace::Rate(Rate { per_s: 1000.0, arrivals: Arrivals::Poisson });
        assert!(judged(&record, "", "max < 1h").overload.is_none());
        record.summary.as_mut().unwrap().skipped = 150;
        assert!(judged(&record, "", "max < 1h").overload.is_some_and(|why| why.contains("1.5 %")));
    }

    #[test]
    fn a_queue_that_grows_is_overload_and_one_that_does_not_is_none() {
        let mut record = record();
        record.summary.as_mut().unwrap().service_latency_ns.as_mut().unwrap().p50 = 1_000_000;
        let grown = judged(&record, &series(&[1, 2, 3, 4, 5, 6].map(|n| n * 3_000_000)), "max < 1h");
        assert!(grown.overload.is_some_and(|why| why.contains("the queue grows")));
        for level in [[3, 4, 3, 4, 3, 4], [9, 1, 1, 1, 1, 9], [1, 1, 9, 9, 1, 1]] {
            assert!(
                judged(&record, &series(&level.map(|n| n * 3_000_000)), "max < 1h").overload.is_none(),
                "{level:?}"
            );
        }
        assert!(judged(&record, &series(&[1_000_000, 9_000_000]), "max < 1h").overload.is_none(), "too few to tell");
    }
}
