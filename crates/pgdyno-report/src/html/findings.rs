//! The findings: ranked, each with its evidence.

use pgdyno_results::{Certainty, FindingRecord, LinkRecord, RunRecord, TimePartRecord, time_part_title};
use pgdyno_text::brief;
use pgdyno_text::units::percent;

use super::markup::Html;
use super::sentence_case;
use super::share_bar::{Share, bar, keys, of_time_part};

pub(super) fn findings(record: &RunRecord, html: &mut Html) {
    if record.findings.is_empty() {
        return;
    }
    let (also_seen, ranked): (Vec<_>, Vec<_>) = record.findings.iter().partition(|finding| finding.also_seen);
    html.heading("What limited the run");
    if !ranked.is_empty() {
        html.raw("<ol class=\"findings\">\n");
        ranked.into_iter().for_each(|finding| one(finding, html));
        html.raw("</ol>\n");
    }
    if !also_seen.is_empty() {
        html.raw("<p><b>Also seen</b></p>\n<ul class=\"findings\">\n");
        also_seen.into_iter().for_each(|finding| one(finding, html));
        html.raw("</ul>\n");
    }
    clients_time(&record.clients_time, html);
}

/// Writes where the clients' time went, as a bar with its parts.
fn clients_time(parts: &[TimePartRecord], html: &mut Html) {
    if parts.is_empty() {
        return;
    }
    let share = |part: &TimePartRecord| Share {
        words: format!("{} {}", time_part_title(&part.name), percent(part.share)),
        share: part.share,
        ink: of_time_part(&part.name),
    };
    let shares: Vec<Share> = parts.iter().map(share).collect();
    html.raw("<div class=\"machine\"><p><b>The clients' time</b></p>");
    bar("", &shares, html);
    keys(&shares, html);
    html.raw("</div>\n");
}

fn one(finding: &FindingRecord, html: &mut Html) {
    html.raw("<li><p><b>").text(&sentence_case(&finding.text)).raw("</b></p>");
    if !finding.also_seen {
        weight(finding, html);
    }
    if finding.chain.is_empty() {
        html.list(finding.evidence.iter().map(String::as_str));
    } else {
        chain(&finding.chain, html);
    }
    if let Some(advice) = &finding.advice {
        html.raw("<p class=\"advice\"><b>Try:</b> ").text(advice).raw("</p>");
    }
    html.raw("</li>\n");
}

/// Writes the links from the cause, which is the finding's text, to the clients' time.
fn chain(links: &[LinkRecord], html: &mut Html) {
    html.raw("<ul>");
    for (nth, link) in links.iter().enumerate() {
        let certainty = match link.certainty {
            Certainty::Measured => "measured",
            Certainty::Consistent => "estimated from counts",
            Certainty::Possible => "possible",
        };
        let text = if nth == 0 { String::new() } else { format!("{} ", sentence_case(&link.text)) };
        html.raw("<li>").text(&text).raw("<span class=\"note\">(").text(certainty).raw(")</span> ");
        html.text(&link.evidence.join("; ")).raw("</li>");
    }
    html.raw("</ul>");
}

/// Writes a bar of the clients' time that the finding explains, with the figure unless the finding's text has it.
pub(super) fn weight(finding: &FindingRecord, html: &mut Html) {
    let share = finding.weight.clamp(0.0, 1.0);
    let figure = percent(share);
    html.raw("<svg class=\"bar\" role=\"img\" aria-label=\"").text(&figure).raw(" of the clients' time\"><title>");
    html.text(&figure).raw(" of the clients' time</title><rect class=\"rail\" height=\"6\" rx=\"2\" width=\"100%\"/>");
    html.raw("<rect height=\"6\" rx=\"2\" width=\"").text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg>");
    // Texts have whole percents.
    if ![&figure, &brief::percent(share)].iter().any(|figure| finding.text.contains(*figure)) {
        html.raw("<p class=\"note\">").text(&figure).raw(" of the clients' time</p>\n");
    }
}
