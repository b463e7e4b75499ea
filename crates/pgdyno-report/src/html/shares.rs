//! Statements as the server counts them: the difference of `pg_stat_statements` over the measured window.

use pgdyno_results::{SampleTable, Samples};
use pgdyno_samples::{SampleColumn, statements};
use pgdyno_text::units::{bytes, count, percent};
use pgdyno_text::wrap::one_line;

use super::markup::Html;

/// Maximum number of statements in the table.
const STATEMENTS_MAX: usize = 25;

/// Maximum number of characters of a statement's text.
const TEXT_MAX: usize = 400;

pub(super) fn statements(samples: &Samples, html: &mut Html) {
    let table = samples.of(statements::SOURCE);
    let time = |row: &[String]| number(table, row, statements::TOTAL_EXEC_TIME_MS).unwrap_or(0.0);
    let all: f64 = table.rows().iter().map(|(_, row)| time(row)).sum();
    if all <= 0.0 {
        return;
    }
    html.heading("Statements as the server counts them");
    html.raw("<p class=\"note\">Growth of pg_stat_statements in the measured window, with the statements of all sessions in this ");
    html.raw("database. Time is the server's own, without network and driver.</p>\n");
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"statements\"><thead><tr>");
    html.raw("<th scope=\"col\">statement</th><th scope=\"col\" class=\"n\">share</th>");
    for name in ["calls", "mean ms", "rows", "from buffers", "blocks read", "blocks dirtied", "temporary blocks", "WAL"]
    {
        html.raw("<th scope=\"col\" class=\"n\">").text(name).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    let mut rows: Vec<&[String]> = table.rows().iter().map(|(_, row)| row.as_slice()).collect();
    rows.sort_by(|a, b| time(b).total_cmp(&time(a)));
    for row in rows.iter().take(STATEMENTS_MAX) {
        let share = time(row) / all;
        html.raw("<tr><td><code>").text(&text(table.cell(row, statements::QUERY).unwrap_or("?"))).raw("</code>");
        html.raw("<svg class=\"bar\" aria-hidden=\"true\"><rect height=\"6\" rx=\"2\" width=\"");
        html.text(&format!("{:.2}%", share * 100.0)).raw("\"/></svg></td><td class=\"n\">").text(&percent(share));
        for cell in figures(table, row) {
            html.raw("</td><td class=\"n\">").text(&cell);
        }
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    if let Some(left) = rows.len().checked_sub(STATEMENTS_MAX).filter(|left| *left > 0) {
        html.raw("<p>").text(&format!("{left} more stand in samples/statements.csv.")).raw("</p>\n");
    }
}

fn number(table: &SampleTable, row: &[String], column: SampleColumn) -> Option<f64> {
    table.cell(row, column)?.parse().ok()
}

/// Returns the text in one line of limited length.
fn text(query: &str) -> String {
    let line = one_line(query);
    match line.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

fn figures(table: &SampleTable, row: &[String]) -> [String; 8] {
    let of = |column| number(table, row, column);
    let whole = |column| of(column).map_or_else(|| "–".to_owned(), |n: f64| count(n.max(0.0) as u64));
    let ratio =
        of(statements::SHARED_BLKS_HIT).zip(of(statements::SHARED_BLKS_READ)).filter(|(hit, read)| hit + read > 0.0);
    [
        whole(statements::CALLS),
        of(statements::MEAN_EXEC_TIME_MS).map_or_else(|| "–".to_owned(), |ms| format!("{ms:.3}")),
        whole(statements::ROWS),
        ratio.map_or_else(|| "–".to_owned(), |(hit, read)| percent(hit / (hit + read))),
        whole(statements::SHARED_BLKS_READ),
        whole(statements::SHARED_BLKS_DIRTIED),
        whole(statements::TEMP_BLKS_WRITTEN),
        of(statements::WAL_BYTES).map_or_else(|| "–".to_owned(), |n| bytes(n.max(0.0) as u64)),
    ]
}
