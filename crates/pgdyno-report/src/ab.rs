//! An A/B experiment, rendered: the verdict first, then what it rests on.

use std::io::{self, Write};

use pgdyno_results::{AbRecord, AbTask, AbVerdict};
use pgdyno_text::units::{duration, plain_plural};
use pgdyno_text::wrap;
use pgdyno_untrusted::MarkdownText;

use crate::compare::words::{share, signed};
use crate::html;

/// Renders the record of an experiment.
pub type RenderExperiment = fn(&AbRecord, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderExperiment)] =
    &[("text", text), ("json", json), ("markdown", markdown), ("html", page)];

/// The renderer of a format.
#[must_use]
pub fn format(name: &str) -> Option<RenderExperiment> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, render)| *render)
}

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub fn page(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    html::ab::write(record, out)
}

/// `B is slower: TPS -5.2 %, 95 % interval -7.3 % to -3.1 %`.
pub(crate) fn verdict(record: &AbRecord) -> String {
    let ratio = |percent: f64| 1.0 + percent / 100.0;
    let metric = record.metric.to_uppercase();
    let measured = record.change_percent.zip(record.interval_percent).map(|(change, [low, high])| {
        format!(
            ": {metric} {}, {} interval {} to {}",
            signed(ratio(change)),
            share(record.confidence),
            signed(ratio(low)),
            signed(ratio(high))
        )
    });
    let measured = measured.unwrap_or_default();
    match record.verdict {
        AbVerdict::Faster => format!("B is faster than A{measured}"),
        AbVerdict::Slower => format!("B is slower than A{measured}"),
        AbVerdict::NoDifference => format!("no difference larger than {}{measured}", share(record.margin)),
        AbVerdict::Undecided => format!("cannot tell{measured}"),
    }
}

/// Names the servers that were measured, and written to.
fn targets(record: &AbRecord) -> Option<String> {
    let (a, b) = (record.a.target.as_ref()?, record.b.target.as_ref()?);
    Some(if a == b { format!("target: {a}") } else { format!("targets: {a}, and {b} of B") })
}

/// What the verdict rests on, and what more time would bring.
pub(crate) fn lines(record: &AbRecord) -> Vec<String> {
    let differs = |differs: &[String]| if differs.is_empty() { "as given".to_owned() } else { differs.join(", ") };
    let mut lines = vec![format!("A: {}", differs(&record.a.differs)), format!("B: {}", differs(&record.b.differs))];
    lines.extend(targets(record));
    lines.push(format!(
        "{} of four {} in turns{}, {} in all",
        plain_plural(record.units.len() as u64, "unit"),
        if record.whole_runs { "runs".to_owned() } else { format!("slices of {}", duration(record.slice_s)) },
        if record.restarts { ", both servers restarted before each" } else { "" },
        duration(record.spent_s)
    ));
    lines.extend(of_tasks(record));
    if let Some(noise) = record.noise_percent {
        lines.push(format!("noise: {noise:.1} % from unit to unit (standard deviation)"));
    }
    if record.verdict == AbVerdict::Undecided && !record.units.is_empty() {
        let each_s = record.spent_s / record.units.len() as f64;
        lines.push(match record.units_for_power {
            _ if record.looks == 0 => {
                format!(
                    "too few: the first verdict comes after five units; continue with `pgdyno ab --resume {}`",
                    record.id
                )
            }
            Some(units) => format!(
                "about {units} units ({}) decide in 4 of 5 cases, if the change is what was measured; continue with \
                 `pgdyno ab --resume {}`",
                duration(each_s * f64::from(units)),
                record.id
            ),
            None => "even 1,000 units would hardly decide it".to_owned(),
        });
    }
    if let Some(ended) = record.ended.as_deref().filter(|ended| *ended != "decided") {
        lines.push(match ended {
            "budget" => "ended: the budget is used up".to_owned(),
            "interrupted" => "ended: interrupted".to_owned(),
            failed => format!("ended: {failed}"),
        });
    }
    lines
}

/// What is shown of single tasks: a line for each that changed.
fn of_tasks(record: &AbRecord) -> Vec<String> {
    let of = |verdict: AbVerdict| record.tasks.iter().filter(move |task| task.verdict == verdict);
    let ratio = |percent: f64| 1.0 + percent / 100.0;
    let changed = |task: &AbTask| {
        let [low, high] = task.interval_percent;
        format!(
            "{} is {}: {}, interval {} to {}",
            task.name,
            task.verdict.name(),
            signed(ratio(task.change_percent)),
            signed(ratio(low)),
            signed(ratio(high))
        )
    };
    let mut lines: Vec<_> = of(AbVerdict::Slower).chain(of(AbVerdict::Faster)).map(changed).collect();
    let (all, shown) = (record.tasks.len(), lines.len());
    if all > 0 {
        let equal = of(AbVerdict::NoDifference).count();
        lines.push(format!(
            "of {all} tasks {shown} changed, {equal} by less than {}, and of {} it cannot tell; the intervals hold together, at \
             {} confidence",
            share(record.margin),
            all - shown - equal,
            share(record.confidence)
        ));
    }
    lines
}

