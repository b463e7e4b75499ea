//! Statements read whole tables that are not small.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::database;
use pgdyno_text::brief::{number, percent};

use super::UNKNOWN;
use crate::blocks;
use crate::explained::Explained;
use crate::facts::Facts;
use crate::statements;
use crate::tables::Table;

/// Tables of fewer rows than this are read whole by a good plan, too.
const ROWS_MIN: f64 = 5_000.0;

/// Scans that read fewer rows than this each end early, as with LIMIT.
const EACH_MIN: f64 = 1_000.0;

/// Fewer scans a second than this could be a report or a check.
const SCANS_MIN: f64 = 1.0;

/// A query of a stream reads a table as a whole so many times at most, and each of its parallel workers counts.
const SCANS_OF_QUERY: f64 = 12.0;

/// Estimated CPU time of a row that a scan reads and does not return.
const ROW_S: f64 = 50e-9;

/// Rows that would take less of the CPU time than this, by that estimate, are not why statements on the table take theirs.
const ESTIMATED_MIN: f64 = 0.25;

/// Where a smaller share of the blocks from outside shared buffers than this is the table's, reads have other causes, too.
const READS_MIN: f64 = 0.8;

/// Returns the table of which sequential scans read most rows, if it is not small and is scanned again and again.
fn worst(facts: &Facts<'_>) -> Option<Table> {
    // Queries of streams are meant to do so.
    let of_streams = facts.streams.map_or(0.0, |streams| SCANS_OF_QUERY * (streams.completed() + streams.number()));
    let scanned = Table::at_end(facts)
        .into_iter()
        .filter(|table| table.live >= ROWS_MIN && table.seconds > 0.0 && table.seq_scans / table.seconds >= SCANS_MIN)
        .filter(|table| table.seq_scans > of_streams && table.rows_scanned >= EACH_MIN * table.seq_scans);
    scanned.max_by(|a, b| a.rows_scanned.total_cmp(&b.rows_scanned))
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let worst = worst(facts)?;
    let mut evidence = vec![format!(
        "{} sequential scans for {} transactions",
        number(worst.seq_scans),
        number(facts.summary.tps * worst.seconds)
    )];
    if let Some(share) = statements::share_of(facts, &worst.name) {
        evidence.push(format!("statements on {} had {} of the statements' time", worst.name, percent(share)));
    }
    let index = match statements::filtered_columns(facts, &worst.name) {
        Some(columns) => format!("create an index on {} ({columns})", worst.name),
        None => format!("create an index on {} for the statements' conditions", worst.name),
    };
    Some(FindingRecord {
        rule: "seq-scans".to_owned(),
        text: format!(
            "sequential scans of {}: {} a second, about {} rows read by each",
            worst.name,
            number(worst.seq_scans / worst.seconds),
            number(worst.rows_scanned / worst.seq_scans)
        ),
        weight: UNKNOWN,
        evidence,
        advice: Some(format!("{index}; if there is one, EXPLAIN shows why it is not used")),
        also_seen: true,
        ..FindingRecord::default()
    })
}

/// Reading rows, and copying their blocks into shared buffers, is work on a CPU. Where that could take a fair part of it, the statements
/// on the table have their measured share.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    let worst = worst(facts)?;
    let copying =
        of_reads(facts).and_then(|reads| Some(reads.share * blocks::copying_cpus(facts)?)).unwrap_or_default();
    let scanning = worst.rows_scanned / worst.seconds * ROW_S;
    let estimated = ((scanning + copying) / facts.cpus_of_clients()).min(1.0);
    match statements::share_of(facts, &worst.name).filter(|_| estimated >= ESTIMATED_MIN) {
        Some(share) => Some(Explained { share, certainty: Certainty::Measured }),
        None => Some(Explained { share: estimated, certainty: Certainty::Consistent }),
    }
}

/// The blocks from outside shared buffers, where most of them are the table's.
pub(crate) fn of_reads(facts: &Facts<'_>) -> Option<Explained> {
    let worst = worst(facts)?;
    let all = facts.rate(database::BLKS_READ).filter(|reads| *reads > 0.0)?;
    let share = (worst.blocks_read? / worst.seconds / all).min(1.0);
    (share >= READS_MIN).then_some(Explained { share, certainty: Certainty::Consistent })
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
        assert_eq!(found.text, "sequential scans of t: 100 a second, about 100,000 rows read by each");
        assert_eq!(found.evidence, ["1,000 sequential scans for 1,000 transactions"]);
    }

    #[test]
    fn scans_that_end_early_are_nothing() {
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan", "seq_tup_read"];
        let looks = |rows: &str| {
            let then: &[&str] = &["public", "t", "0", "100000", "100", "0"];
            let now: &[&str] = &["public", "t", "0", "100000", "1100", rows];
            Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)])
        };
        looks("3000").finds_nothing(look);
        assert!(looks("50000000").finds(look).text.ends_with("about 50,000 rows read by each"));
    }

    #[test]
    fn small_tables_and_a_scan_now_and_then_are_nothing() {
        run("1100", "100").finds_nothing(look);
        run("105", "100000").finds_nothing(look);
        run("220", "100000").streams(2, &[("q1", "select 1")]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
