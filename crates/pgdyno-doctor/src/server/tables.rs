//! Dead rows and statistics of the database's tables.

use pgdyno_net::{Admin, AdminError};
use pgdyno_text::units;

use super::ask::{self, Row};
use crate::finding::Finding;

/// Tables with many dead rows, the worst first.
const DEAD: &str = "SELECT format('%I.%I', schemaname, relname), n_dead_tup, n_live_tup FROM pg_stat_user_tables \
     WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup ORDER BY n_dead_tup DESC LIMIT 3";
/// Large tables without statistics.
const UNKNOWN: &str = "SELECT format('%I.%I', s.schemaname, s.relname) FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid \
     WHERE s.last_analyze IS NULL AND s.last_autoanalyze IS NULL AND c.relpages > 1000 AND c.relkind = 'r' \
     AND NOT EXISTS (SELECT FROM pg_statistic t WHERE t.starelid = c.oid) ORDER BY c.relpages DESC LIMIT 3";

pub(super) fn check(admin: &mut Admin) -> Result<Vec<Finding>, AdminError> {
    let mut found = Vec::new();
    if let Some(rows) = ask::rows(admin, DEAD)? {
        found.push(dead(&rows));
    }
    // A role that may not read statistics of columns cannot see whether there are any.
    if let Some(rows) = ask::rows(admin, UNKNOWN)? {
        found.push(unknown(&rows));
    }
    Ok(found)
}

fn dead(rows: &[Row]) -> Finding {
    let reported = |row: &Row| format!("{} has {} dead rows", ask::text(row, 0), units::grouped(ask::number(row, 1)));
    if rows.is_empty() {
        return Finding::passed("dead-rows", "few");
    }
    Finding::passed("dead-rows", rows.iter().map(reported).collect::<Vec<_>>().join("; ")).warning(
        "Queries read them, too, and vacuum will work beside a run.",
        "VACUUM (ANALYZE) these tables before you measure.",
    )
}

fn unknown(rows: &[Row]) -> Finding {
    if rows.is_empty() {
        return Finding::passed("statistics", "all large tables have them");
    }
    let names: Vec<_> = rows.iter().map(|row| ask::text(row, 0)).collect();
    Finding::passed("statistics", format!("none of {}", names.join(", "))).warning(
        "The planner guesses the number of rows, and plans change as soon as autovacuum has analyzed them.",
        "ANALYZE before you measure.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn tables_are_named() {
        let row = |values: &[&str]| values.iter().map(|value| Some((*value).to_owned())).collect::<Row>();
        assert_eq!([dead(&[]).severity, unknown(&[]).severity], [FindingSeverity::Passed; 2]);
        assert_eq!(dead(&[row(&["public.t", "20000", "5"])]).figure, "public.t has 20,000 dead rows");
        assert_eq!(unknown(&[row(&["public.t"]), row(&["public.u"])]).figure, "none of public.t, public.u");
    }
}
