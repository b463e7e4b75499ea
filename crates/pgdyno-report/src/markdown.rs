//! A report as Markdown, for a pull request or a page.

use std::io::{self, Write};

use pgdyno_results::RunRecord;
use pgdyno_text::TextStyle;
use pgdyno_untrusted::MarkdownText;

use crate::Extent;
use crate::describe::{line_of_place, line_of_server};
use crate::diagnosis;
use crate::faults;
use crate::groups;
use crate::guide;
use crate::latency_table::{latency_columns, latency_rows};
use crate::machine;
use crate::metric::headline;
use crate::readers;
use crate::rules;
use crate::text::objective_text;
use crate::{cost, cycle, trust};
use crate::{fidelity, ledger};

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", MarkdownText(&record.id))?;
    writeln!(out, "{} — **{}**\n", MarkdownText(&line_of_server(record)), record.status.name())?;
    if let Some(line) = line_of_place(record) {
        writeln!(out, "{}\n", MarkdownText(&line))?;
    }
    if let Some(reason) = &record.reason {
        writeln!(out, "{}\n", MarkdownText(reason))?;
    }
    let headline = headline(record);
    if !headline.is_empty() {
        writeln!(
            out,
            "| {} |",
            headline.iter().map(|h| MarkdownText(&h.name).to_string()).collect::<Vec<_>>().join(" | ")
        )?;
        writeln!(out, "|{}", " ---: |".repeat(headline.len()))?;
        writeln!(out, "| {} |\n", headline.iter().map(|h| h.value.as_str()).collect::<Vec<_>>().join(" | "))?;
    }
    if record.summary.is_some() {
        let (trust, reasons) = trust::lines(record, "see the warnings");
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", MarkdownText(&reasons.join("; "))) };
        writeln!(out, "Trust: **{}**{why}\n", trust.name())?;
    }
    for objective in &record.objectives {
        writeln!(out, "- {}", MarkdownText(&objective_text(objective)))?;
    }
    if !record.objectives.is_empty() {
        writeln!(out)?;
    }
    let rows = latency_rows(record, Extent::Full);
    if !rows.is_empty() {
        let columns = latency_columns(record, Extent::Full);
        writeln!(out, "| transaction | {} |", columns.join(" | "))?;
        writeln!(out, "| --- |{}", " ---: |".repeat(columns.len()))?;
        for (name, cells) in rows {
            writeln!(out, "| {} | {} |", MarkdownText(&name), cells.join(" | "))?;
        }
        writeln!(out)?;
    }
    if let Some(fidelity) = &record.fidelity {
        fidelity::markdown(fidelity, out)?;
    }
    if let Some(ledger) = &record.ledger {
        ledger::markdown(ledger, out)?;
    }
    faults::markdown(record, out)?;
    readers::markdown(record, out)?;
    groups::markdown(record, out)?;
    rules::markdown(record, out)?;
    guide::markdown(record, out)?;
    diagnosis::markdown(record, out)?;
    for line in machine::lines(record, Extent::Full).into_iter().chain(cycle::lines(record)).chain(cost::line(record)) {
        writeln!(out, "- {}", MarkdownText(&line))?;
    }
    for warning in record.warnings.iter() {
        writeln!(out, "- warning: {}", MarkdownText(&warning.to_string()))?;
    }
    Ok(())
}
