//! Standbys and replication slots.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::ServerFacts;
use pgdyno_text::units;

use super::ask::{self, Row};
use crate::finding::Finding;

const STANDBYS: &str = "SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), \
     max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint FROM pg_stat_replication";
const SLOTS: &str = "SELECT slot_name, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint \
     FROM pg_replication_slots WHERE NOT active ORDER BY 2 DESC LIMIT 3";
const REPLAY: &str = "SELECT coalesce(pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), 0)::bigint";
/// A standby that is further behind than this, in bytes, does not keep up.
const FAR: f64 = (64_u64 << 20) as f64;

pub(super) fn check(admin: &mut Admin, facts: &ServerFacts) -> Result<Vec<Finding>, AdminError> {
    let mut found = Vec::new();
    if facts.in_recovery == Some(true) {
        if let Some(row) = ask::row(admin, REPLAY)? {
            found.push(lag("replay", "this standby", ask::number(&row, 0)));
        }
        return Ok(found);
    }
    if let Some(row) = ask::row(admin, STANDBYS)? {
        found.push(standbys(&row));
    }
    if let Some(rows) = ask::rows(admin, SLOTS)?.filter(|rows| !rows.is_empty()) {
        found.push(slots(&rows));
    }
    Ok(found)
}

fn standbys(row: &Row) -> Finding {
    let [all, synchronous, behind] = [0, 1, 2].map(|nth| ask::number(row, nth));
    if all == 0.0 {
        return Finding::passed("standbys", "none");
    }
    // Roles without pg_read_all_stats do not see it.
    if row.get(2).is_none_or(Option::is_none) {
        return Finding::passed("standbys", format!("{all:.0}; how far behind is hidden from this role"));
    }
    let found = lag("standbys", &format!("the slowest of {all:.0}"), behind);
    if synchronous == 0.0 {
        return found;
    }
    Finding { figure: format!("{}, {synchronous:.0} synchronous", found.figure), ..found }
}

/// Returns the finding about how far a standby is behind, in bytes of WAL.
fn lag(check: &'static str, who: &str, bytes: f64) -> Finding {
    let figure = format!("{who} is {} behind", units::bytes(bytes.max(0.0) as u64));
    let found = Finding::passed(check, figure).measured(bytes, "bytes");
    if bytes <= FAR {
        return found;
    }
    found.warning(
        "It is still replaying: that takes disk and network from a run, and WAL is kept until it has it.",
        "Wait until it has caught up.",
    )
}

fn slots(rows: &[Row]) -> Finding {
    let reported =
        |row: &Row| format!("{} keeps {}", ask::text(row, 0), units::bytes(ask::number(row, 1).max(0.0) as u64));
    Finding::passed("unused-slots", rows.iter().map(reported).collect::<Vec<_>>().join(", ")).warning(
        "A slot that nobody reads keeps WAL, and perhaps dead rows: the disk fills up during long runs.",
        "Drop it, if it is not needed: SELECT pg_drop_replication_slot('…').",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_standby_far_behind_is_reported() {
        let row = |values: &[&str]| values.iter().map(|value| Some((*value).to_owned())).collect::<Row>();
        assert_eq!(standbys(&row(&["0", "0", "0"])).figure, "none");
        let near = standbys(&row(&["2", "1", "1024"]));
        assert_eq!(
            (near.severity, near.figure.as_str()),
            (FindingSeverity::Passed, "the slowest of 2 is 1.0 KiB behind, 1 synchronous")
        );
        assert_eq!(standbys(&row(&["1", "0", "500000000"])).severity, FindingSeverity::Warning);
        let hidden = vec![Some("1".to_owned()), Some("0".to_owned()), None];
        assert_eq!(standbys(&hidden).figure, "1; how far behind is hidden from this role");
        assert_eq!(slots(&[row(&["old", "1048576"])]).figure, "old keeps 1.0 MiB");
    }
}
