//! The figures of both sides and their changes.

use jiff::Timestamp;
use pgdyno_measure::compare::{Change, Direction, Estimate, Held, INTERVALS_MIN, Latencies, Timed};

use pgdyno_results::RecordMetric;

use super::{ChangeVerdict, CompareOptions, ComparedRun, Figure};

/// Returns every figure that both sides have, that of the verdict first. One run of each side has a verdict only where the
/// options says how runs vary.
pub(super) fn figures(
    base: &mut [ComparedRun],
    new: &mut [ComparedRun],
    first: RecordMetric,
    options: &CompareOptions,
) -> Vec<Figure> {
    let confidence = options.confidence;
    let latencies = match (&mut *base, &mut *new) {
        ([base], [new]) => Some((latencies(base), latencies(new))),
        _ => None,
    };
    // TPM and QPS follow the others: they are shown where they are asked for.
    let of_workloads = RecordMetric::of_workloads(base.iter().chain(&*new).map(|run| &run.record));
    let others = RecordMetric::comparable(of_workloads).filter(|m| *m != first && !["tpm", "qps"].contains(&m.name()));
    let figure = |metric: RecordMetric| {
        let values =
            |side: &[ComparedRun]| side.iter().map(|run| metric.value(&run.record)).collect::<Option<Vec<_>>>();
        let (from, to) = (values(base)?, values(new)?);
        let change = match (&*base, &*new, &latencies) {
            ([base], [new], Some((from, to))) => of_single_runs(&metric, (base, from), (new, to), options),
            _ => in_turns(base, new, &metric, confidence).or_else(|| Change::of_runs(&from, &to, confidence)),
        };
        let (base, new) = (mean(&from), mean(&to));
        // The record's own figures are the finer ones; their uncertainty is that of the series.
        let change = change.map(|c| {
            let shift = new / base / c.ratio;
            Change { ratio: c.ratio * shift, low: c.low * shift, high: c.high * shift, ..c }
        });
        let is_known = latencies.is_none() || options.run_noise.is_some();
        let verdict = change.filter(|_| is_known).map_or(ChangeVerdict::Undecided, |change| verdict(&change, &metric));
        Some(Figure { metric, base, new, change, verdict })
    };
    std::iter::once(first.clone()).chain(others).filter_map(figure).collect()
}

fn of_single_runs(
    metric: &RecordMetric,
    (base, base_latencies): (&ComparedRun, &Latencies),
    (new, new_latencies): (&ComparedRun, &Latencies),
    options: &CompareOptions,
) -> Option<Change> {
    let change = if let Some(percent) = metric.percentile() {
        Latencies::change(base_latencies, new_latencies, percent / 100.0, options.confidence)?
    } else {
        let estimate = |run: &ComparedRun| Estimate::of_intervals(&metric.by_interval(&run.series));
        Change::between(&estimate(base)?, &estimate(new)?, options.confidence)
    };
    Some(options.run_noise.map_or(change, |deviation| change.with_run_noise(deviation, options.confidence)))
}

/// Returns the change with a drift over time taken out, where runs of both sides were done in turns.
pub(super) fn in_turns(
    base: &[ComparedRun],
    new: &[ComparedRun],
    metric: &RecordMetric,
    confidence: f64,
) -> Option<Change> {
    let timed = |run: &ComparedRun| {
        let at: Timestamp = run.record.started_at.parse().ok()?;
        Some(Timed { at_s: at.as_millisecond() as f64 / 1e3, value: metric.value(&run.record)? })
    };
    let side = |runs: &[ComparedRun]| runs.iter().map(timed).collect::<Option<Vec<_>>>();
    Change::in_turns(&side(base)?, &side(new)?, confidence)
}

/// Takes the latencies out of the series: of an hour they are a hundred megabytes.
fn latencies(run: &mut ComparedRun) -> Latencies {
    Latencies::new(
        run.series.intervals.iter_mut().map(|(_, responses)| std::mem::take(&mut responses.response_ns)).collect(),
    )
}

/// Returns the geometric mean: that of the logarithms, which runs are compared by.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Returns the sample standard deviation of several values.
pub(crate) fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

fn verdict(change: &Change, metric: &RecordMetric) -> ChangeVerdict {
    match (change.direction(), metric.is_latency()) {
        (Direction::Unknown, _) => ChangeVerdict::NoDifference,
        (Direction::Up, false) | (Direction::Down, true) => ChangeVerdict::Faster,
        (Direction::Down, false) | (Direction::Up, true) => ChangeVerdict::Slower,
    }
}

/// Judges whether NEW is slower by no more than `loss_max`: less throughput, or more latency. `tried` is how many runs the larger
/// side has: as many did not decide it, so it takes more.
pub(super) fn held(change: &Change, metric: &RecordMetric, loss_max: f64, confidence: f64, tried: usize) -> Held {
    let held = if metric.is_latency() {
        // Of latencies the inverse is judged: what falls when they rise.
        let Change { ratio, low, high, variance_of_one } = *change;
        let inverse = Change { ratio: 1.0 / ratio, low: 1.0 / high, high: 1.0 / low, variance_of_one };
        Held::judge(&inverse, 1.0 / (1.0 + loss_max), confidence)
    } else {
        Held::judge(change, 1.0 - loss_max, confidence)
    };
    match held {
        Held::Unknown { runs: Some(runs) } => Held::Unknown { runs: Some(runs.max(tried as u32 + 1)) },
        held => held,
    }
}

/// Returns the reason for a verdict without an interval.
pub(super) fn no_interval(base: &[ComparedRun], new: &[ComparedRun], options: &CompareOptions) -> String {
    if base.len() == 1 && new.len() == 1 && options.run_noise.is_none() {
        return "one run of each side does not show how much runs differ; run both several times in turns, or say it with \
                --run-noise"
            .to_owned();
    }
    let few = |run: &&ComparedRun| RecordMetric::tps().by_interval(&run.series).len() < INTERVALS_MIN;
    match base.iter().chain(new).find(few) {
        Some(run) if run.series.intervals.is_empty() => {
            format!(
                "the intervals of {} are not there: intervals.csv is neither beside its record nor in its run directory",
                run.record.id
            )
        }
        Some(run) => format!(
            "{} has {} whole intervals, and an interval of confidence needs {INTERVALS_MIN}; run longer, or several times",
            run.record.id,
            RecordMetric::tps().by_interval(&run.series).len()
        ),
        None => "too few transactions are beyond this percentile, its latencies fluctuate too slowly for so few intervals, or there is no latency.hlog".to_owned(),
    }
}
