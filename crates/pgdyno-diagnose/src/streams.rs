//! Streams of queries that run beside the clients' transactions.

use pgdyno_results::{RunRecord, StatementRecord, StreamsRecord};
use pgdyno_text::units::plain_plural;

/// The streams of the first stage, on the server of the transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Streams<'a> {
    record: &'a RunRecord,
    of_stage: &'a StreamsRecord,
}

impl<'a> Streams<'a> {
    /// Returns none if the first stage has no streams beside transactions, or if they run on another server.
    pub(crate) fn of(record: &'a RunRecord) -> Option<Self> {
        record.analytics.as_ref().filter(|analytics| analytics.server.is_none())?;
        beside(record).map(|of_stage| Self { record, of_stage })
    }

    /// The number of streams.
    pub(crate) fn number(self) -> f64 {
        f64::from(self.of_stage.streams.max(1))
    }

    /// `1 stream`, `3 streams`.
    pub(crate) fn in_words(self) -> String {
        plain_plural(self.of_stage.streams.into(), "stream")
    }

    /// Queries that ended in the window.
    pub(crate) fn completed(self) -> f64 {
        self.of_stage.queries.iter().map(|query| query.completed).sum::<u64>() as f64
    }

    /// Returns true if a statement is one of the streams' queries, by its text as `pg_stat_statements` has it: with `$1` for
    /// each constant.
    pub(crate) fn has(self, text: &str) -> bool {
        let wanted = without_constants(text);
        let mut own = self.record.statements.iter().filter(|statement| is_of_streams(self.record, statement));
        own.any(|statement| without_constants(&statement.sql) == wanted)
    }
}

/// Returns true if a statement is one of the queries of streams beside the clients.
pub(crate) fn is_of_streams(record: &RunRecord, statement: &StatementRecord) -> bool {
    let of = |transaction: &String| beside(record)?.queries.iter().find(|query| query.name == *transaction);
    statement.transaction.as_ref().and_then(of).is_some()
}

/// Returns the streams of the first stage if other groups run beside them.
fn beside(record: &RunRecord) -> Option<&StreamsRecord> {
    let stage = record.stages.first().filter(|stage| stage.groups.len() > 1)?;
    record.analytics.as_ref()?.stages.iter().find(|streams| streams.stage == stage.name)
}

/// Returns the letters of a statement outside of its quoted constants. What is left of a constant, a parameter or a list of
/// them, in any version's form, is nothing.
fn without_constants(sql: &str) -> String {
    let outside = sql.split('\'').step_by(2);
    outside.flat_map(str::chars).filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_query_is_known_by_its_text_without_constants() {
        let run = Run::new()
            .streams(2, &[("q6", "select sum(a) from t\n where d >= timestamptz '1999-01-01' and n = 100.00")]);
        run.ask(|facts| {
            let streams = facts.streams.unwrap();
            assert!(streams.has("select sum(a) from t where d >= timestamptz $1 and n = $2"));
            assert!(!streams.has("select sum(a) from u where d >= timestamptz $1 and n = $2"));
            assert_eq!((streams.number(), streams.in_words()), (2.0, "2 streams".to_owned()));
        });
    }

    #[test]
    fn streams_on_another_server_or_without_transactions_are_none_of_this_one() {
        let mut run = Run::new().streams(2, &[("q6", "select 6")]);
        run.record.analytics.as_mut().unwrap().server = Some(pgdyno_results::AnalyticsServerRecord::default());
        assert!(run.ask(|facts| facts.streams.is_none()));
        // They are none of the clients' statements even so.
        assert!(is_of_streams(&run.record, &run.record.statements[0]));
        run.record.analytics.as_mut().unwrap().server = None;
        run.record.stages[0].groups.pop();
        assert!(run.ask(|facts| facts.streams.is_none()));
        assert!(!is_of_streams(&run.record, &run.record.statements[0]));
    }
}
