//! What a query cannot show on small or large data, and why one returns nothing.

use super::queries::Form;
use crate::query_set::NAMES;
use crate::query_set::selection::Selection;

/// The fewest warehouses for which query 19, which names warehouses 1 to 5, does all of its work.
const WAREHOUSES_OF_Q19: u64 = 5;

/// From here on query 20 is empty nearly always. Of each item 15 units are ordered by warehouse, 10.5 of which count in form `full`,
/// because they are delivered; twice the largest stock of one warehouse is 200. Drawn with the distributions of a load, it has rows with
/// a chance of 4 % (`full`) and 1 %.
fn warehouses_of_q20(form: Form) -> u64 {
    match form {
        Form::Full => 25,
        Form::Citus => 18,
    }
}

/// Returns why query `query` may return no rows, or one NULL.
pub(super) fn why_no_rows(query: usize, form: Form, warehouses: u64) -> Option<&'static str> {
    Some(match query {
        3 => "no order of customers in states A… is undelivered",
        5 | 7 | 8 | 9 => "no line joins the nations or items asked for: the data is small",
        11 => {
            "no item has more than 0.5 % of the orders of German suppliers' items: stock has none before a run, and from \
             about 30 warehouses on they spread over too many items"
        }
        17 => "all loaded lines have quantity 5: it needs orders of a run",
        20 if warehouses >= warehouses_of_q20(form) => {
            "on so many warehouses more is ordered of each item than twice the stock of one warehouse, nearly always"
        }
        20 => "few items begin with co, and on small data none of them has a German supplier with much stock",
        21 => "loaded lines were delivered at the entry of their order: it needs deliveries of a run",
        22 => "every customer has an order: it is always empty",
        _ => return None,
    })
}

/// Returns warnings about parameters of the queries in a run that has none. `has_asked_for_none` is whether the transactions
/// were turned off, too.
pub(super) fn of_no_streams(given: &[(bool, &str)], has_asked_for_none: bool) -> Vec<String> {
    let named: Vec<_> = given.iter().filter(|(is_given, _)| *is_given).map(|(_, option)| *option).collect();
    let mut advice = Vec::new();
    if !named.is_empty() {
        let has = if named.len() == 1 { "has" } else { "have" };
        advice.push(format!("{} {has} no effect with --streams 0: no queries run", named.join(" and ")));
    }
    if has_asked_for_none {
        advice.push("-D transactions=false has no effect with --streams 0: there is nothing else to run".to_owned());
    }
    advice
}

/// Returns warnings about queries that mean less on so many warehouses.
pub(super) fn of_size(warehouses: u64, selection: Selection) -> Vec<String> {
    let mut advice = Vec::new();
    if warehouses < WAREHOUSES_OF_Q19 && selection.has(19) {
        let name = NAMES[18];
        advice.push(format!(
            "{name} names warehouses 1 to {WAREHOUSES_OF_Q19}: with {warehouses} it does less work than with more"
        ));
    }
    advice
}
