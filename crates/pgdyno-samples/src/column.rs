//! A column of a source.

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleUnit {
    /// A number of things: transactions, rows, blocks, files.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// CPUs: 1.5 is one and a half of them all the time.
    Cpus,
    /// 0 to 100.
    Percent,
    /// 0 to 1.
    Share,
}

/// Kind of value in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text that identifies a row within one sample.
    Key,
    /// Other text.
    Text,
    /// Text of a statement. Its file has it without constants, which may be secrets.
    Statement,
    /// Time of the last reset of the counters.
    Reset,
    /// A number that goes up and down.
    Gauge(SampleUnit),
    /// A number that only grows, except by a reset.
    Counter(SampleUnit),
}

/// A column of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleColumn {
    /// Name of the source that declares it.
    pub source: &'static str,
    /// Name in the source's file, ending in the unit; PostgreSQL's own name where it has one.
    pub name: &'static str,
    /// Kind of value.
    pub kind: ColumnKind,
    /// SQL expressions, each with the `server_version_num` from which on it applies. The last that applies is used; `None`: the
    /// server does not have the column.
    sql: [(u32, Option<&'static str>); 3],
}

impl SampleColumn {
    const fn new(source: &'static str, name: &'static str, kind: ColumnKind) -> Self {
        Self { source, name, kind, sql: [(0, Some(name)); 3] }
    }

    /// Returns a column of text that identifies a row within one sample.
    pub(crate) const fn key(source: &'static str, name: &'static str) -> Self {
        Self::new(source, name, ColumnKind::Key)
    }

    /// Returns a column of other text.
    pub(crate) const fn text(source: &'static str, name: &'static str) -> Self {
        Self::new(source, name, ColumnKind::Text)
    }

    /// Returns a column of the text of a statement.
    pub(crate) const fn statement(source: &'static str, name: &'static str) -> Self {
        Self::new(source, name, ColumnKind::Statement)
    }

    /// Returns a column for the time of the last reset of the counters.
    pub(crate) const fn reset(source: &'static str, name: &'static str) -> Self {
        Self::new(source, name, ColumnKind::Reset)
    }

    /// Returns a column for a number that goes up and down.
    pub(crate) const fn gauge(source: &'static str, name: &'static str, unit: SampleUnit) -> Self {
        Self::new(source, name, ColumnKind::Gauge(unit))
    }

    /// Returns a column for a number that only grows.
    pub(crate) const fn counter(source: &'static str, name: &'static str, unit: SampleUnit) -> Self {
        Self::new(source, name, ColumnKind::Counter(unit))
    }

    /// Sets the SQL expression.
    pub(crate) const fn as_sql(self, sql: &'static str) -> Self {
        Self { sql: [(0, Some(sql)); 3], ..self }
    }

    /// Limits the column to this major version and newer ones.
    pub(crate) const fn since(self, major: u32) -> Self {
        let there = (major * 10_000, self.sql[0].1);
        Self { sql: [(0, None), there, there], ..self }
    }

    /// Limits the column to versions before this major version.
    pub(crate) const fn until(self, major: u32) -> Self {
        Self { sql: [self.sql[0], self.sql[1], (major * 10_000, None)], ..self }
    }

    /// Sets another SQL expression from this major version on.
    pub(crate) const fn then(self, major: u32, sql: &'static str) -> Self {
        Self { sql: [self.sql[0], self.sql[1], (major * 10_000, Some(sql))], ..self }
    }

    /// Returns the SQL expression for a server of this `server_version_num`; `None` where that version does not have the
    /// column.
    #[must_use]
    pub fn sql(&self, version: u32) -> Option<&'static str> {
        self.sql.iter().rev().find(|(since, _)| version >= *since).and_then(|(_, sql)| *sql)
    }

    /// Returns the unit; `None` for text or a time.
    #[must_use]
    pub fn unit(&self) -> Option<SampleUnit> {
        match self.kind {
            ColumnKind::Gauge(unit) | ColumnKind::Counter(unit) => Some(unit),
            ColumnKind::Key | ColumnKind::Text | ColumnKind::Statement | ColumnKind::Reset => None,
        }
    }

    /// Returns whether the number only grows.
    #[must_use]
    pub fn is_counter(&self) -> bool {
        matches!(self.kind, ColumnKind::Counter(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_depends_on_the_version_of_the_server() {
        let counter = |name| SampleColumn::counter("x", name, SampleUnit::Count);
        let old = counter("wal_write").until(18);
        assert_eq!((old.sql(170_002), old.sql(180_000)), (Some("wal_write"), None));
        let new = counter("read_bytes").as_sql("reads * op_bytes").then(18, "read_bytes");
        assert_eq!((new.sql(160_000), new.sql(180_000)), (Some("reads * op_bytes"), Some("read_bytes")));
        let later = counter("slru_written").since(18);
        assert_eq!((later.sql(170_009), later.sql(180_000)), (None, Some("slru_written")));
        let moved = counter("wal_sync").since(14).then(18, "io.fsyncs");
        assert_eq!([130_000, 140_000, 180_000].map(|v| moved.sql(v)), [None, Some("wal_sync"), Some("io.fsyncs")]);
    }
}
