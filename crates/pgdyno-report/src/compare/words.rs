//! The words of a comparison, the same in every format.

use pgdyno_measure::compare::{Change, Held};
use pgdyno_plan::Pace;
use pgdyno_results::{RunRecord, compare_answers};
use pgdyno_text::units;

use super::{ChangeVerdict, CompareOptions, ComparedRun, ComparedSide, Comparison, FactDifference, Figure, figures};

/// The beginning of the note on a verdict by one figure.
pub(super) const BY_ONE: &str = "the verdict is by ";

/// A change in percent, with its sign: `+2.5 %`, `-0.04 %`, `+62,977 %`.
pub(crate) fn signed(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let text = match percent {
        p if p.abs() < 0.995 => format!("{p:+.2} %"),
        // A ratio is positive: only an increase can be so large.
        p if p >= 999.5 && p.is_finite() => format!("+{} %", units::count(p.round() as u64)),
        p => format!("{p:+.1} %"),
    };
    // Zero has no side.
    if text[1..].starts_with("0.00") { "0.00 %".to_owned() } else { text }
}

/// `+1.1 % to +3.9 %`, `at least +1.1 %` where one end is open, or nothing. Ends that say no more than that nothing is
/// known are not spelt out.
pub(crate) fn interval(figure: &Figure) -> String {
    interval_of(figure.change)
}

/// The same of any change.
pub(crate) fn interval_of(change: Option<Change>) -> String {
    let end = |ratio: f64| match ratio {
        _ if ratio < 0.01 => "below -99 %".to_owned(),
        _ if ratio > 11.0 => "above +1000 %".to_owned(),
        _ => signed(ratio),
    };
    change.map_or_else(String::new, |Change { low, high, .. }| match (low > 0.0, high.is_finite()) {
        (true, true) => format!("{} to {}", end(low), end(high)),
        (true, false) => format!("at least {}", end(low)),
        (false, _) => format!("at most {}", end(high)),
    })
}

/// A share in percent without needless zeros: `95 %`, `99.9 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// `clients 16 → 32`.
pub(crate) fn difference(difference: &FactDifference) -> String {
    let (from, to) = (difference.base.join(" or "), difference.new.join(" or "));
    if difference.base == difference.new {
        format!("{} {from} on both sides", difference.name)
    } else {
        format!("{} {from} → {to}", difference.name)
    }
}

/// `3 runs: a, b, c`, or the one.
pub(crate) fn runs(side: &ComparedSide) -> String {
    match side.runs.as_slice() {
        [run] => run.clone(),
        runs => format!("{} runs: {}", runs.len(), runs.join(", ")),
    }
}

/// Whether all runs had the same answers, of those that read the same rows as the first run of the base.
pub(super) fn answers(base: &[RunRecord], new: &[RunRecord]) -> Option<String> {
    let (first, others) = base.split_first()?;
    let (mut compared, mut differing) = (0, Vec::new());
    for (queries, other) in others.iter().chain(new).filter_map(|record| compare_answers(first, record)) {
        compared = compared.max(queries);
        differing.extend(other.into_iter().map(str::to_owned));
    }
    differing.sort_by_key(|query| (query.len(), query.clone()));
    differing.dedup();
    match (compared, differing.as_slice()) {
        (0, _) => None,
        (n, []) => Some(format!("all runs had the same answers to {n} queries, by digests of their rows")),
        (_, queries) => Some(format!(
            "runs that read the same rows had different answers to {}: one of them is wrong, and `pgdyno check {} --oracle \
             duckdb` can say which",
            queries.join(", "),
            first.plan.workload
        )),
    }
}

/// The verdict with what it stands on.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    let name = comparison.verdict.name();
    let Some(figure) = comparison.figures.first() else { return name.to_owned() };
    let metric = figure.metric.title();
    let seen = format!("{metric} {}", signed(figure.new / figure.base));
    match comparison.verdict {
        ChangeVerdict::NotComparable => format!("{name}: {}; --anyway gives a verdict nevertheless", comparison.reason),
        ChangeVerdict::Undecided => format!("{name}: {seen}, {}", comparison.reason),
        _ => {
            let sides = comparison.sides.each_ref().map(|side| side.runs.len());
            let of = if sides == [1, 1] {
                "of one run each".to_owned()
            } else {
                format!("of {} vs {} runs", sides[1], sides[0])
            };
            let side = |figure: &Figure| {
                let metric = figure.metric.title();
                let seen = format!("{metric} {}", signed(figure.new / figure.base));
                format!("{seen}, {} interval {}", share(comparison.confidence), interval(figure))
            };
            let other = comparison.other_side.as_deref();
            let other = comparison.figures.iter().find(|figure| Some(figure.metric.name()) == other);
            let sides: Vec<_> = std::iter::once(figure).chain(other).map(side).collect();
            format!("{name}: {}, {of}", sides.join("; "))
        }
    }
}

