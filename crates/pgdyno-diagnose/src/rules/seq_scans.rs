//! Statements read whole tables that are not small.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_text::brief::{number, percent};

use super::UNKNOWN;
use super::reads::mapping;
use crate::blocks;
use crate::explained::Explained;
use crate::facts::Facts;
use crate::scans;
use crate::statements;

/// Estimated CPU time of a row that a scan reads and does not return.
const ROW_S: f64 = 50e-9;

/// Rows that would take less of the CPU time than this, by that estimate, are not why statements on the table take theirs.
const ESTIMATED_MIN: f64 = 0.25;

/// The estimate may be off by this factor. Above it, statements that do not name the table scan it: checks of foreign keys, functions.
const ESTIMATE_OFF: f64 = 2.0;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let worst = scans::worst(facts)?;
    let mut evidence = vec![format!(
        "{} sequential scans for {} transactions",
        number(worst.seq_scans),
        number(facts.summary.tps * worst.seconds)
    )];
    if let Some(share) = statements::share_of(facts, &worst.name) {
        evidence.push(format!("statements on {} had {} of the statements' time", worst.name, percent(share)));
    }
    if let Some(share) = scans::share_of_reads(facts).filter(|share| *share >= scans::MOST) {
        evidence.push(format!("sequential scans read {} of the blocks from outside shared buffers", percent(share)));
    }
    let index = match statements::filtered_columns(facts, &worst.name) {
        Some(columns) => format!("create an index on {} ({columns})", worst.name),
        None => format!("create an index on {} for the statements' conditions, or for its foreign keys", worst.name),
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
    let worst = scans::worst(facts)?;
    let scanning = worst.rows_scanned / worst.seconds * ROW_S;
    let copying = scans::blocks_read(&worst).map_or(0.0, blocks::copying_cpus);
    let estimated = ((scanning + copying) / facts.cpus_of_clients()).min(1.0);
    let measured = statements::share_of(facts, &worst.name).filter(|_| estimated >= ESTIMATED_MIN);
    match measured.filter(|share| estimated <= ESTIMATE_OFF * share) {
        Some(share) => Some(Explained { share, certainty: Certainty::Measured }),
        None => Some(Explained { share: estimated, certainty: Certainty::Consistent }),
    }
}

/// Returns true if scans read most blocks from outside shared buffers.
pub(crate) fn read_most_blocks(facts: &Facts<'_>) -> bool {
    scans::share_of_reads(facts).is_some_and(|share| share >= scans::MOST)
}

/// Scans wait for the blocks that they read.
pub(crate) fn of_reads(facts: &Facts<'_>) -> Option<Explained> {
    scans::share_of_reads(facts).map(|share| Explained { share, certainty: Certainty::Consistent })
}

/// Reads of scans change the mapping of buffers, as other reads do.
pub(crate) fn of_internal_locks(facts: &Facts<'_>) -> Option<Explained> {
    let share = mapping(facts) * scans::share_of_reads(facts)?;
    Some(Explained { share, certainty: Certainty::Consistent })
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
    fn blocks_that_scans_did_not_visit_are_not_theirs() {
        let columns =
            ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan", "seq_tup_read", "heap_blks_read", "heap_bytes"];
        let blocks = (1600 * 8192).to_string();
        let then: &[&str] = &["public", "t", "0", "100000", "0", "0", "0", &blocks];
        let now: &[&str] = &["public", "t", "0", "100000", "100", "1000000", "80000", &blocks];
        let run = Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)]);
        // The rows of 10 scans of all rows were on 16,000 blocks, or on twice as many; lookups by an index read the rest.
        let explained = run.counters("database", &[("blks_read", 10_000.0)]).ask(of_reads);
        assert_eq!(explained, Some(Explained { share: 0.32, certainty: Certainty::Consistent }));
    }

    #[test]
    fn scans_whose_rows_are_wanted_are_nothing() {
        let columns = ["queryid", "query", "rows"];
        let returned = |rows: &str| {
            let row = ["1", "SELECT * FROM t", rows].map(str::to_owned).to_vec();
            let mut run = run("1100", "100000");
            run.samples.insert("statements", pgdyno_results::SampleTable::new(&columns, vec![(12.0, row)]));
            run
        };
        returned("90000000").finds_nothing(look);
        returned("1000").finds(look);
    }

    #[test]
    fn scans_by_statements_that_do_not_name_the_table_are_estimated() {
        let statement = |sql: &str, mean_ms: f64| pgdyno_results::StatementRecord {
            sql: sql.to_owned(),
            executed: 1000,
            latency_ns: Some(pgdyno_results::LatencyRecord { mean: mean_ms * 1e6, ..Default::default() }),
            ..Default::default()
        };
        let explained = |scanning: &str| {
            let mut run = run("1100", "100000").waits(&[("CPU", "CPU", 0.5)]);
            run.record.statements = vec![statement(scanning, 9.0), statement("INSERT INTO t VALUES (1)", 1.0)];
            run.ask(of_cpu).unwrap()
        };
        assert_eq!(explained("DELETE FROM t WHERE n = 1"), Explained { share: 1.0, certainty: Certainty::Measured });
        // A foreign key of t is checked.
        let of_check = explained("DELETE FROM parent WHERE id = 1");
        assert_eq!(of_check, Explained { share: 1.0, certainty: Certainty::Consistent });
    }

    #[test]
    fn small_tables_and_a_scan_now_and_then_are_nothing() {
        run("1100", "100").finds_nothing(look);
        run("105", "100000").finds_nothing(look);
        run("220", "100000").streams(2, &[("q1", "select 1")]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
