//! What a comparison says, on the page: the verdict, the figures with their changes, and in what the sides differ.

use pgdyno_measure::compare::Change;
use pgdyno_results::{AbTime, time_part_title};
use pgdyno_text::brief::percent;
use pgdyno_text::units::ms;

use super::change::Scale;
use super::mark::VerdictMark;
use super::markup::Html;
use super::sentence_case;
use crate::compare::{ChangeVerdict, ComparedSide, Comparison, Figure, TaskChange, account, words};
use crate::metric::value_text;

/// Differences beyond this number are only counted beside the verdict.
const DIFFERENCES_MAX: usize = 3;

/// Writes the verdict, what was compared, and the figures with their changes.
pub(super) fn answer(comparison: &Comparison, html: &mut Html) {
    let mark = mark(comparison.verdict);
    html.raw("<section id=\"figures\">\n<div class=\"card trust ").raw(mark.class()).raw("\">\n<p class=\"mark\">");
    mark.draw(html);
    html.raw("<b>").text(&sentence_case(&words::verdict(comparison))).raw("</b></p>\n");
    if let Some(limit) = words::limit(comparison) {
        html.raw("<p><b>Limit</b>: ").text(&limit).raw("</p>\n");
    }
    if let Some(why) = account::why(&comparison.clients_time) {
        html.raw("<p><b>Why</b>: ").text(&why).raw("</p>\n");
    }
    sides(&comparison.sides, html);
    html.raw("<p><b>They differ in</b> ").text(&differences_in_short(comparison)).raw("</p>\n</div>\n");
    changes(comparison, html);
    html.raw("</section>\n");
}

/// Writes what a reader must know about the comparison, and all differences.
pub(super) fn details(comparison: &Comparison, html: &mut Html) {
    if !comparison.notes.is_empty() {
        html.heading("Before you rely on it").list(comparison.notes.iter().map(String::as_str));
    }
    tasks(comparison, html);
    clients_time(comparison, html);
    differences(comparison, html);
    plans(comparison, html);
}

fn mark(verdict: ChangeVerdict) -> VerdictMark {
    match verdict {
        ChangeVerdict::Faster => VerdictMark::Faster,
        ChangeVerdict::Slower => VerdictMark::Slower,
        ChangeVerdict::NoDifference => VerdictMark::Equal,
        ChangeVerdict::Undecided => VerdictMark::Unknown,
        ChangeVerdict::NotComparable => VerdictMark::NotUsable,
    }
}

/// Returns the first differences: `shared_buffers 1GB → 4GB, clients 16 → 32, and 5 more`.
fn differences_in_short(comparison: &Comparison) -> String {
    let all = &comparison.differences;
    if all.is_empty() {
        return "nothing that is known: the same plan, server, driver and settings".to_owned();
    }
    let mut parts: Vec<String> = all.iter().take(DIFFERENCES_MAX).map(words::difference).collect();
    let more = all.len().saturating_sub(DIFFERENCES_MAX);
    if more > 0 {
        parts.push(format!("and {more} more, listed below"));
    }
    parts.join("; ")
}

/// A figure of both sides.
struct ChangeRow<'a> {
    title: &'a str,
    base: String,
    new: String,
    ratio: f64,
    change: Option<Change>,
    verdict: ChangeVerdict,
}

impl<'a> From<&'a Figure> for ChangeRow<'a> {
    fn from(figure: &'a Figure) -> Self {
        Self {
            title: figure.metric.title(),
            base: value_text(&figure.metric, figure.base),
            new: value_text(&figure.metric, figure.new),
            ratio: figure.new / figure.base,
            change: figure.change,
            verdict: figure.verdict,
        }
    }
}

impl<'a> From<&'a TaskChange> for ChangeRow<'a> {
    fn from(task: &'a TaskChange) -> Self {
        Self {
            title: &task.name,
            base: format!("{} ms", ms(task.base_ns as u64)),
            new: format!("{} ms", ms(task.new_ns as u64)),
            ratio: task.new_ns / task.base_ns,
            change: task.change,
            verdict: task.verdict,
        }
    }
}

fn changes(comparison: &Comparison, html: &mut Html) {
    let rows: Vec<ChangeRow<'_>> = comparison.figures.iter().map(ChangeRow::from).collect();
    table_of_changes(&rows, comparison.confidence, html);
}

