//! The findings: ranked, each with its evidence.

use pgdyno_results::{Certainty, FindingRecord, LinkRecord, RunRecord, TimePartRecord, time_part_title};
use pgdyno_text::units::percent;

use super::markup::Html;
use super::sentence_case;

/// Number of colours of the style.
const COLOURS: usize = 8;

pub(super) fn findings(record: &RunRecord, html: &mut Html) {
    if record.findings.is_empty() {
        return;
    }
    let (also_seen, ranked): (Vec<_>, Vec<_>) = record.findings.iter().partition(|finding| finding.also_seen);
    html.heading("What limited the run");
    if !ranked.is_empty() {
        html.raw("<ol class=\"findings\">\n");
        ranked.into_iter().for_each(|finding| one(finding, html));
        html.raw("</ol>\n<p class=\"note\">Ranked by the share of the clients' time that went there.</p>\n");
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
    let share = |share: f64| format!("{:.2}%", share * 100.0);
    let words: Vec<String> =
        parts.iter().map(|part| format!("{} {}", time_part_title(&part.name), percent(part.share))).collect();
    html.raw("<div class=\"machine\"><p><b>The clients' time</b></p><svg class=\"shares\" role=\"img\" aria-label=\"");
    html.text(&words.join(", ")).raw("\"><rect class=\"idle\" width=\"100%\" height=\"100%\"/>");
    let mut from = 0.0;
    for (nth, part) in parts.iter().enumerate() {
        html.raw("<rect height=\"100%\" fill=\"").text(&colour(nth)).raw("\" x=\"").text(&share(from));
        html.raw("\" width=\"").text(&share(part.share)).raw("\"/>");
        from += part.share;
    }
    html.raw("</svg><ul class=\"keys\">");
    for (nth, words) in words.iter().enumerate() {
        html.raw("<li><svg class=\"key\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\" fill=\"");
        html.text(&colour(nth)).raw("\"/></svg>").text(words).raw("</li>");
    }
    html.raw("</ul></div>\n");
}

/// Returns a colour of the style.
fn colour(nth: usize) -> String {
    format!("var(--c{})", nth % COLOURS)
}

fn one(finding: &FindingRecord, html: &mut Html) {
    html.raw("<li><p><b>").text(&sentence_case(&finding.text)).raw("</b></p>");
    if !finding.also_seen {
        weight(finding.weight, html);
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

/// Writes a bar of the finding's share.
pub(super) fn weight(share: f64, html: &mut Html) {
    let share = share.clamp(0.0, 1.0);
    html.raw("<svg class=\"bar\" role=\"img\" aria-label=\"weight ").text(&percent(share)).raw("\"><title>weight ");
    html.text(&percent(share)).raw("</title><rect class=\"rail\" height=\"6\" rx=\"2\" width=\"100%\"/>");
    html.raw("<rect height=\"6\" rx=\"2\" width=\"").text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg>");
}
