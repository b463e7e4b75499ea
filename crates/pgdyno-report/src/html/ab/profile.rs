//! The profiles of both sides: the functions that changed, and the flame graph of the difference.

use pgdyno_results::AbRecord;
use pgdyno_text::units::{count, us};

use crate::ab::functions::{self, FunctionTime};
use crate::flame;
use crate::html::markup::Html;
use crate::html::profile::flame_graph;

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
    let summary = format!("flame graph of {} samples of A and {} of B", count(a), count(b));
    flame_graph(&summary, &flame::difference(record), html);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(a: &[(&str, u64)], b: &[(&str, u64)]) -> String {
        let mut record = AbRecord::default();
        record.profile.frequency_hz = 100;
        for (side, stacks) in [a, b].into_iter().enumerate() {
            let stacks = stacks.iter().map(|(stack, samples)| ((*stack).to_owned(), *samples)).collect();
            record.profile.add(side, stacks, 1000.0);
        }
        let mut html = Html::default();
        profile(&record, &mut html);
        html.into_string()
    }

    #[test]
    fn functions_that_changed_are_a_table_also_those_that_one_side_alone_calls() {
        let page =
            section(&[("postgres;old", 50), ("postgres;<f>", 100)], &[("postgres;new", 200), ("postgres;<f>", 100)]);
        let cells = |name: &str, a: &str, b: &str, change: &str| {
            format!("<td>{name}</td><td class=\"n\">{a}</td><td class=\"n\">{b}</td><td class=\"n\">{change}</td>")
        };
        for part in [cells("new", "0.000", "2,000", "+2,000"), cells("old", "500", "0.000", "-500")] {
            assert!(page.contains(&part), "{part} is not in {page}");
        }
        assert!(page.contains("<title>&lt;f&gt;: 1,000 → 1,000 µs") && !page.contains("<f>"), "{page}");
        assert!(!page.contains("<title>old: "), "a box of no width: {page}");
    }

    #[test]
    fn equal_profiles_change_no_function_and_one_side_alone_is_not_shown() {
        let stacks = [("postgres;scan", 100)];
        assert!(section(&stacks, &stacks).contains("No function's CPU time"));
        assert_eq!(section(&stacks, &[]) + &section(&[], &stacks) + &section(&[], &[]), "");
    }
}
