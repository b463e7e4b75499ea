//! Digests of the answers to the queries of a run, held against those of other runs over the same rows.

use crate::record::{RunRecord, StatementRecord};

/// The answer of a run to one of its queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The query: `q1`.
    pub query: &'a str,
    /// Its text, with its parameters.
    pub sql: &'a str,
    executed: u64,
    rows: u64,
    /// The sum of the digests of all executions, in any order of the rows.
    digest: u64,
}

impl<'a> Answer<'a> {
    /// Returns the answer of a query that ran once.
    #[must_use]
    pub fn of_one(query: &'a str, sql: &'a str, rows: u64, digest: u64) -> Self {
        Self { query, sql, executed: 1, rows, digest }
    }

    fn of(statement: &'a StatementRecord) -> Option<Self> {
        let digest = u64::from_str_radix(statement.rows_digest.as_deref()?, 16).ok()?;
        let (query, rows) = (statement.transaction.as_deref()?, statement.rows?);
        let is_whole = statement.executed > 0 && statement.failed == 0;
        is_whole.then_some(Self { query, sql: &statement.sql, executed: statement.executed, rows, digest })
    }

    /// Returns how many rows each execution had.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows / self.executed.max(1)
    }

    /// Returns true if each execution had the same rows as each of `other`.
    #[must_use]
    pub fn is_that_of(&self, other: &Self) -> bool {
        let times = |sum: u64, n: u64| sum.wrapping_mul(n);
        times(self.digest, other.executed) == times(other.digest, self.executed)
            && times(self.rows, other.executed) == times(other.rows, self.executed)
    }
}

/// Returns the answers of a run's first stage to the queries whose rows were hashed; none if its record does not say
/// which rows they read.
#[must_use]
pub fn answers(record: &RunRecord) -> Vec<Answer<'_>> {
    let group = record.stages.first().and_then(|stage| stage.groups.first());
    let statements = group.filter(|_| record.rows_read.is_some()).map_or(&[][..], |group| &group.statements);
    statements.iter().filter_map(Answer::of).collect()
}

/// Returns the queries that both runs answered over the same rows, and those of them whose answers differ; `None`
/// if there are none.
#[must_use]
pub fn compare_answers<'a>(base: &'a RunRecord, new: &'a RunRecord) -> Option<(usize, Vec<&'a str>)> {
    if base.plan.workload != new.plan.workload || base.rows_read != new.rows_read {
        return None;
    }
    let theirs = answers(new);
    let mine = answers(base);
    let pairs =
        mine.iter().filter_map(|one| theirs.iter().find(|other| other.sql == one.sql).map(|other| (one, other)));
    let pairs: Vec<_> = pairs.collect();
    let differing = pairs.iter().filter(|(one, other)| !one.is_that_of(other)).map(|(one, _)| one.query).collect();
    (!pairs.is_empty()).then_some((pairs.len(), differing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(executed: u64, rows: u64, digest: u64) -> Answer<'static> {
        Answer { executed, rows, digest, ..Answer::of_one("q1", "select 1", 0, 0) }
    }

    #[test]
    fn the_sum_of_several_executions_is_compared_with_that_of_one() {
        let (one, large) = (answer(1, 4, 7), u64::MAX / 2);
        assert!(one.is_that_of(&answer(3, 12, 21)) && answer(3, 12, 21).is_that_of(&one));
        assert!(answer(1, 4, large).is_that_of(&answer(5, 20, large.wrapping_mul(5))));
        for other in [answer(1, 4, 8), answer(1, 5, 7), answer(3, 12, 22), answer(2, 4, 14)] {
            assert!(!one.is_that_of(&other), "{other:?}");
        }
    }

    #[test]
    fn a_failed_query_has_no_answer() {
        let whole = StatementRecord {
            sql: "select 1".to_owned(),
            transaction: Some("q1".to_owned()),
            executed: 1,
            rows: Some(4),
            rows_digest: Some("000000000000000a".to_owned()),
            ..StatementRecord::default()
        };
        assert_eq!(Answer::of(&whole), Some(Answer { digest: 10, rows: 4, ..Answer::of_one("q1", "select 1", 0, 0) }));
        assert_eq!(Answer::of(&StatementRecord { failed: 1, ..whole.clone() }), None);
        assert_eq!(Answer::of(&StatementRecord { rows_digest: None, ..whole }), None);
    }
}
