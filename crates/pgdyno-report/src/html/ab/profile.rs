//! The profiles of both sides: the functions that changed, and the flame graph of the difference.

use pgdyno_results::AbRecord;
use pgdyno_text::units::{count, ms};

use crate::ab::functions::{self, FunctionTime};
use crate::flame;
use crate::html::markup::Html;

/// Rows of functions at most.
const FUNCTIONS_MAX: usize = 20;

/// Writes the functions whose CPU time changed, and the flame graph, folded, if both sides have a profile.
pub(super) fn profile(record: &AbRecord, html: &mut Html) {
    let samples = |of: fn(&pgdyno_results::AbStack) -> u64| record.profile.stacks.iter().map(of).sum::<u64>();
    let (a, b) = (samples(|stack| stack.a), samples(|stack| stack.b));
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
            "<p class=\"note\">CPU time that functions of the server take themselves in each transaction, ms:</p>\n",
        ),
    };
    let row = |function: &FunctionTime| {
        let [a, b] = [function.a_ns, function.b_ns].map(|ns| ms(ns.round() as u64));
        let sign = if function.change_ns() < 0.0 { '-' } else { '+' };
        vec![function.name.clone(), a, b, format!("{sign}{}", ms(function.change_ns().abs().round() as u64))]
    };
    if !changed.is_empty() {
        let rows: Vec<_> = changed.iter().take(FUNCTIONS_MAX).map(row).collect();
        html.table(&[("", false), ("A", true), ("B", true), ("change", true)], &rows);
    }
    html.raw("<p class=\"note\">A box is as wide as its share of B's samples, above the function that called it. Red functions take ");
    html.raw("more CPU time themselves in a transaction of B than in one of A, blue ones less. Point at a box for its times.</p>\n");
    html.raw("<details><summary>").text(&format!("flame graph of {} samples of A and {} of B", count(a), count(b)));
    html.raw("</summary>\n<div class=\"flame\">");
    html.drawing(&flame::difference(&record.profile, &title(record))).raw("</div></details>\n");
}

/// Returns the title of the flame graph.
#[must_use]
pub fn title(record: &AbRecord) -> String {
    format!("{}, red: more CPU time on B", super::title(record))
}
