//! What a comparison says, on the page: the verdict, the figures with their changes, and in what the sides differ.

use super::markup::Html;
use crate::compare::{Comparison, Figure, Side, Verdict, words};
use crate::metric::value_text;

/// The picture of a change reaches at most so far from no change, as a share.
const REACH_MAX: f64 = 1.0;

/// It reaches at least so far: changes of a tenth of a percent are not to look like much.
const REACH_MIN: f64 = 0.02;

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
        Some(change) => [change.low, change.high].into_iter().filter(|end| *end > 0.0 && end.is_finite()).collect(),
        None => vec![figure.new / figure.base],
    });
    let reach = ends.map(|ratio| (ratio - 1.0).abs()).fold(REACH_MIN, f64::max).min(REACH_MAX);
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
        picture(figure, reach, html);
        html.raw("</td><td class=\"n\">").text(&words::interval(figure)).raw("</td><td>");
        html.text(figure.verdict.name()).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"note\">The picture: the line in the middle is no change; the bar is the interval, ");
    html.text(&format!("its dot what was seen. Its ends are {} and {}.", edge(1.0 - reach), edge(1.0 + reach)));
    html.raw("</p>\n");
}

fn edge(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}

/// The interval of a change on a line whose middle is no change.
fn picture(figure: &Figure, reach: f64, html: &mut Html) {
    let place = |ratio: f64| 50.0 + ((ratio - 1.0) / reach).clamp(-1.0, 1.0) * 48.0;
    let ratio = figure.new / figure.base;
    let tone = match figure.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        _ => "open",
    };
    html.raw("<svg class=\"change ").text(tone).raw("\" aria-hidden=\"true\">");
    html.raw("<rect class=\"rail\" x=\"0\" y=\"8\" width=\"100%\" height=\"2\"/><rect class=\"none\" x=\"50%\" y=\"1\" width=\"1\" height=\"16\"/>");
    if let Some(change) = &figure.change {
        let (low, high) = (place(change.low), place(change.high));
        html.raw("<rect class=\"reach\" y=\"5\" height=\"8\" rx=\"3\" x=\"").text(&format!("{low:.2}%"));
        html.raw("\" width=\"").text(&format!("{:.2}%", (high - low).max(0.6))).raw("\"/>");
    }
    html.raw("<circle cy=\"9\" r=\"3.5\" cx=\"").text(&format!("{:.2}%", place(ratio))).raw("\"/></svg>");
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
