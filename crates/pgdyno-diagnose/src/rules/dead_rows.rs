//! Tables are full of dead rows, or updates leave them in new places.

use std::collections::BTreeMap;

use pgdyno_results::FindingRecord;
use pgdyno_samples::tables;

use super::{UNKNOWN, try_it};
use crate::facts::Facts;
use crate::words::{number, percent};

/// Fewer dead rows than this are nothing.
const ROWS_MIN: f64 = 10_000.0;

/// A smaller share of a table's rows than this is as autovacuum leaves it.
const DEAD: f64 = 0.25;

/// A table at the end of the window.
struct Table {
    name: String,
    dead: f64,
    live: f64,
    updates: f64,
    hot: f64,
    vacuums: f64,
}

/// The tables as they were last seen, with what was counted since they were first seen.
fn at_end(facts: &Facts<'_>) -> Vec<Table> {
    let samples = facts.samples.of(tables::SOURCE);
    let mut first = BTreeMap::new();
    let mut last = BTreeMap::new();
    for (at, row) in samples.rows() {
        if *at <= facts.until_s + 1.0 {
            let key = (
                samples.cell(row, tables::SCHEMA).unwrap_or_default(),
                samples.cell(row, tables::TABLE).unwrap_or_default(),
            );
            first.entry(key).or_insert(row);
            last.insert(key, row);
        }
    }
    let number = |row: &[String], column| samples.cell(row, column).and_then(|cell| cell.parse::<f64>().ok());
    let table = |(key, now): ((&str, &str), &Vec<String>)| {
        let grown = |column| Some(number(now, column)? - number(first.get(&key)?, column)?).filter(|n| *n >= 0.0);
        Some(Table {
            name: key.1.to_owned(),
            dead: number(now, tables::N_DEAD_TUP)?,
            live: number(now, tables::N_LIVE_TUP)?,
            updates: grown(tables::N_TUP_UPD).unwrap_or_default(),
            hot: grown(tables::N_TUP_HOT_UPD).unwrap_or_default(),
            vacuums: grown(tables::AUTOVACUUM_COUNT).unwrap_or_default()
                + grown(tables::VACUUM_COUNT).unwrap_or_default(),
        })
    };
    last.into_iter().filter_map(table).collect()
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let tables = at_end(facts);
    let share = |table: &Table| table.dead / (table.dead + table.live);
    let bloated = tables.iter().filter(|table| table.dead >= ROWS_MIN && share(table) >= DEAD);
    let worst = bloated.max_by(|a, b| a.dead.total_cmp(&b.dead))?;
    let mut evidence = vec![format!(
        "{}: {} dead and {} live rows at the end, vacuumed {} times meanwhile",
        worst.name,
        number(worst.dead),
        number(worst.live),
        worst.vacuums
    )];
    if worst.updates > 0.0 {
        evidence.push(format!("{} of its updates stayed on their page (HOT)", percent(worst.hot / worst.updates)));
    }
    Some(FindingRecord {
        rule: "dead-rows".to_owned(),
        text: format!(
            "{} of the rows of {} were dead at the end: vacuum did not keep up",
            percent(share(worst)),
            worst.name
        ),
        weight: UNKNOWN,
        evidence,
        advice: try_it(
            facts,
            "a lower fillfactor (for HOT updates), or a more eager autovacuum,",
            &["autovacuum", "autovacuum_vacuum_scale_factor", "autovacuum_vacuum_cost_limit", "autovacuum_naptime"],
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(dead: &str, live: &str) -> Run {
        let columns = [
            "schema",
            "table",
            "n_dead_tup",
            "n_live_tup",
            "n_tup_upd",
            "n_tup_hot_upd",
            "autovacuum_count",
            "vacuum_count",
        ];
        let then: &[&str] = &["public", "t", "0", live, "100", "50", "1", "0"];
        let now: &[&str] = &["public", "t", dead, live, "1100", "250", "1", "0"];
        Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)]).setting("autovacuum", "off")
    }

    #[test]
    fn a_table_of_dead_rows_is_told() {
        let found = run("60000", "40000").finds(look);
        assert!(found.text.starts_with("60 % of the rows of t were dead"), "{found:?}");
        assert_eq!(
            found.evidence,
            [
                "t: 60,000 dead and 40,000 live rows at the end, vacuumed 0 times meanwhile",
                "20 % of its updates stayed on their page (HOT)"
            ]
        );
        assert!(found.advice.unwrap().ends_with("(autovacuum is off)"));
    }

    #[test]
    fn a_few_dead_rows_are_nothing() {
        run("9000", "10").finds_nothing(look);
        run("20000", "900000").finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
