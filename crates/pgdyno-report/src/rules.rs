//! The results of the workload's own rules.

use std::io::{self, Write};

use pgdyno_results::{RuleRecord, RunRecord};
use pgdyno_untrusted::MarkdownText;

/// Returns the word for a result.
fn verdict(rule: &RuleRecord) -> &'static str {
    match rule.holds {
        Some(true) => "ok",
        Some(false) => "NOT MET",
        None => "",
    }
}

/// Writes a line for each rule.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    if record.rules.is_empty() {
        return Ok(());
    }
    let width = |of: fn(&RuleRecord) -> usize| record.rules.iter().map(of).max().unwrap_or(0);
    let (name, rule) = (width(|r| r.name.chars().count()), width(|r| r.rule.chars().count()));
    for r in &record.rules {
        writeln!(out, "  {:<7}  {:<name$}  {:<rule$}  {}", verdict(r), r.name, r.rule, r.found)?;
    }
    writeln!(out)
}

/// Writes a table.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    if record.rules.is_empty() {
        return Ok(());
    }
    writeln!(out, "| rule | | found | |")?;
    writeln!(out, "| --- | --- | --- | --- |")?;
    for r in &record.rules {
        let [name, rule, found] = [&r.name, &r.rule, &r.found].map(|text| MarkdownText(text));
        writeln!(out, "| {name} | {rule} | {found} | {} |", verdict(r))?;
    }
    writeln!(out)
}
