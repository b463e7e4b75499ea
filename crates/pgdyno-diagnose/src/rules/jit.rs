//! Statements are compiled (JIT) at a cost that shows.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::statements;
use pgdyno_text::brief::{duration, percent};
use pgdyno_text::wrap::one_line;

use super::{UNKNOWN, with_settings};
use crate::explained::Explained;
use crate::facts::Facts;

/// A smaller share of the statements' time than this is worth what compiling brings.
const LEAST: f64 = 0.1;

/// Returns the share of the statements' execution time, as `pg_stat_statements` counts both; `None` if it is small.
fn share(facts: &Facts<'_>) -> Option<f64> {
    let table = facts.samples.of(statements::SOURCE);
    let number = |row: &[String], column| table.cell(row, column)?.parse::<f64>().ok();
    let sum = |column| table.rows().iter().filter_map(|(_, row)| number(row, column)).sum::<f64>();
    let (jit_ms, exec_ms) = (sum(statements::JIT_TIME_MS), sum(statements::TOTAL_EXEC_TIME_MS));
    let share = (jit_ms / exec_ms.max(f64::MIN_POSITIVE)).min(1.0);
    (jit_ms > 0.0 && share >= LEAST).then_some(share)
}

/// Compiling is work on a CPU.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    share(facts).map(|share| Explained { share, certainty: Certainty::Measured })
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let share = share(facts)?;
    let table = facts.samples.of(statements::SOURCE);
    let number = |row: &[String], column| table.cell(row, column)?.parse::<f64>().ok();
    let of_row = |row: &[String]| number(row, statements::JIT_TIME_MS).unwrap_or_default();
    let (_, worst) = table.rows().iter().max_by(|a, b| of_row(&a.1).total_cmp(&of_row(&b.1)))?;
    let calls = number(worst, statements::CALLS).unwrap_or(1.0).max(1.0);
    // The text comes from pg_stat_statements, which has no constants either.
    let text: String = table.cell(worst, statements::QUERY).unwrap_or_default().chars().take(80).collect();
    Some(FindingRecord {
        rule: "jit".to_owned(),
        text: format!("JIT compiled statements for {} of their execution time", percent(share)),
        weight: UNKNOWN,
        evidence: vec![format!("{} of each call of: {}", duration(of_row(worst) / calls / 1e3), one_line(&text))],
        advice: with_settings(facts, "raise jit_above_cost, or set jit off", &["jit", "jit_above_cost"]),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(jit_ms: &str) -> Run {
        let columns = ["queryid", "query", "calls", "total_exec_time_ms", "jit_time_ms"];
        let quick = ["1", "SELECT $1", "1000", "100", "0"].map(str::to_owned).to_vec();
        let row = ["2", "SELECT sum(n)\n FROM t", "10", "900", jit_ms].map(str::to_owned).to_vec();
        let mut run = Run::new().setting("jit", "on").setting("jit_above_cost", "0");
        run.samples.insert("statements", pgdyno_results::SampleTable::new(&columns, vec![(12.0, quick), (12.0, row)]));
        run
    }

    #[test]
    fn statements_that_are_mostly_compiled_are_reported() {
        let found = run("600").finds(look);
        assert_eq!(found.text, "JIT compiled statements for 60 % of their execution time");
        assert_eq!(found.evidence, ["60.0 ms of each call of: SELECT sum(n) FROM t"]);
        assert!(found.advice.unwrap().ends_with("(jit is on, jit_above_cost is 0)"));
        run("20").finds_nothing(look);
        // Before 15 nobody counts it.
        run("").finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
