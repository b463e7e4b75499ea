//! Damage and age that the catalog knows of.

use pgdyno_net::{Admin, AdminError};
use pgdyno_text::units;

use super::ask::{self, Row};
use crate::finding::Finding;

/// Not those that are being built, nor those of partitioned tables, which have no rows.
const INVALID: &str = "SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = indexrelid \
     WHERE NOT indisvalid AND c.relkind = 'i' \
     AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.relid = indrelid) ORDER BY 1 LIMIT 3";
const DAMAGE: &str = "SELECT coalesce(sum(checksum_failures), 0) FROM pg_stat_database";
/// The oldest transaction of this database, as a share of the age at which vacuum of all tables is forced.
const AGE: &str = "SELECT age(datfrozenxid), current_setting('autovacuum_freeze_max_age')::bigint FROM pg_database \
     WHERE datname = current_database()";
/// The version of the collations that indexes on text were built with, and the one of the system.
const COLLATION: &str = "SELECT datcollversion, pg_database_collation_actual_version(oid) FROM pg_database \
     WHERE datname = current_database() AND datcollversion IS NOT NULL";

pub(super) fn check(admin: &mut Admin) -> Result<Vec<Finding>, AdminError> {
    let mut found = Vec::new();
    if let Some(rows) = ask::rows(admin, INVALID)? {
        found.push(invalid(&rows));
    }
    if let Some(row) = ask::row(admin, DAMAGE)? {
        let failures = ask::number(&row, 0);
        let checksums = Finding::passed("checksums", units::plural(failures.max(0.0) as u64, "failure"))
            .measured(failures, "pages");
        found.push(if failures > 0.0 {
            checksums.error(
                "Pages were read that are not what was written: the disk or the memory is broken.",
                "Do not measure on this machine.",
            )
        } else {
            checksums
        });
    }
    if let Some(row) = ask::row(admin, AGE)? {
        found.push(age(ask::number(&row, 0), ask::number(&row, 1)));
    }
    if let Some(row) = ask::row(admin, COLLATION)? {
        let (built, actual) = (ask::text(&row, 0), ask::text(&row, 1));
        let version = Finding::passed("collation", format!("version {built}"));
        found.push(if built == actual || actual.is_empty() {
            version
        } else {
            Finding { figure: format!("built with version {built}, the system has {actual}"), ..version }.warning(
                "Indexes on text may be in another order than the server expects.",
                "REINDEX, then ALTER DATABASE … REFRESH COLLATION VERSION.",
            )
        });
    }
    Ok(found)
}

fn invalid(rows: &[Row]) -> Finding {
    if rows.is_empty() {
        return Finding::passed("indexes", "all valid");
    }
    let names: Vec<_> = rows.iter().map(|row| ask::text(row, 0)).collect();
    Finding::passed("indexes", format!("invalid: {}", names.join(", "))).warning(
        "Each write keeps them up to date, and no query uses them: a build of them (CONCURRENTLY) failed or was cancelled.",
        "Drop or REINDEX them.",
    )
}

/// Returns the finding about the age of a database and the age at which vacuum is forced, in transactions.
fn age(age: f64, forced: f64) -> Finding {
    let figure = format!(
        "{} transactions since the oldest, vacuum is forced at {}",
        units::grouped(age),
        units::grouped(forced)
    );
    let found = Finding::passed("wraparound", figure).measured(age, "transactions");
    if forced <= 0.0 || age < 0.9 * forced {
        return found;
    }
    found.warning(
        "The server is about to vacuum whole tables, also during a run.",
        "VACUUM (FREEZE) the database before you measure.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn damage_and_age_are_reported() {
        assert_eq!(invalid(&[]).severity, FindingSeverity::Passed);
        assert_eq!(invalid(&[vec![Some("t_idx".to_owned())]]).figure, "invalid: t_idx");
        assert_eq!(
            [age(1e6, 2e8), age(1.9e8, 2e8)].map(|found| found.severity),
            [FindingSeverity::Passed, FindingSeverity::Warning]
        );
    }
}
