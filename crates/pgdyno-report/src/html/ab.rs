//! An A/B experiment as a page: the verdict, what it rests on, and each unit. It needs no script.

mod course;
mod profile;
mod responses;
mod stacks;

use std::io::{self, Write};

use pgdyno_results::{AbRecord, AbStatement, AbVerdict};
use pgdyno_text::wrap::one_line;

use super::head::study_page;
use super::mark::VerdictMark;
use super::markup::Html;
use super::sentence_case;
use crate::ab::words::{PARTS, Row, STATEMENTS, figures, lines, parts, sides, statement, verdict};
use crate::compare::words::signed;

/// Statements that are not folded.
const STATEMENTS_MAX: usize = 12;

/// Writes the page of an experiment.
///
/// # Errors
/// When `out` refuses it.
pub(crate) fn write(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    study_page(&title(record), &record.id, out, |html| body(record, html))
}

/// Returns the heading of its page.
#[must_use]
pub fn title(record: &AbRecord) -> String {
    format!("{}: A vs B", record.workload)
}

/// Writes what the page shows.
pub fn body(record: &AbRecord, html: &mut Html) {
    let mark = match record.verdict {
        AbVerdict::Faster => VerdictMark::Faster,
        AbVerdict::Slower => VerdictMark::Slower,
        AbVerdict::NoDifference => VerdictMark::Equal,
        AbVerdict::Undecided => VerdictMark::Unknown,
    };
    html.raw("<div class=\"card trust ").raw(mark.class()).raw("\">\n<p class=\"mark\">");
    mark.draw(html);
    html.raw("<b>").text(&sentence_case(&verdict(record))).raw("</b></p>\n<ul>");
    let sentences = lines(record).into_iter().map(|(label, line)| labelled(label, &line));
    for sentence in sides(record).into_iter().chain(sentences) {
        html.raw("<li>");
        with_code(&sentence, html);
        html.raw("</li>");
    }
    html.raw("</ul></div>\n");
    both_sides(record, html);
    responses::responses(&record.responses, html);
    clients_time(record, html);
    statements(record, html);
    plans(record, html);
    profile::profile(record, html);
    course::course(record, html);
    runs(record, html);
}

/// Returns a sentence with its label.
fn labelled(label: &str, line: &str) -> String {
    if label.is_empty() { sentence_case(line) } else { format!("{}: {line}", sentence_case(label)) }
}

/// Writes a sentence, in which what is between backticks is code.
fn with_code(sentence: &str, html: &mut Html) {
    for (nth, part) in sentence.split('`').enumerate() {
        match nth % 2 {
            0 => html.text(part),
            _ => html.raw("<code>").text(part).raw("</code>"),
        };
    }
}

const COLUMNS: [(&str, bool); 4] = [("", false), ("A", true), ("B", true), ("change", false)];

fn cells(rows: Vec<Row>) -> Vec<Vec<String>> {
    rows.into_iter().map(|row| vec![row.name, row.a, row.b, row.change]).collect()
}

/// The figures of both sides.
fn both_sides(record: &AbRecord, html: &mut Html) {
    let figures = cells(figures(record));
    if !figures.is_empty() {
        html.heading("Both sides").table(&COLUMNS, &figures);
    }
}

/// Where the clients' time of both sides went.
fn clients_time(record: &AbRecord, html: &mut Html) {
    if record.clients_time.is_empty() {
        return;
    }
    html.heading("The clients' time");
    stacks::stacks(&record.clients_time, html);
    let rows = cells(parts(record));
    html.raw("<p class=\"note\">").text(&sentence_case(PARTS)).raw(", of the parts that moved:</p>\n");
    html.table(&COLUMNS, &rows);
}