/// Returns the verdict on the limit.
pub(crate) fn limit(comparison: &Comparison) -> Option<String> {
    let limit = comparison.limit?;
    let loss = share(limit.loss_max);
    let several = comparison.sides.iter().any(|side| side.runs.len() > 1);
    Some(match limit.held {
        Some(Held::Yes) => format!("slower by {loss} at most: held, by the whole interval"),
        Some(Held::No) => format!("slower by {loss} at most: NOT held; the whole interval is beyond it"),
        Some(Held::Unknown { runs }) => {
            // What single runs hide would ask for more.
            let least = if several { "about" } else { "at least" };
            let runs = runs.map_or_else(
                || "even 1,000 runs of each side would hardly decide it".to_owned(),
                |runs| {
                    format!(
                        "{least} {runs} runs of each side decide it in 4 of 5 cases, if the change is what was seen"
                    )
                },
            );
            format!("slower by {loss} at most: cannot tell; the interval spans the limit. {runs}")
        }
        None => format!("slower by {loss} at most: cannot tell: {}", comparison.verdict.name()),
    })
}

/// Returns the notes for the reader.
pub(super) fn notes(
    base: &[ComparedRun],
    new: &[ComparedRun],
    figures: &[Figure],
    different_work: bool,
    options: &CompareOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    let Some((Figure { metric, .. }, others)) = figures.split_first() else { return notes };
    let all = || base.iter().chain(new).map(|run| &run.record);
    if different_work {
        notes.push("the runs did different work; --anyway asked for the verdict".to_owned());
    }
    if let Some(both) = base.iter().find(|run| new.iter().any(|other| other.record.id == run.record.id)) {
        notes.push(format!("{} is on both sides", both.record.id));
    }
    match (base.len(), new.len()) {
        (1, 1) => notes.push(match options.run_noise {
            None => "one run of each side: the intervals show how sure each run is of its own figures, second by second. The \
                     true uncertainty is larger, because runs differ"
                .to_owned(),
            Some(deviation) => format!(
                "one run of each side: the intervals take runs to vary by {} (--run-noise)",
                share(deviation)
            ),
        }),
        (1, _) | (_, 1) => {
            notes.push("the side of one run is taken to vary from run to run as the other side does".to_owned());
        }
        _ => {}
    }
    if figures::in_turns(base, new, metric, options.confidence).is_some() {
        notes.push("the runs were done in turns: a drift over time is taken out of the change".to_owned());
    } else if is_one_after_the_other(base, new) {
        notes.push(
            "every run of one side came before every run of the other: a drift of the machine would look like a change of the \
             server; run them in turns (A B B A)"
                .to_owned(),
        );
    }
    notes.push(format!(
        "{BY_ONE}{} alone; the others are for information: with this many metrics, one may differ by chance",
        metric.title()
    ));
    let unlisted: Vec<_> = others.iter().filter(|f| f.change.is_none()).map(|f| f.metric.name()).collect();
    if !unlisted.is_empty() {
        notes.push(format!(
            "no interval for {}: too few intervals or transactions beyond the percentile, fluctuations too slow, or no \
             latency.hlog",
            unlisted.join(", ")
        ));
    }
    let is_scheduled = all().any(|record| matches!(record.plan.drive.pace, Pace::Rate(_)));
    if is_scheduled && !metric.is_latency() {
        notes.push(
            "there is a rate: throughput is what was offered, as long as the server keeps up; compare latencies with \
             --metric p99"
                .to_owned(),
        );
    }
    let drifting: Vec<String> = all().filter_map(drift).collect();
    if !drifting.is_empty() {
        notes.push(format!("throughput drifts from first to last third of {}", drifting.join(", ")));
    }
    let mut warned = all().filter(|record| !record.warnings.is_empty());
    if let Some(first) = warned.next() {
        notes.push(format!(
            "{} of {} runs have warnings; {}: {}",
            warned.count() + 1,
            base.len() + new.len(),
            first.id,
            first.warnings[0]
        ));
    }
    notes
}

/// A run and its trend, where it has one.
fn drift(record: &RunRecord) -> Option<String> {
    let steady = record.summary.as_ref()?.steadiness.filter(|steady| steady.drifts)?;
    Some(format!("{} ({})", record.id, signed(1.0 + steady.trend)))
}

/// Returns true if several runs of each side were not done in turns.
fn is_one_after_the_other(base: &[ComparedRun], new: &[ComparedRun]) -> bool {
    // Times are RFC 3339 in UTC, which sort as text.
    let span = |side: &[ComparedRun]| {
        let times = || side.iter().map(|run| run.record.started_at.clone());
        times().min().zip(times().max())
    };
    let several = base.len() > 1 && new.len() > 1;
    let apart = |a: Option<(String, String)>, b: Option<(String, String)>| {
        a.zip(b).is_some_and(|((first, last), (other_first, other_last))| last < other_first || other_last < first)
    };
    several && apart(span(base), span(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_as_many_digits_as_they_need() {
        let shown = [0.9999, 1.004, 0.8, 3.5, 630.77, f64::INFINITY].map(signed);
        assert_eq!(shown, ["-0.01 %", "+0.40 %", "-20.0 %", "+250.0 %", "+62,977 %", "+inf %"]);
        assert_eq!(signed(1.00001), "0.00 %");
    }
}
