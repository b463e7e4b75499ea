//! For a person at a terminal.

use std::io::{self, Write};

use pgdyno_measure::compare::Held;
use pgdyno_results::time_part_title;
use pgdyno_text::TextStyle;
use pgdyno_text::brief::percent;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::ms;
use pgdyno_text::wrap;

use super::{ChangeVerdict, Comparison, account, words};
use crate::metric::value_text;

/// Columns before the changes of a plan.
const PLAN_INDENT: usize = 7;

/// Maximum number of parts of the clients' time that are shown; the JSON has all.
const PARTS_MAX: usize = 5;

/// Values longer than this are cut: the whole is in the JSON.
const VALUE_MAX: usize = 60;

pub(super) fn render(comparison: &Comparison, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    for (name, side) in ["BASE", "NEW "].iter().zip(&comparison.sides) {
        writeln!(out, "{} {}", paint.bold(name), words::runs(side))?;
    }
    for side in &comparison.sides {
        for (run, why) in &side.left_out {
            writeln!(out, "{} {run} {why}", paint.red("left out:"))?;
        }
    }
    writeln!(out)?;
    differences(comparison, &paint, out)?;
    table(comparison, out)?;
    clients_time(comparison, out)?;
    plans(comparison, &paint, out)?;
    let verdict = words::verdict(comparison);
    let painted = |line: &str| match comparison.verdict {
        ChangeVerdict::Slower | ChangeVerdict::NotComparable => paint.red(line),
        _ => paint.bold(line),
    };
    writeln!(out)?;
    wrap::painted(out, "verdict: ", "verdict: ".len(), &verdict, painted)?;
    if let Some(why) = account::why(&comparison.clients_time) {
        wrap::hanging(out, "why: ", "why: ".len(), &why)?;
    }
    if let Some(limit) = words::limit(comparison) {
        let broken = comparison.limit.is_some_and(|limit| limit.held == Some(Held::No));
        let painted = |line: &str| if broken { paint.red(line) } else { line.to_owned() };
        wrap::painted(out, "limit: ", "limit: ".len(), &limit, painted)?;
    }
    for note in &comparison.notes {
        wrap::hanging(out, &format!("{} ", paint.yellow("note:")), "note: ".len(), note)?;
    }
    Ok(())
}

/// Writes the parts of the clients' time that changed most.
fn clients_time(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    if comparison.clients_time.is_empty() {
        return Ok(());
    }
    let mut rows = vec![["the clients' time", "BASE", "NEW", "change in each transaction", "", ""].map(str::to_owned)];
    rows.extend(comparison.clients_time.iter().take(PARTS_MAX).map(|part| {
        let (base, new) = (percent(part.a_share), percent(part.b_share));
        [time_part_title(&part.name).to_owned(), base, new, account::change(part), String::new(), String::new()]
    }));
    writeln!(out)?;
    aligned(&rows, out)
}

/// Writes the queries whose plans changed, with their times.
fn plans(comparison: &Comparison, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let Some(plans) = &comparison.plans else { return Ok(()) };
    writeln!(out, "\nplans: {}", plans.summary())?;
    let blank = " ".repeat(PLAN_INDENT);
    for change in &plans.changed {
        let name = format!("  {:<1$}", change.query, PLAN_INDENT - 2);
        writeln!(out, "{}{}", paint.bold(&name), change.times())?;
        for line in &change.changes {
            wrap::hanging(out, &blank, PLAN_INDENT, line)?;
        }
    }
    Ok(())
}

fn differences(comparison: &Comparison, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    if comparison.differences.is_empty() {
        return writeln!(out, "plan, settings, server and machine are the same on both sides\n");
    }
    writeln!(out, "differences")?;
    let name = comparison.differences.iter().map(|d| d.name.chars().count()).max().unwrap_or(0);
    for difference in &comparison.differences {
        let values = |values: &[String]| values.iter().map(|value| cut(value)).collect::<Vec<_>>().join(" or ");
        let mark = if difference.is_decisive { paint.red("  different work") } else { String::new() };
        let (from, to) = (values(&difference.base), values(&difference.new));
        writeln!(out, "  {:<7}  {:<name$}  {from} → {to}{mark}", difference.group.name(), difference.name)?;
    }
    writeln!(out)
}

fn cut(value: &str) -> String {
    if value.chars().count() <= VALUE_MAX {
        return value.to_owned();
    }
    value.chars().take(VALUE_MAX - 1).chain(['…']).collect()
}

fn table(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("{} interval", words::share(comparison.confidence));
    let mut rows = vec![["", "BASE", "NEW", "change", title.as_str(), ""].map(str::to_owned)];
    rows.extend(comparison.figures.iter().map(|figure| {
        [
            figure.metric.title().to_owned(),
            value_text(&figure.metric, figure.base),
            value_text(&figure.metric, figure.new),
            words::signed(figure.new / figure.base),
            words::interval(figure),
            figure.verdict.name().to_owned(),
        ]
    }));
    aligned(&rows, out)?;
    if comparison.tasks.list.is_empty() {
        return Ok(());
    }
    let mut rows =
        vec![[comparison.tasks.stage.as_str(), "BASE ms", "NEW ms", "change", title.as_str(), ""].map(str::to_owned)];
    rows.extend(comparison.tasks.list.iter().map(|task| {
        [
            task.name.clone(),
            ms(task.base_ns as u64),
            ms(task.new_ns as u64),
            words::signed(task.new_ns / task.base_ns),
            words::interval_of(task.change),
            task.verdict.name().to_owned(),
        ]
    }));
    writeln!(out)?;
    aligned(&rows, out)?;
    comparison.tasks.summary().map_or(Ok(()), |summary| writeln!(out, "\n{summary}"))
}

fn aligned(rows: &[[String; 6]], out: &mut dyn Write) -> io::Result<()> {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    for [name, base, new, change, interval, verdict] in rows {
        let [a, b, c, d, e] = widths;
        let line = format!("  {name:<a$}  {base:>b$}  {new:>c$}  {change:>d$}  {interval:>e$}  {verdict}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
