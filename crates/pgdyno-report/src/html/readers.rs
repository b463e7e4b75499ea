//! The target and its readers as a table.

use pgdyno_results::RunRecord;

use super::markup::Html;
use crate::Extent;
use crate::readers::{FIRST, columns, notes, rows};

/// Writes the section, if the run had readers.
pub(super) fn readers(record: &RunRecord, html: &mut Html) {
    let Some(readers) = &record.readers else { return };
    html.raw("<section id=\"readers\">\n").heading("Target and readers");
    let columns = columns(record, Extent::Full);
    let head: Vec<_> =
        std::iter::once((FIRST, false)).chain(columns.iter().map(|name| (name.as_str(), true))).collect();
    let cells: Vec<Vec<String>> = rows(record, Extent::Full)
        .into_iter()
        .map(|(name, cells)| std::iter::once(name).chain(cells).collect())
        .collect();
    html.table(&head, &cells);
    for note in notes(readers) {
        html.raw("<p>").text(&note).raw(".</p>\n");
    }
    html.raw("</section>\n");
}
