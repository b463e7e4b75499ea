//! What a comparison says, on the page: the verdict, the figures with their changes, and in what the sides differ.

use super::change::Scale;
use super::markup::Html;
use crate::compare::{Comparison, Side, Verdict, words};
use crate::metric::value_text;

pub(super) fn comparison(comparison: &Comparison, html: &mut Html) {
    html.raw("<section id=\"figures\">\n").raw(class(comparison.verdict)).raw("<b>");
    html.text(&words::verdict(comparison)).raw("</b></p>\n");
    if let Some(limit) = words::limit(comparison) {
        html.raw("<p><b>Limit</b>: ").text(&limit).raw("</p>\n");
    }
    changes(comparison, html);
    sides(&comparison.sides, html);
    html.list(comparison.notes.iter().map(String::as_str)).raw("</section>\n");
    differences(comparison, html);
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "<p class=\"verdict good all\">",
        Verdict::Slower | Verdict::NotComparable => "<p class=\"verdict bad all\">",
        Verdict::NoDifference | Verdict::CannotTell => "<p class=\"verdict\">",
    }
}

fn changes(comparison: &Comparison, html: &mut Html) {
    let ends = comparison.figures.iter().flat_map(|figure| match &figure.change {
        Some(change) => vec![change.low, change.high],
        None => vec![figure.new / figure.base],
    });
    let scale = Scale::of(ends);
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"changes\"><thead><tr>",
    );
    let share = format!("{} interval", words::share(comparison.confidence));
    let columns = [("", false), ("BASE", true), ("NEW", true), ("change", true), ("", false), (share.as_str(), true)];
    for (name, number) in columns.into_iter().chain([("verdict", false)]) {
        html.raw(if number { "<th class=\"n\" scope=\"col\">" } else { "<th scope=\"col\">" }).text(name).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for figure in &comparison.figures {
        let ratio = figure.new / figure.base;
        html.raw("<tr><th scope=\"row\">").text(figure.metric.title()).raw("</th>");
        let (base, new) = (value_text(&figure.metric, figure.base), value_text(&figure.metric, figure.new));
        for cell in [base, new, words::signed(ratio)] {
            html.raw("<td class=\"n\">").text(&cell).raw("</td>");
        }
        html.raw("<td class=\"picture\">");
        let tone = match figure.verdict {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            _ => "open",
        };
        scale.draw(tone, ratio, figure.change.as_ref().map(|change| [change.low, change.high]), html);
        html.raw("</td><td class=\"n\">").text(&words::interval(figure)).raw("</td><td>");
        html.text(figure.verdict.name()).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"note\">The picture: the line in the middle is no change; the bar is the interval, ");
    let [low, high] = scale.ends();
    html.text(&format!("its dot what was seen. Its ends are {low} and {high}."));
    html.raw("</p>\n");
}

fn sides(sides: &[Side; 2], html: &mut Html) {
    for (name, side) in ["BASE", "NEW"].iter().zip(sides) {
        html.raw("<p><b>").text(name).raw("</b>: ").text(&words::runs(side)).raw("</p>\n");
        for (run, why) in &side.left_out {
            html.raw("<p class=\"bad\"><b>left out</b>: ").text(&format!("{run} {why}")).raw("</p>\n");
        }
    }
}

fn differences(comparison: &Comparison, html: &mut Html) {
    html.raw("<section id=\"differences\">\n").heading("In what they differ");
    if comparison.differences.is_empty() {
        html.raw("<p>In nothing that is known: the same plan, server, driver and settings.</p>\n");
    }
    let row = |d: &crate::compare::Difference| {
        let work = if d.is_decisive { "different work" } else { "" };
        vec![d.group.name().to_owned(), d.name.clone(), d.base.join(" or "), d.new.join(" or "), work.to_owned()]
    };
    let columns = [("", false), ("", false), ("BASE", false), ("NEW", false), ("", false)];
    html.table(&columns, &comparison.differences.iter().map(row).collect::<Vec<_>>()).raw("</section>\n");
}