/// Writes the tasks of a stage, such as the queries of a set, with their changes.
fn tasks(comparison: &Comparison, html: &mut Html) {
    let Some(summary) = comparison.tasks.summary() else { return };
    html.raw("<section id=\"tasks\">\n").heading("Tasks").raw("<p>").text(&sentence_case(&summary)).raw(".</p>\n");
    let rows: Vec<ChangeRow<'_>> = comparison.tasks.list.iter().map(ChangeRow::from).collect();
    table_of_changes(&rows, comparison.confidence, html);
    html.raw("</section>\n");
}

fn table_of_changes(rows: &[ChangeRow<'_>], confidence: f64, html: &mut Html) {
    let ends = rows.iter().flat_map(|row| match &row.change {
        Some(change) => vec![change.low, change.high],
        None => vec![row.ratio],
    });
    let scale = Scale::of(ends);
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"changes\"><thead><tr>",
    );
    let share = format!("{} interval", words::share(confidence));
    let columns = [("", false), ("BASE", true), ("NEW", true), ("change", true), ("", false), (share.as_str(), true)];
    for (name, number) in columns.into_iter().chain([("verdict", false)]) {
        html.raw(if number { "<th class=\"n\" scope=\"col\">" } else { "<th scope=\"col\">" }).text(name).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for row in rows {
        html.raw("<tr><th scope=\"row\">").text(row.title).raw("</th>");
        for cell in [&row.base, &row.new, &words::signed(row.ratio)] {
            html.raw("<td class=\"n\">").text(cell).raw("</td>");
        }
        html.raw("<td class=\"picture\">");
        let tone = match row.verdict {
            ChangeVerdict::Faster => "faster",
            ChangeVerdict::Slower => "slower",
            _ => "open",
        };
        scale.draw(tone, row.ratio, row.change.map(|change| [change.low, change.high]), html);
        html.raw("</td><td class=\"n\">").text(&words::interval_of(row.change)).raw("</td><td>");
        html.text(row.verdict.name()).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"note\">Dot: the change that was measured. Bar: its interval. Middle line: no change. ");
    let [low, high] = scale.ends();
    html.text(&format!("The scale goes from {low} to {high}."));
    html.raw("</p>\n");
}

/// Writes the parts of the clients' time of both sides.
fn clients_time(comparison: &Comparison, html: &mut Html) {
    if comparison.clients_time.is_empty() {
        return;
    }
    html.raw("<section id=\"clients-time\">\n").heading("The clients' time");
    let row = |part: &AbTime| {
        vec![
            time_part_title(&part.name).to_owned(),
            percent(part.a_share),
            percent(part.b_share),
            account::change(part),
        ]
    };
    let columns = [("", false), ("BASE", true), ("NEW", true), ("change in each transaction", true)];
    html.table(&columns, &comparison.clients_time.iter().map(row).collect::<Vec<_>>()).raw("</section>\n");
}

/// Writes the queries whose plans changed.
fn plans(comparison: &Comparison, html: &mut Html) {
    let Some(plans) = &comparison.plans else { return };
    html.raw("<section id=\"plans\">\n").heading("Plans");
    html.raw("<p>").text(&sentence_case(&plans.summary())).raw(".</p>\n");
    let row =
        |change: &crate::compare::PlanChange| vec![change.query.clone(), change.times(), change.changes.join("; ")];
    let columns = [("query", false), ("time, BASE → NEW", false), ("what changed in its plan", false)];
    html.table(&columns, &plans.changed.iter().map(row).collect::<Vec<_>>()).raw("</section>\n");
}

fn sides(sides: &[ComparedSide; 2], html: &mut Html) {
    for (name, side) in ["BASE", "NEW"].iter().zip(sides) {
        html.raw("<p><b>").text(name).raw("</b>: ").text(&words::runs(side)).raw("</p>\n");
        for (run, why) in &side.left_out {
            html.raw("<p class=\"bad\"><b>left out</b>: ").text(&format!("{run} {why}")).raw("</p>\n");
        }
    }
}

fn differences(comparison: &Comparison, html: &mut Html) {
    html.raw("<section id=\"differences\">\n").heading("Differences");
    if comparison.differences.is_empty() {
        html.raw("<p>None is known.</p>\n");
    }
    let row = |d: &crate::compare::FactDifference| {
        let work = if d.is_decisive { "different work" } else { "" };
        vec![d.group.name().to_owned(), d.name.clone(), d.base.join(" or "), d.new.join(" or "), work.to_owned()]
    };
    let columns = [("", false), ("", false), ("BASE", false), ("NEW", false), ("", false)];
    html.table(&columns, &comparison.differences.iter().map(row).collect::<Vec<_>>()).raw("</section>\n");
}