/// The time of each statement, those that changed most first.
fn statements(record: &AbRecord, html: &mut Html) {
    let mut statements: Vec<&AbStatement> = record.statements.iter().collect();
    if statements.is_empty() {
        return;
    }
    statements.sort_by(|x, y| y.change_ns().abs().total_cmp(&x.change_ns().abs()));
    html.heading("Statements").raw("<p class=\"note\">").text(&sentence_case(STATEMENTS));
    html.raw(". Intervals: 95 %, of each statement by itself.</p>\n");
    // Where a statement is of one transaction, its name is worth a column.
    let has_names = statements.iter().any(|one| one.transaction.is_some());
    let row = |one: &AbStatement| {
        let Row { a, b, change, .. } = statement(one);
        let sql = one_line(&one.sql);
        let name = has_names.then(|| one.transaction.clone().unwrap_or_default());
        std::iter::once(sql).chain(name).chain([a, b, change]).collect()
    };
    let name = has_names.then_some(("transaction", false));
    let columns =
        std::iter::once(("statement", false)).chain(name).chain([("A", true), ("B", true), ("change", false)]);
    let rows: Vec<Vec<String>> = statements.into_iter().map(row).collect();
    html.long_table(&columns.collect::<Vec<_>>(), &rows, STATEMENTS_MAX);
}

/// The plans that have another shape on B.
fn plans(record: &AbRecord, html: &mut Html) {
    if record.plans.is_empty() {
        return;
    }
    html.heading("Plans that changed");
    let rows: Vec<_> = record.plans.iter().map(|plan| vec![plan.statement.clone(), plan.changes.join("; ")]).collect();
    html.table(&[("statement", false), ("A → B", false)], &rows);
}

/// The runs of each unit, with links from a page beside the record.
fn runs(record: &AbRecord, html: &mut Html) {
    html.raw("<details><summary>The runs of each unit</summary>\n<ul>\n");
    for (nth, unit) in record.units.iter().enumerate() {
        html.raw("<li>").text(&format!("unit {}, {}", nth + 1, signed(unit.log_ratio.exp())));
        html.raw(", A:").run_links(&unit.runs.a).raw(", B:").run_links(&unit.runs.b).raw("</li>\n");
    }
    html.raw("</ul></details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{AbPlanChange, AbRuns, AbUnit};

    #[test]
    fn the_page_has_the_verdict_and_every_unit_and_nothing_of_a_name_is_markup() {
        let unit = |log_ratio, run: &str| {
            let runs = AbRuns { a: vec![run.to_owned()], b: Vec::new() };
            AbUnit { log_ratio, runs, ..AbUnit::default() }
        };
        let record = AbRecord {
            workload: "<b>".to_owned(),
            metric: "tps".to_owned(),
            id: "x-ab".to_owned(),
            verdict: AbVerdict::Undecided,
            statements: vec![AbStatement { sql: "UPDATE\n<t>".to_owned(), a_ns: 1e6, ..AbStatement::default() }],
            plans: vec![AbPlanChange {
                statement: "SELECT 1".to_owned(),
                changes: vec!["Seq Scan on t → Index Scan on t".to_owned()],
            }],
            looks: 0,
            confidence: 0.95,
            change_percent: Some(-5.0),
            interval_percent: Some([-7.0, -3.0]),
            units: vec![unit(-0.05, "run-1"), unit(-0.1, "run-2")],
            ..AbRecord::default()
        };
        let mut page = Vec::new();
        write(&record, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("-5.0 %") && page.contains("run-2"), "{page}");
        assert!(page.contains("&lt;b&gt;") && !page.contains("<h1><b>"), "{page}");
        assert!(page.contains("unit 2, -9.5 %") && page.contains("after unit 2: -7.2 %"), "{page}");
        assert!(page.contains("<code>pgdyno ab --resume x-ab</code>") && !page.contains('`'), "{page}");
        for part in ["<td>UPDATE &lt;t&gt;</td><td class=\"n\">1.00</td>", "Seq Scan on t → Index Scan on t"] {
            assert!(page.contains(part), "no {part} in {page}");
        }
    }
}
