//! What a source of samples is: a name, columns that are expressions of SQL, and where they are asked from.

use super::scene::Scene;

/// How often a source is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Every {
    /// Once a second.
    Second,
    /// Once a second, where anybody was seen waiting for a lock: its look stops whoever takes or gives back one.
    SecondWithLocks,
    /// Once in ten seconds: its look costs more the more tables there are.
    TenSeconds,
}

/// A column of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// What is asked for, from which `server_version_num` on; the last that fits counts.
    sql: [(u32, Option<&'static str>); 3],
    /// Whether it only ever grows, so that one that has shrunk was reset.
    grows: bool,
}

/// A counter by the name that the server has for it.
pub(super) const fn counter(name: &'static str) -> Column {
    Column { name, sql: [(0, Some(name)); 3], grows: true }
}

/// What goes up and down, a key or a text, by the name that the server has for it.
pub(super) const fn value(name: &'static str) -> Column {
    Column { grows: false, ..counter(name) }
}

/// When the counters were set to zero.
pub(super) const STATS_RESET: Column = value("stats_reset");

impl Column {
    /// The same, asked for by this expression.
    pub(super) const fn as_sql(self, sql: &'static str) -> Self {
        Self { sql: [(0, Some(sql)); 3], ..self }
    }

    /// The same, which is there from this major version on.
    pub(super) const fn since(self, major: u32) -> Self {
        let there = (major * 10_000, self.sql[0].1);
        Self { sql: [(0, None), there, there], ..self }
    }

    /// The same, which is gone from this major version on.
    pub(super) const fn until(self, major: u32) -> Self {
        Self { sql: [self.sql[0], self.sql[1], (major * 10_000, None)], ..self }
    }

    /// The same, asked for by another expression from this major version on.
    pub(super) const fn then(self, major: u32, sql: &'static str) -> Self {
        Self { sql: [self.sql[0], self.sql[1], (major * 10_000, Some(sql))], ..self }
    }

    fn at(&self, version: u32) -> &'static str {
        let fits = self.sql.iter().rev().find(|(since, _)| version >= *since);
        fits.and_then(|(_, sql)| *sql).unwrap_or("NULL::text")
    }
}

/// The names of columns, for the frames of a source.
pub(super) const fn names<const N: usize>(columns: &[Column; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut nth = 0;
    while nth < N {
        names[nth] = columns[nth].name;
        nth += 1;
    }
    names
}

/// A row as the server sends it.
pub(super) type Row = Vec<Option<String>>;

/// Where a source is asked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// What follows `FROM`.
    Sql(&'static str),
    /// There is no such thing on this server, and nobody misses it.
    Nothing,
    /// It is left out, and why.
    LeftOut(String),
}

/// A source of samples: one statement, asked for again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The name of its file.
    pub(super) name: &'static str,
    pub(super) every: Every,
    pub(super) columns: &'static [Column],
    /// Their names.
    pub(super) names: &'static [&'static str],
    /// What follows `FROM`, or why there is nothing to look at.
    pub(super) from: fn(&Scene) -> From,
}

impl Source {
    /// The statement for the server of `scene`, or why it is left out; none where the server has no such thing.
    pub(super) fn sql(&self, scene: &Scene) -> Option<Result<String, String>> {
        let from = match (self.from)(scene) {
            From::Sql(from) => from,
            From::Nothing => return None,
            From::LeftOut(why) => return Some(Err(why)),
        };
        let columns: Vec<_> = self.columns.iter().map(|column| column.at(scene.version)).collect();
        Some(Ok(format!("SELECT {} {} FROM {from}", super::MARK, columns.join(", "))))
    }

    /// Whether its counters were reset between two looks: the server tells another moment of the last reset, or what only
    /// grows has shrunk, all rows together.
    pub(super) fn was_reset(&self, before: &[Row], now: &[Row]) -> bool {
        let cells = |rows: &[Row], nth: usize| -> Vec<Option<String>> {
            rows.iter().map(|row| row.get(nth).cloned().flatten()).collect()
        };
        let sum = |cells: &[Option<String>]| {
            cells.iter().flatten().filter_map(|cell| cell.parse::<f64>().ok()).reduce(|a, b| a + b)
        };
        self.columns.iter().enumerate().any(|(nth, column)| {
            let (before, now) = (cells(before, nth), cells(now, nth));
            match column.name {
                name if name == STATS_RESET.name => !before.is_empty() && !now.is_empty() && before != now,
                _ => column.grows && sum(&before).zip(sum(&now)).is_some_and(|(before, now)| now < before),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_asked_for_as_the_version_has_it() {
        let old = counter("wal_write").until(18);
        assert_eq!((old.at(170_002), old.at(180_000)), ("wal_write", "NULL::text"));
        let new = counter("read_bytes").as_sql("reads * op_bytes").then(18, "read_bytes");
        assert_eq!((new.at(160_000), new.at(180_000)), ("reads * op_bytes", "read_bytes"));
        let later = counter("slru_written").since(18);
        assert_eq!((later.at(170_009), later.at(180_000)), ("NULL::text", "slru_written"));
        let moved = counter("wal_sync").since(14).then(18, "io.fsyncs");
        assert_eq!([130_000, 140_000, 180_000].map(|v| moved.at(v)), ["NULL::text", "wal_sync", "io.fsyncs"]);
    }

    #[test]
    fn what_only_grows_and_has_shrunk_was_reset() {
        const COLUMNS: [Column; 3] = [counter("xact_commit"), value("numbackends"), STATS_RESET];
        const SOURCE: Source = Source {
            name: "x",
            every: Every::Second,
            columns: &COLUMNS,
            names: &names(&COLUMNS),
            from: |_| From::Nothing,
        };
        let row = |cells: [&str; 3]| -> Row {
            cells.iter().map(|cell| Some((*cell).to_owned()).filter(|cell| !cell.is_empty())).collect()
        };
        assert_eq!(SOURCE.names, ["xact_commit", "numbackends", "stats_reset"]);
        assert!(!SOURCE.was_reset(&[row(["10", "9", ""])], &[row(["10", "3", ""])]));
        assert!(SOURCE.was_reset(&[row(["10", "3", ""])], &[row(["9", "3", ""])]));
        assert!(SOURCE.was_reset(&[row(["10", "3", ""])], &[row(["11", "3", "2026-01-01"])]));
        assert!(!SOURCE.was_reset(&[row(["10", "3", "x"])], &[row(["", "", "x"])]));
        // Of several rows the sum counts.
        let several = [row(["10", "", ""]), row(["5", "", ""])];
        assert!(!SOURCE.was_reset(&several, &[row(["9", "", ""]), row(["7", "", ""])]));
        assert!(SOURCE.was_reset(&several, &[row(["1", "", ""])]));
    }
}
