//! The time of a transaction by statement: of a unit, and of all units together.

use pgdyno_measure::mean::{mean, reach};
use pgdyno_results::{AbRecord, AbStatement, AbStatementTime, RunRecord, StatementRecord};

/// Units from which on statements have intervals.
const UNITS_MIN: usize = 3;

/// Returns the time of a transaction by statement in the slices of a unit. New statements are added to the record's.
pub(super) fn of_unit(known: &mut Vec<AbStatement>, slices: &[Vec<RunRecord>; 2]) -> Vec<AbStatementTime> {
    let mut times: Vec<AbStatementTime> = Vec::new();
    for (side, slices) in slices.iter().enumerate() {
        for slice in slices {
            let committed = slice.summary.as_ref().map_or(0, |summary| summary.committed);
            for statement in slice.statements.iter().filter(|_| committed > 0) {
                let Some(ns) = mean_ns(statement) else { continue };
                let ns = ns * statement.executed as f64 / committed as f64 / slices.len() as f64;
                let nth = place(known, statement);
                let at = times.iter().position(|time| time.statement == nth).unwrap_or_else(|| {
                    times.push(AbStatementTime { statement: nth, ..AbStatementTime::default() });
                    times.len() - 1
                });
                *(if side == 0 { &mut times[at].a_ns } else { &mut times[at].b_ns }) += ns;
            }
        }
    }
    times
}

/// Returns the mean time of an execution.
fn mean_ns(statement: &StatementRecord) -> Option<f64> {
    statement.latency_ns.as_ref().map(|latency| latency.mean).or(statement.latency_ns_mean)
}

/// Returns the place of a statement among the known ones.
fn place(known: &mut Vec<AbStatement>, statement: &StatementRecord) -> usize {
    let is_it = |one: &AbStatement| one.sql == statement.sql && one.transaction == statement.transaction;
    known.iter().position(is_it).unwrap_or_else(|| {
        let (sql, transaction) = (statement.sql.clone(), statement.transaction.clone());
        known.push(AbStatement { sql, transaction, ..AbStatement::default() });
        known.len() - 1
    })
}

/// Sets the times of the record's statements, and the intervals of their changes, by all of its units.
pub(super) fn evaluate(record: &mut AbRecord) {
    let units = &record.units;
    for (nth, statement) in record.statements.iter_mut().enumerate() {
        let of_unit = |times: &[AbStatementTime]| {
            times.iter().find(|time| time.statement == nth).map_or([0.0; 2], |time| [time.a_ns, time.b_ns])
        };
        let times: Vec<[f64; 2]> = units.iter().map(|unit| of_unit(&unit.statements)).collect();
        let mean_of = |side: usize| mean(&times.iter().map(|time| time[side]).collect::<Vec<_>>()).unwrap_or(0.0);
        (statement.a_ns, statement.b_ns) = (mean_of(0), mean_of(1));
        let changes: Vec<f64> = times.iter().map(|[a, b]| b - a).collect();
        let interval = mean(&changes).zip(reach(&changes)).filter(|_| changes.len() >= UNITS_MIN);
        statement.change_ns_interval = interval.map(|(change, reach)| [change - reach, change + reach]);
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{AbUnit, Summary};

    use super::*;

    /// A slice with these statements: how often each was executed, and its mean time.
    fn slice(committed: u64, statements: &[(&str, u64, f64)]) -> RunRecord {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        record.summary = Some(Summary { committed, ..Summary::default() });
        let statement = |(sql, executed, mean_ns): &(&str, u64, f64)| StatementRecord {
            sql: (*sql).to_owned(),
            executed: *executed,
            latency_ns_mean: Some(*mean_ns),
            ..serde_json::from_str(r#"{"sql": "", "executed": 0, "failed": 0}"#).unwrap()
        };
        record.statements = statements.iter().map(statement).collect();
        record
    }

    #[test]
    fn a_statement_takes_its_part_of_each_transaction_on_both_sides() {
        let mut record = AbRecord::default();
        for nth in 0..3 {
            let a = vec![slice(100, &[("read", 200, 1e6), ("write", 100, 3e6)]), slice(50, &[("read", 100, 3e6)])];
            let b = vec![slice(100, &[("read", 200, 1e6 + f64::from(nth) * 1e4), ("other", 100, 5e6)]); 2];
            let statements = of_unit(&mut record.statements, &[a, b]);
            record.units.push(AbUnit { statements, ..AbUnit::default() });
        }
        evaluate(&mut record);
        let times = |nth: usize| {
            let AbStatement { sql, a_ns, b_ns, .. } = &record.statements[nth];
            (sql.as_str(), a_ns.round(), b_ns.round())
        };
        // Twice in each transaction: 2 ms and 6 ms in the slices of A.
        assert_eq!(times(0), ("read", 4e6, 2.02e6));
        assert_eq!((times(1), times(2)), (("write", 1.5e6, 0.0), ("other", 0.0, 5e6)));
        let [low, high] = record.statements[0].change_ns_interval.unwrap();
        assert!(low < -1.98e6 && -1.98e6 < high && high < -1.9e6, "{low} {high}");
        record.units.truncate(2);
        evaluate(&mut record);
        assert_eq!(record.statements[0].change_ns_interval, None, "two units are too few");
        assert_eq!(of_unit(&mut record.statements, &[vec![slice(0, &[("read", 1, 1.0)])], Vec::new()]), []);
    }
}