fn text(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    wrap::wrapped(out, &format!("{}: {}", record.workload, verdict(record)), "  ")?;
    lines(record).iter().try_for_each(|line| wrap::hanging(out, "  ", 4, line))
}

fn markdown(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### pgdyno ab {}: {}\n", MarkdownText(&record.workload), record.verdict.name())?;
    writeln!(out, "**{}**\n", MarkdownText(&verdict(record)))?;
    lines(record).iter().try_for_each(|line| writeln!(out, "- {}", MarkdownText(line)))
}

fn json(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{AbSide, AbUnit};

    fn record() -> AbRecord {
        AbRecord {
            id: "x-ab-7".to_owned(),
            workload: "tpcb-like".to_owned(),
            a: AbSide { differs: vec!["shared_buffers=1GB".to_owned()], ..AbSide::default() },
            b: AbSide { differs: vec!["shared_buffers=8GB".to_owned()], ..AbSide::default() },
            slice_s: 2.0,
            spent_s: 300.0,
            margin: 0.02,
            confidence: 0.95,
            restarts: true,
            metric: "tps".to_owned(),
            verdict: AbVerdict::Faster,
            change_percent: Some(5.2),
            interval_percent: Some([3.1, 7.3]),
            noise_percent: Some(2.13),
            units: vec![AbUnit::default(); 10],
            ended: Some("decided".to_owned()),
            ..AbRecord::default()
        }
    }

    fn rendered(record: &AbRecord, name: &str) -> String {
        let mut out = Vec::new();
        format(name).unwrap()(record, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_servers_are_named() {
        let of = |target: &str| AbSide { target: Some(target.to_owned()), ..AbSide::default() };
        let one = AbRecord { a: of("host=db1"), b: of("host=db1"), ..record() };
        assert!(rendered(&one, "text").contains("\n  target: host=db1\n"));
        let two = AbRecord { b: of("db2"), ..one };
        assert!(rendered(&two, "text").contains("\n  targets: host=db1, and db2 of B\n"));
    }

    #[test]
    fn the_verdict_comes_first_with_its_interval() {
        assert_eq!(
            rendered(&record(), "text"),
            "tpcb-like: B is faster than A: TPS +5.2 %, 95 % interval +3.1 % to +7.3 %\n  \
             A: shared_buffers=1GB\n  B: shared_buffers=8GB\n  \
             10 units of four slices of 2.0 s in turns, both servers restarted before\n    each, 5 min 0 s in all\n  \
             noise: 2.1 % from unit to unit (standard deviation)\n"
        );
    }

    #[test]
    fn tasks_that_changed_are_named_with_their_intervals() {
        let task = |name: &str, change_percent, verdict| AbTask {
            name: name.to_owned(),
            change_percent,
            interval_percent: [change_percent - 2.0, change_percent + 2.0],
            verdict,
        };
        let record = AbRecord {
            whole_runs: true,
            tasks: vec![
                task("q1", -12.0, AbVerdict::Faster),
                task("q2", 0.1, AbVerdict::Undecided),
                task("q18", 30.0, AbVerdict::Slower),
            ],
            ..record()
        };
        let text = rendered(&record, "text");
        assert!(text.contains("10 units of four runs in turns"), "{text}");
        assert!(
            text.contains(
                "  q18 is slower: +30.0 %, interval +28.0 % to +32.0 %\n  q1 is faster: -12.0 %, interval -14.0 %"
            ),
            "{text}"
        );
        assert!(text.contains("of 3 tasks 2 changed, 0 by less than 2 %, and of 1 it cannot tell"), "{text}");
    }

    #[test]
    fn what_cannot_be_decided_says_what_more_time_would_bring() {
        let mut record = record();
        (record.verdict, record.ended) = (AbVerdict::Undecided, Some("budget".to_owned()));
        let text = rendered(&record, "text");
        assert!(text.contains("the first verdict comes after five units"), "{text}");
        (record.looks, record.units_for_power) = (3, Some(40));
        let text = rendered(&record, "markdown");
        assert!(text.contains("- about 40 units (20 min 0 s) decide in 4 of 5 cases"), "{text}");
        assert!(text.contains("pgdyno ab --resume x-ab-7"), "{text}");
        assert!(text.contains("- ended: the budget is used up"), "{text}");
    }
}
