//! The findings: ranked, each with its evidence.

use pgdyno_results::{FindingRecord, RunRecord, TimePartRecord};

use super::markup::Html;
use crate::units::percent;

pub(super) fn findings(record: &RunRecord, html: &mut Html) {
    if record.findings.is_empty() {
        return;
    }
    let (also_seen, ranked): (Vec<_>, Vec<_>) = record.findings.iter().partition(|finding| finding.also_seen);
    html.heading("What held the server back");
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
    if !record.clients_time.is_empty() {
        let row = |part: &TimePartRecord| vec![part.name.clone(), percent(part.share)];
        let rows: Vec<_> = record.clients_time.iter().map(row).collect();
        html.table(&[("The clients' time", false), ("share", true)], &rows);
    }
}

fn one(finding: &FindingRecord, html: &mut Html) {
    let share = finding.weight.clamp(0.0, 1.0);
    html.raw("<li><p><b>").text(&finding.text).raw("</b></p>");
    if !finding.also_seen {
        weight(share, html);
    }
    html.list(finding.evidence.iter().map(String::as_str));
    if let Some(advice) = &finding.advice {
        html.raw("<p class=\"advice\">").text(advice).raw("</p>");
    }
    html.raw("</li>\n");
}

/// Writes a bar of the finding's share.
fn weight(share: f64, html: &mut Html) {
    html.raw("<svg class=\"bar\" role=\"img\" aria-label=\"weight ").text(&percent(share)).raw("\"><title>weight ");
    html.text(&percent(share)).raw("</title><rect class=\"rail\" height=\"6\" rx=\"2\" width=\"100%\"/>");
    html.raw("<rect height=\"6\" rx=\"2\" width=\"").text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg>");
}
