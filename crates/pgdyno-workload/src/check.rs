//! Checks: queries that show whether the data is still right.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Cost of a check on a large database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckCost {
    /// Reads only small tables or indexes.
    Cheap,
    /// Reads whole large tables.
    Expensive,
    /// Reads the whole largest table. Runs do not wait for that: only `pgdyno check` does it.
    Heavy,
}

/// Result that a check's query must return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No row: each row is a violation, and its columns name the place and the two values. Queried after the load and
    /// after every run.
    NoRow,
    /// No row: each row is a difference between a query's answer and the expected one. Not queried after a run, which
    /// only reads such data, because it takes as long as the run's queries themselves.
    Answer,
    /// The same rows after a run as right before it, after [`crate::DataSet::before_run`]. For conditions on the
    /// run's own work, where another program or workload may have unbalanced the data before. Not queried after a
    /// load.
    UnchangedByRun,
    /// As [`Expect::UnchangedByRun`]. In addition every column of the only row is 0 while the data is as pgdyno
    /// loaded it, and only the data set's own workloads have changed it.
    ZeroSinceLoad {
        /// The table that must not have been emptied since the load; if it was, the row may have any values.
        unless_emptied: Option<&'static str>,
    },
    /// As [`Expect::UnchangedByRun`], if every column of the only row is this value before the run. If not, the condition
    /// cannot be checked.
    UnchangedFrom {
        /// The value.
        value: u64,
        /// Why it cannot be checked with another one.
        otherwise: &'static str,
    },
}

impl Expect {
    /// Returns true if the result before a run is compared with the one after it.
    #[must_use]
    pub fn is_unchanged_by_run(self) -> bool {
        !matches!(self, Self::NoRow | Self::Answer)
    }
}

/// A condition that the data must meet.
#[derive(Clone, Debug)]
pub struct Check {
    /// The clause if there is one (`3.3.2.1`), else a name.
    pub name: &'static str,
    /// What must hold, in words or as a formula.
    pub condition: &'static str,
    /// The query.
    pub sql: CheckSql,
    /// The same query on a part of the data at a time, if that is possible.
    pub parts: Option<CheckParts>,
    /// A query that shows at once that this check and others hold.
    pub screen: Option<Screen>,
    /// Result that the query must return.
    pub expect: Expect,
    /// Its cost.
    pub cost: CheckCost,
}

/// A query that returns a row wherever one of the checks that have it, each an [`Expect::NoRow`], returns one: they are asked only then.
/// It reads a large table once where each of them would read it.
#[derive(Clone, Debug)]
pub struct Screen {
    /// Its name, by which checks share it.
    pub name: &'static str,
    /// The query.
    pub parts: CheckParts,
}

impl Check {
    /// Returns a check that is expensive, and cannot be asked in parts.
    #[must_use]
    pub fn expensive(name: &'static str, condition: &'static str, expect: Expect, sql: String) -> Self {
        Self { name, condition, sql: sql.into(), parts: None, screen: None, expect, cost: CheckCost::Expensive }
    }
}

/// Returns the text of a query, or `None` once its argument returns true: the user ended the check.
type MakeSql = dyn Fn(&(dyn Fn() -> bool + Sync)) -> Option<String> + Send + Sync;

/// The query of a check.
#[derive(Clone)]
pub enum CheckSql {
    /// Its text.
    Text(String),
    /// A text that takes seconds or more to make, so that it is made only when it is asked.
    Made(Arc<MakeSql>),
}

impl CheckSql {
    /// Returns the text; `None` if `stop` returned true while it was made.
    pub fn text(&self, stop: &(dyn Fn() -> bool + Sync)) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Made(make) => make(stop),
        }
    }
}

impl From<String> for CheckSql {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Debug for CheckSql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => text.fmt(f),
            Self::Made(_) => f.write_str("made when it is asked"),
        }
    }
}

/// A query on a range of keys at a time, such as warehouses: in bounded memory, and over several connections. The
/// results of all ranges together are the result.
#[derive(Clone, Debug)]
pub struct CheckParts {
    /// The query. For each table, `{range:column}` stands for the condition that the column is in the range.
    pub sql: String,
    /// All keys.
    pub keys: RangeInclusive<u64>,
    /// Largest number of keys in a part.
    pub most: u64,
}

impl CheckParts {
    /// Returns the queries: as few as [`CheckParts::most`] allows, but at least so many, if there are so many keys. The
    /// first and the last one also cover what is below and above all keys.
    #[must_use]
    pub fn queries(&self, at_least: u64) -> Vec<String> {
        let (first, last) = (*self.keys.start(), *self.keys.end());
        let keys = (last + 1).saturating_sub(first);
        let parts = keys.div_ceil(self.most.max(1)).max(at_least.min(keys)).max(1);
        let begin = |part: u64| first + keys * part / parts;
        let query = |part: u64| {
            let (from, to) = (begin(part), begin(part + 1).saturating_sub(1));
            self.ask(|column| match (part == 0, part + 1 == parts) {
                (true, true) => "true".to_owned(),
                (true, false) => format!("{column} <= {to}"),
                (false, true) => format!("{column} >= {from}"),
                (false, false) => format!("{column} between {from} and {to}"),
            })
        };
        (0..parts).map(query).collect()
    }

    /// Returns the query for all keys.
    #[must_use]
    pub fn whole(&self) -> String {
        self.ask(|_| "true".to_owned())
    }

    fn ask(&self, condition: impl Fn(&str) -> String) -> String {
        let mut pieces = self.sql.split("{range:");
        let mut sql = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (column, rest) = piece.split_once('}').unwrap_or((piece, ""));
            sql += &condition(column);
            sql += rest;
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(last: u64, most: u64) -> CheckParts {
        CheckParts { sql: "select from a where {range:x} or {range:b.y};".to_owned(), keys: 1..=last, most }
    }

    #[test]
    fn parts_cover_every_key_once_and_what_is_beyond() {
        assert_eq!(parts(7, 50).queries(1), ["select from a where true or true;"]);
        assert_eq!(parts(7, 50).whole(), parts(7, 50).queries(1)[0]);
        let three = [
            "select from a where x <= 2 or b.y <= 2;",
            "select from a where x between 3 and 4 or b.y between 3 and 4;",
            "select from a where x >= 5 or b.y >= 5;",
        ];
        assert_eq!(parts(7, 3).queries(1), three);
        assert_eq!(parts(7, 50).queries(3), three);
    }

    #[test]
    fn there_are_never_more_parts_than_keys() {
        assert_eq!(parts(2, 50).queries(8).len(), 2);
        assert_eq!(parts(1000, 50).queries(8).len(), 20);
        assert_eq!(parts(0, 50).queries(8), ["select from a where true or true;"]);
    }
}
