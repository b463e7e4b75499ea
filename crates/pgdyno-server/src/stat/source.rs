//! Query of a source in the catalogue: how often, and from where.

use pgdyno_samples::{ColumnKind, SampleColumn, SampleSource as Catalogued};

use super::traits::ServerTraits;

/// Frequency of looks at a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Every {
    /// Once a second.
    Second,
    /// Once a second, while a session waits for a lock: a look stops all sessions that take or release one.
    SecondWithLocks,
    /// Once a second, while a session waits for another one's row: a look reads the rows of such queues.
    SecondWithRowLocks,
    /// Every two seconds.
    TwoSeconds,
    /// Every ten seconds: a look costs more with more tables.
    TenSeconds,
}

/// A row from the server.
pub(crate) type Row = Vec<Option<String>>;

/// Origin of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The text after `FROM`.
    Sql(&'static str),
    /// The same, where it depends on the server.
    Text(String),
    /// It does not exist on this server, and is not missed.
    Nothing,
    /// It is left out, and why.
    LeftOut(String),
}

/// A source of samples: one statement that is queried repeatedly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its name and its columns.
    pub(super) of: Catalogued,
    pub(super) every: Every,
    /// Whether its rows disappear with their objects, so that a decreasing sum of counters is no reset.
    pub(super) loses_rows: bool,
    /// The text after `FROM`, or why there is none.
    pub(super) from: fn(&ServerTraits) -> From,
}

impl Source {
    /// Returns the statement for the server of `traits`, or why it is left out; `None` if the server lacks the source.
    pub(super) fn sql(&self, traits: &ServerTraits) -> Option<Result<String, String>> {
        let from = match (self.from)(traits) {
            From::Sql(from) => from.to_owned(),
            From::Text(from) => from,
            From::Nothing => return None,
            From::LeftOut(why) => return Some(Err(why)),
        };
        Some(Ok(select(self.of.columns, traits.version, &from)))
    }

    /// Returns true if its counters were reset between two looks: the time of the last reset differs, or an
    /// increasing counter has decreased, summed over all rows.
    pub(crate) fn was_reset(&self, before: &[Row], now: &[Row]) -> bool {
        let cells = |rows: &[Row], nth: usize| -> Vec<Option<String>> {
            rows.iter().map(|row| row.get(nth).cloned().flatten()).collect()
        };
        let sum = |cells: &[Option<String>]| {
            cells.iter().flatten().filter_map(|cell| cell.parse::<f64>().ok()).reduce(|a, b| a + b)
        };
        let grows = |column: &SampleColumn| column.is_counter() && !self.loses_rows;
        // Before PostgreSQL 15 a database has no counters until something was done in it, and then gets a time of
        // reset.
        let is_first = self.of.columns.iter().enumerate().all(|(nth, column)| match column.kind {
            ColumnKind::Reset => cells(before, nth).iter().all(Option::is_none),
            _ => !grows(column) || sum(&cells(before, nth)).is_none_or(|sum| sum == 0.0),
        });
        self.of.columns.iter().enumerate().any(|(nth, column)| {
            let (before, now) = (cells(before, nth), cells(now, nth));
            match column.kind {
                ColumnKind::Reset => !is_first && !before.is_empty() && !now.is_empty() && before != now,
                _ => grows(column) && sum(&before).zip(sum(&now)).is_some_and(|(before, now)| now < before),
            }
        })
    }
}

/// Returns the statement for columns on a server of this version; NULL for those that it lacks.
pub(crate) fn select(columns: &[SampleColumn], version: u32, from: &str) -> String {
    let columns: Vec<_> = columns.iter().map(|column| column.sql(version).unwrap_or("NULL::text")).collect();
    format!("SELECT {} {} FROM {from}", super::MARK, columns.join(", "))
}

#[cfg(test)]
mod tests {
    use pgdyno_samples::database::{NUMBACKENDS, STATS_RESET, XACT_COMMIT};

    use super::*;

    #[test]
    fn what_only_grows_and_has_shrunk_was_reset() {
        const SOURCE: Source = super::super::database::SOURCE;
        let row = |commits: &str, sessions: &str, reset: &str| -> Row {
            let mut row = vec![None; SOURCE.of.columns.len()];
            for (column, cell) in [(XACT_COMMIT, commits), (NUMBACKENDS, sessions), (STATS_RESET, reset)] {
                row[SOURCE.of.place(column)] = Some(cell.to_owned()).filter(|cell| !cell.is_empty());
            }
            row
        };
        assert!(!SOURCE.was_reset(&[row("10", "9", "")], &[row("10", "3", "")]));
        assert!(SOURCE.was_reset(&[row("10", "3", "")], &[row("9", "3", "")]));
        assert!(SOURCE.was_reset(&[row("10", "3", "")], &[row("11", "3", "2026-01-01")]));
        assert!(!SOURCE.was_reset(&[row("10", "3", "x")], &[row("", "", "x")]));
        assert!(!SOURCE.was_reset(&[row("0", "3", "")], &[row("1", "3", "2026-01-01")]), "made, not reset");
        // Of several rows the sum counts.
        let several = [row("10", "", ""), row("5", "", "")];
        assert!(!SOURCE.was_reset(&several, &[row("9", "", ""), row("7", "", "")]));
        assert!(SOURCE.was_reset(&several, &[row("1", "", "")]));
        let tables = Source { loses_rows: true, ..SOURCE };
        assert!(!tables.was_reset(&several, &[row("1", "", "")]), "a table was dropped");
    }

    #[test]
    fn what_a_version_lacks_is_null() {
        let columns = [pgdyno_samples::wal::WAL_FPI, pgdyno_samples::wal::WAL_SYNC];
        assert_eq!(
            select(&columns, 130_000, "x"),
            format!("SELECT {} NULL::text, NULL::text FROM x", super::super::MARK)
        );
        assert_eq!(select(&columns, 180_000, "x"), format!("SELECT {} wal_fpi, io.fsyncs FROM x", super::super::MARK));
    }
}
