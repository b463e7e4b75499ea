//! Statements read whole tables that are not small.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::number;

use super::UNKNOWN;
use crate::facts::Facts;
use crate::tables::Table;

/// Tables of fewer rows than this are read whole by a good plan, too.
const ROWS_MIN: f64 = 5_000.0;

/// Fewer scans a second than this could be a report or a check.
const SCANS_MIN: f64 = 1.0;

/// A query of a stream reads a table as a whole so many times at most, and each of its parallel workers counts.
const SCANS_OF_QUERY: f64 = 12.0;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // Queries of streams are meant to do so.
    let of_streams = facts.streams.map_or(0.0, |streams| SCANS_OF_QUERY * (streams.completed() + streams.number()));
    let rows_read = |table: &Table| table.seq_scans * table.live;
    let scanned = Table::at_end(facts)
        .into_iter()
        .filter(|table| table.live >= ROWS_MIN && table.seconds > 0.0 && table.seq_scans / table.seconds >= SCANS_MIN)
        .filter(|table| table.seq_scans > of_streams);
    let worst = scanned.max_by(|a, b| rows_read(a).total_cmp(&rows_read(b)))?;
    Some(FindingRecord {
        rule: "seq-scans".to_owned(),
        text: format!(
            "{} was read as a whole {} times a second, about {} rows each time",
            worst.name,
            number(worst.seq_scans / worst.seconds),
            number(worst.live)
        ),
        weight: UNKNOWN,
        evidence: vec![format!(
            "{} sequential scans for {} transactions",
            number(worst.seq_scans),
            number(facts.summary.tps * worst.seconds)
        )],
        advice: Some(format!(
            "look with EXPLAIN which statements do so: an index on {} may be missing or not usable",
            worst.name
        )),
        also_seen: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(scans: &str, live: &str) -> Run {
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan"];
        let then: &[&str] = &["public", "t", "0", live, "100"];
        let now: &[&str] = &["public", "t", "0", live, scans];
        Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)])
    }

    #[test]
    fn a_large_table_that_is_read_whole_is_reported() {
        let found = run("1100", "100000").finds(look);
        assert_eq!(found.text, "t was read as a whole 100 times a second, about 100,000 rows each time");
        assert_eq!(found.evidence, ["1,000 sequential scans for 1,000 transactions"]);
    }

    #[test]
    fn small_tables_and_a_scan_now_and_then_are_nothing() {
        run("1100", "100").finds_nothing(look);
        run("105", "100000").finds_nothing(look);
        run("220", "100000").streams(2, &[("q1", "select 1")]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
