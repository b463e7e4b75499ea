//! For a pull request.

use std::io::{self, Write};

use pgdyno_text::TextStyle;
use pgdyno_text::units::ms;
use pgdyno_untrusted::MarkdownText;

use super::{Comparison, account, words};
use crate::metric::value_text;

pub(super) fn render(comparison: &Comparison, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### pgdyno compare: {}\n", comparison.verdict.name())?;
    writeln!(out, "{}\n", MarkdownText(&words::verdict(comparison)))?;
    if let Some(limit) = words::limit(comparison) {
        writeln!(out, "Limit: {}\n", MarkdownText(&limit))?;
    }
    writeln!(out, "| | BASE | NEW | change | {} interval | |", words::share(comparison.confidence))?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | --- |")?;
    for figure in &comparison.figures {
        let (base, new) = (value_text(&figure.metric, figure.base), value_text(&figure.metric, figure.new));
        let (change, verdict) = (words::signed(figure.new / figure.base), figure.verdict.name());
        let title = figure.metric.title().to_string();
        let title = MarkdownText(&title);
        writeln!(out, "| {title} | {base} | {new} | {change} | {} | {verdict} |", words::interval(figure))?;
    }
    writeln!(out)?;
    if !comparison.tasks.list.is_empty() {
        let title = words::share(comparison.confidence);
        let stage = MarkdownText(&comparison.tasks.stage);
        writeln!(out, "| {stage} | BASE ms | NEW ms | change | {title} interval | |")?;
        writeln!(out, "| --- | ---: | ---: | ---: | ---: | --- |")?;
        for task in &comparison.tasks.list {
            let (base, new) = (ms(task.base_ns as u64), ms(task.new_ns as u64));
            let (change, interval) = (words::signed(task.new_ns / task.base_ns), words::interval_of(task.change));
            let name = MarkdownText(&task.name);
            writeln!(out, "| {name} | {base} | {new} | {change} | {interval} | {} |", task.verdict.name())?;
        }
        writeln!(out)?;
    }
    if let Some(why) = account::why(&comparison.clients_time) {
        writeln!(out, "Why: {}.\n", MarkdownText(&why))?;
    }
    if !comparison.differences.is_empty() {
        writeln!(out, "| | differs | BASE | NEW |\n| --- | --- | --- | --- |")?;
        for difference in &comparison.differences {
            let values = |values: &[String]| MarkdownText(&values.join(" or ")).to_string();
            let mark = if difference.is_decisive { " (different work)" } else { "" };
            let (from, to) = (values(&difference.base), values(&difference.new));
            let name = MarkdownText(&difference.name);
            writeln!(out, "| {} | {name}{mark} | {from} | {to} |", difference.group.name())?;
        }
        writeln!(out)?;
    }
    if let Some(plans) = &comparison.plans {
        writeln!(out, "Plans: {}.\n", MarkdownText(&plans.summary()))?;
        if !plans.changed.is_empty() {
            writeln!(out, "| query | time | plan |\n| --- | --- | --- |")?;
        }
        for change in &plans.changed {
            let changes =
                change.changes.iter().map(|line| MarkdownText(line).to_string()).collect::<Vec<_>>().join("<br>");
            writeln!(out, "| {} | {} | {changes} |", MarkdownText(&change.query), change.times())?;
        }
        if !plans.changed.is_empty() {
            writeln!(out)?;
        }
    }
    for (name, side) in ["BASE", "NEW"].iter().zip(&comparison.sides) {
        writeln!(out, "- {name}: {}", MarkdownText(&words::runs(side)))?;
        for (run, why) in &side.left_out {
            writeln!(out, "- **left out of {name}**: {} {}", MarkdownText(run), MarkdownText(why))?;
        }
    }
    for note in &comparison.notes {
        writeln!(out, "- note: {}", MarkdownText(note))?;
    }
    Ok(())
}
