//! What held the server back: ranked, each with the figures that it stands on.

use pgdyno_results::{FindingRecord, RunRecord};

use super::markup::Html;
use crate::units::percent;

pub(super) fn findings(record: &RunRecord, html: &mut Html) {
    if record.findings.is_empty() {
        return;
    }
    html.heading("What held the server back");
    html.raw("<ol class=\"findings\">\n");
    for finding in &record.findings {
        one(finding, html);
    }
    html.raw("</ol>\n<p class=\"note\">Ranked by about the share of the clients' time that went there.</p>\n");
}

fn one(finding: &FindingRecord, html: &mut Html) {
    let share = finding.weight.clamp(0.0, 1.0);
    html.raw("<li><p><b>").text(&finding.text).raw("</b></p>");
    html.raw("<svg class=\"bar\" role=\"img\" aria-label=\"weight ").text(&percent(share)).raw("\"><title>weight ");
    html.text(&percent(share)).raw("</title><rect class=\"rail\" height=\"6\" rx=\"2\" width=\"100%\"/>");
    html.raw("<rect height=\"6\" rx=\"2\" width=\"").text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg>");
    html.list(finding.evidence.iter().map(String::as_str));
    if let Some(advice) = &finding.advice {
        html.raw("<p class=\"advice\">").text(advice).raw("</p>");
    }
    html.raw("</li>\n");
}
