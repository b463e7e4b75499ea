//! The first screen of a run's page: the result, whether to trust it, throughput and response times over time, and what
//! limited the run.

use pgdyno_results::{FindingRecord, RunRecord};
use pgdyno_text::units::plain_plural;

use super::mark::VerdictMark;
use super::markup::Html;
use super::{findings, result, sentence_case};
use crate::describe::{line_of_drive, server_and_place};
use crate::metric::Headline;
use crate::{steady, trust};

/// Maximum number of reasons beside the verdict; the warnings below it have all.
const REASONS_MAX: usize = 3;

/// Writes clients, length, server and place in two lines below the title.
pub(super) fn subtitle(record: &RunRecord, html: &mut Html) {
    html.raw("<p class=\"sub\">").text(&line_of_drive(record)).raw("</p>\n<p class=\"sub\">");
    let server = record.server.as_ref().map_or_else(|| format!("target {}", record.plan.target), server_and_place);
    html.text(&server).raw("<span class=\"id\"> · run ").text(&record.id).raw("</span></p>");
}

/// Writes the whole screen but its charts, which the script puts into `#over-time`.
pub(super) fn first_screen(record: &RunRecord, html: &mut Html) {
    html.raw("<section id=\"figures\" aria-label=\"result\">\n");
    write_result(record, html);
    html.raw("<div class=\"answer\">\n");
    verdict(record, html);
    html.raw("<div id=\"over-time\"></div>\n");
    first_finding(record, html);
    html.raw("</div>\n</section>\n");
}

fn write_result(record: &RunRecord, html: &mut Html) {
    let figures = result::result(record);
    if figures.is_empty() {
        return;
    }
    html.raw("<dl class=\"result\">\n");
    for Headline { name, value, meaning } in figures {
        html.raw("<div><dt>").text(&name).raw("</dt><dd><b>").text(&value).raw("</b><small>").text(&meaning);
        html.raw("</small></dd></div>\n");
    }
    html.raw("</dl>\n");
}

/// Writes the verdict with its reasons; the warnings in full are folded.
pub(super) fn verdict(record: &RunRecord, html: &mut Html) {
    let trust = trust::of(record);
    let mark = VerdictMark::from(trust.degree());
    html.raw("<div class=\"card trust ").raw(mark.class()).raw("\" role=\"note\">\n<p class=\"mark\">");
    mark.draw(html);
    html.raw("<b>").text(&sentence_case(trust.degree().name())).raw("</b></p>\n");
    if trust.reasons.is_empty() {
        html.raw("<p>Nothing is known against these figures.</p>\n");
    }
    let reasons: Vec<String> = trust.reasons.iter().take(REASONS_MAX).map(|reason| unbroken(reason)).collect();
    html.list(reasons.iter().map(String::as_str));
    let steady: Vec<String> = record.summary.iter().flat_map(steady::lines).collect();
    if !record.warnings.is_empty() || !steady.is_empty() {
        html.raw("<details><summary>").text(&folded(record, trust.reasons.len())).raw("</summary>\n");
        let texts: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
        html.list(texts.iter().map(String::as_str));
        if !steady.is_empty() {
            let line = steady.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join("; ");
            html.raw("<p class=\"note\">").text(&line).raw("</p>\n");
        }
        html.raw("</details>\n");
    }
    html.raw("</div>\n");
}

/// Returns what is folded below the reasons.
fn folded(record: &RunRecord, reasons: usize) -> String {
    let more = reasons.saturating_sub(REASONS_MAX);
    let more = if more > 0 { format!("{}; ", plain_plural(more as u64, "more reason")) } else { String::new() };
    match record.warnings.len() {
        0 => format!("{more}how steady throughput was"),
        1 => format!("{more}1 warning in full"),
        n => format!("{more}{n} warnings in full"),
    }
}

fn first_finding(record: &RunRecord, html: &mut Html) {
    let Some(finding) = record.findings.first() else {
        // Without a diagnosis there is nothing to say.
        if !record.clients_time.is_empty() {
            html.raw("<div class=\"card finding\"><p class=\"label\">What limited the run</p>\n");
            html.raw("<p>No single cause stood out.</p></div>\n");
        }
        return;
    };
    html.raw("<div class=\"card finding\"><p class=\"label\">What limited the run</p>\n");
    one(finding, html);
    let more = record.findings.len() - 1;
    let more = match more {
        0 => "The figures behind it".to_owned(),
        1 => "The figures behind it, and 1 more finding".to_owned(),
        n => format!("The figures behind it, and {n} more findings"),
    };
    html.raw("<p class=\"further\"><a href=\"#findings\">").text(&more).raw("</a></p></div>\n");
}

fn one(finding: &FindingRecord, html: &mut Html) {
    html.raw("<p class=\"claim\"><b>").text(&unbroken(&sentence_case(&finding.text))).raw("</b></p>\n");
    if !finding.also_seen {
        findings::weight(finding, html);
    }
    if let Some(advice) = &finding.advice {
        html.raw("<p class=\"advice\"><b>Try:</b> ").text(advice).raw("</p>\n");
    }
}

/// Returns a text whose percentages stay in one line.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}
