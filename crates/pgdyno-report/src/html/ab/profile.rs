//! The profiles of both sides: the functions that changed, and the flame graph of the difference.

use pgdyno_results::AbRecord;
use pgdyno_text::units::count;

use crate::ab::functions::{self, FunctionTime, us};
use crate::flame;
use crate::html::markup::Html;

/// Rows of functions at most.
const FUNCTIONS_MAX: usize = 20;

/// Writes the functions whose CPU time changed, and the flame graph, folded, if both sides have a profile.
pub(super) fn profile(record: &AbRecord, html: &mut Html) {
    let [a, b] = record.profile.samples();
    if a == 0 || b == 0 {
        return;
    }
    html.heading("Profiles of the server");
    let changed = functions::changed(&record.profile);
    match changed.is_empty() {
        true => html.raw(
            "<p class=\"note\">No function's CPU time in a transaction changed by more than its samples scatter.</p>\n",
        ),
        false => html.raw(
            "<p class=\"note\">CPU time that functions of the server take themselves in each transaction, µs:</p>\n",
        ),
    };
    let row = |function: &FunctionTime| {
        let sign = if function.change_ns() < 0.0 { '-' } else { '+' };
        let change = format!("{sign}{}", us(function.change_ns().abs()));
        vec![function.name.clone(), us(function.a_ns), us(function.b_ns), change]
    };
    if !changed.is_empty() {
        let rows: Vec<_> = changed.iter().take(FUNCTIONS_MAX).map(row).collect();
        html.table(&[("", false), ("A", true), ("B", true), ("change", true)], &rows);
    }
    html.raw("<p class=\"note\">A box is as wide as its share of B's samples, above the function that called it. Red functions take ");
    html.raw("more CPU time themselves in a transaction of B than in one of A, blue ones less. What only A calls has no box. ");
    html.raw("Times are of a transaction: of shares, all would fall where one function becomes slower. Point at a box for its times.</p>\n");
    html.raw("<details><summary>").text(&format!("flame graph of {} samples of A and {} of B", count(a), count(b)));
    html.raw("</summary>\n<div class=\"flame\">");
    html.drawing(&flame::difference(&record.profile, &title(record))).raw("</div></details>\n");
}

/// Returns the title of the flame graph.
#[must_use]
pub fn title(record: &AbRecord) -> String {
    format!("{}, red: more CPU time on B", super::title(record))
}
