//! Tables are full of dead rows, or updates leave them in new places.

use pgdyno_results::FindingRecord;

use super::{UNKNOWN, with_settings};
use crate::facts::Facts;
use crate::tables::Table;
use crate::words::{number, percent};

/// Fewer dead rows than this are nothing.
const ROWS_MIN: f64 = 10_000.0;

/// A smaller share of a table's rows than this is as autovacuum leaves it.
const DEAD: f64 = 0.25;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let tables = Table::at_end(facts);
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
    let is_off = facts.setting("autovacuum") == Some("off");
    let naptime_s = facts.setting_seconds("autovacuum_naptime").unwrap_or(60.0);
    let hot = if worst.updates > 0.0 { ", or lower the table's fillfactor (for HOT updates)" } else { "" };
    let more_eager = format!("make autovacuum more eager{hot}");
    let (why, what) = if is_off {
        ("autovacuum is off", "turn autovacuum on")
    } else if worst.vacuums > 0.0 {
        ("vacuum did not keep up", &*more_eager)
    } else if facts.seconds() < naptime_s {
        (
            "the window was too short for autovacuum to come round",
            "run for longer, so that the figures have vacuum's part in them",
        )
    } else {
        ("autovacuum did not come", &*more_eager)
    };
    Some(FindingRecord {
        rule: "dead-rows".to_owned(),
        text: format!("{} of the rows of {} were dead at the end: {why}", percent(share(worst)), worst.name),
        weight: UNKNOWN,
        also_seen: true,
        evidence,
        advice: with_settings(
            facts,
            what,
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
