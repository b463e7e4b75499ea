//! For a pull request: the answer of each series, and its changes.

use std::io::{self, Write};

use pgdyno_text::TextStyle;
use pgdyno_text::units::plural;
use pgdyno_untrusted::MarkdownText;

use super::{Histories, History, change_lines, drift_text, headline, left_out};
use crate::compare::words::signed;

pub(super) fn render(histories: &Histories, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    if histories.series.is_empty() {
        writeln!(out, "no run has a place in a history")?;
    }
    histories.series.iter().try_for_each(|history| series(history, histories, out))?;
    match left_out(histories) {
        Some(line) => writeln!(out, "Left out: {}", MarkdownText(&line)),
        None => Ok(()),
    }
}

fn series(history: &History, histories: &Histories, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", MarkdownText(&history.name))?;
    let (metric, runs) = (history.metric.title().to_string(), plural(history.runs.len() as u64, "run"));
    let answer = headline(history, histories.confidence);
    writeln!(out, "**{}**, {} of {runs}\n", MarkdownText(&answer), MarkdownText(&metric))?;
    for change in history.changes.iter().rev() {
        let name = &history.runs[change.at].name;
        writeln!(out, "- {} at {}", signed(change.change.ratio), MarkdownText(name))?;
        for line in change_lines(history, change, histories.confidence) {
            writeln!(out, "  - {}", MarkdownText(&line))?;
        }
    }
    for drift in &history.drifts {
        writeln!(out, "- {}", MarkdownText(&drift_text(history, drift)))?;
    }
    if !(history.changes.is_empty() && history.drifts.is_empty()) {
        writeln!(out)?;
    }
    Ok(())
}
