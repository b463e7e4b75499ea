//! `pg_stat_statements` at one time, its growth, and the texts.

use std::collections::BTreeMap;

use pgdyno_text::units;

use super::TakeError;
use super::server::Facts;
use super::session::{MARK, Session, is_true, number};

/// Bytes of a text that are kept: longer ones are lists of values.
pub(super) const TEXT_MAX: u64 = 64 << 10;

/// Bytes of all texts together that are kept, from the statement that took most time.
pub(super) const TEXTS_MAX: u64 = 32 << 20;

/// Characters of a text that is not kept.
const BEGIN: usize = 200;

/// Counters of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) calls: f64,
    pub(super) rows: f64,
    pub(super) exec_time_ms: f64,
    pub(super) plan_time_ms: f64,
    pub(super) shared_blks_hit: f64,
    pub(super) shared_blks_read: f64,
    pub(super) shared_blks_dirtied: f64,
    pub(super) temp_blks_read: f64,
    pub(super) temp_blks_written: f64,
    pub(super) wal_bytes: f64,
}

/// The columns of these counters, in this order.
const COLUMNS: [&str; 10] = [
    "calls",
    "rows",
    "total_exec_time",
    "total_plan_time",
    "shared_blks_hit",
    "shared_blks_read",
    "shared_blks_dirtied",
    "temp_blks_read",
    "temp_blks_written",
    "wal_bytes",
];

/// Returns the sum of a counter in SQL; 0 where the view does not have it. Before version 1.8 of the extension the time of executions was
/// the only one.
fn sum_of(name: &str, has: impl Fn(&str) -> bool) -> String {
    let name = if name == "total_exec_time" && !has(name) { "total_time" } else { name };
    if has(name) { format!("sum({name})") } else { "0".to_owned() }
}

impl Counted {
    fn of(cells: &[Option<String>]) -> Self {
        let at = |place: usize| number(cells.get(place));
        Self {
            calls: at(0),
            rows: at(1),
            exec_time_ms: at(2),
            plan_time_ms: at(3),
            shared_blks_hit: at(4),
            shared_blks_read: at(5),
            shared_blks_dirtied: at(6),
            temp_blks_read: at(7),
            temp_blks_written: at(8),
            wal_bytes: at(9),
        }
    }

    fn combined(self, other: &Self, with: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            calls: with(self.calls, other.calls),
            rows: with(self.rows, other.rows),
            exec_time_ms: with(self.exec_time_ms, other.exec_time_ms),
            plan_time_ms: with(self.plan_time_ms, other.plan_time_ms),
            shared_blks_hit: with(self.shared_blks_hit, other.shared_blks_hit),
            shared_blks_read: with(self.shared_blks_read, other.shared_blks_read),
            shared_blks_dirtied: with(self.shared_blks_dirtied, other.shared_blks_dirtied),
            temp_blks_read: with(self.temp_blks_read, other.temp_blks_read),
            temp_blks_written: with(self.temp_blks_written, other.temp_blks_written),
            wal_bytes: with(self.wal_bytes, other.wal_bytes),
        }
    }

    /// Adds the counters of another entry.
    pub(super) fn add(&mut self, other: &Self) {
        *self = self.combined(other, |a, b| a + b);
    }
}

/// An entry that grew.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) queryid: String,
    pub(super) counted: Counted,
}

/// The counters of the database's statements at one time. An entry is a role and a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    entries: BTreeMap<(String, String), Counted>,
    /// Entries that were evicted so far, and the last reset; from PostgreSQL 14 on.
    evicted: Option<f64>,
    reset: Option<String>,
    max: String,
}

impl Counters {
    /// Reads them, without the texts, which are expensive to read.
    pub(super) fn read(session: &mut Session, facts: &Facts) -> Result<Self, TakeError> {
        let view = &facts.view;
        let columns: Vec<_> = COLUMNS.iter().map(|name| sum_of(name, |known| facts.has(known))).collect();
        let top = if facts.has("toplevel") { " AND toplevel" } else { "" };
        let sql = format!(
            "SELECT {MARK} userid, queryid, {} FROM {view}(false) WHERE queryid IS NOT NULL{top} \
             AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY userid, queryid",
            columns.join(", ")
        );
        let rows = session.ask("read pg_stat_statements", &sql)?;
        let entry = |row: &Vec<Option<String>>| {
            let key = (row.first()?.clone()?, row.get(1)?.clone()?);
            Some((key, Counted::of(row.get(2..)?)))
        };
        let entries = rows.iter().filter_map(entry).collect();
        // Entries of others have no identifier for a role without the right to see them.
        let hidden = format!(
            "SELECT {MARK} EXISTS (SELECT FROM {view}(false) WHERE queryid IS NULL \
             AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database()))"
        );
        let hidden = session.ask("read pg_stat_statements", &hidden)?;
        facts.admit_texts(is_true(hidden.first().and_then(|row| row.first())))?;
        let info = match facts.has_info {
            true => {
                let sql = format!("SELECT {MARK} dealloc, stats_reset FROM {view}_info");
                session.ask("read pg_stat_statements_info", &sql)?.into_iter().next()
            }
            false => None,
        };
        Ok(Self {
            entries,
            evicted: info.as_ref().map(|row| number(row.first())),
            reset: info.and_then(|row| row.into_iter().nth(1)?),
            max: facts.max().to_owned(),
        })
    }

    /// Returns what has grown since `before`.
    pub(super) fn since(&self, before: &Self) -> Result<Grown, TakeError> {
        let has_shrunk =
            |(key, then): (&(String, String), &Counted)| self.entries.get(key).is_none_or(|now| now.calls < then.calls);
        let lost = before.entries.iter().filter(|entry| has_shrunk(*entry)).count();
        let evicted = self.evicted.zip(before.evicted).map(|(now, then)| now - then);
        // PostgreSQL 13 reports no reset, and later versions not that of one database: it takes all entries, an eviction takes one in twenty.
        let is_unreported = self.reset.is_none() || evicted == Some(0.0);
        let all_lost = is_unreported && !before.entries.is_empty() && lost == before.entries.len();
        if self.reset != before.reset || all_lost {
            return Err(TakeError::Broken {
                why: "the counters of pg_stat_statements were reset within the window".to_owned(),
                remedy: "take the capture again, without pg_stat_statements_reset() meanwhile".to_owned(),
            });
        }
        let mut entries = Vec::new();
        for (key, now) in &self.entries {
            // An entry that was evicted and came back counts from there.
            let then = before.entries.get(key).filter(|then| then.calls <= now.calls);
            let counted = then.map_or(*now, |then| now.combined(then, |now, then| (now - then).max(0.0)));
            if counted.calls > 0.0 {
                entries.push(Entry { queryid: key.1.clone(), counted });
            }
        }
        let evicted = evicted.unwrap_or_else(|| f64::from(u8::from(lost > 0)));
        Ok(Grown { entries, evictions: evicted.max(0.0), lost: lost as u64, max: self.max.clone() })
    }
}

/// What has grown within a window.
#[derive(Clone, Debug)]
pub(super) struct Grown {
    pub(super) entries: Vec<Entry>,
    /// How often entries were evicted.
    evictions: f64,
    /// Entries of before that are no longer there, or count from 0 again.
    lost: u64,
    max: String,
}

impl Grown {
    /// Returns what is missing in it.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.evictions == 0.0 && self.lost > 0 {
            let lost = entries(self.lost);
            warnings.push(format!(
                "{lost} of pg_stat_statements counted before the window were reset within it, as those of one database are: what they had \
                 counted until then is missing; take the capture again, without pg_stat_statements_reset() meanwhile"
            ));
        }
        if self.evictions > 0.0 {
            let lost = match self.lost {
                0 => String::new(),
                lost => format!(", {} of those counted before among them", entries(lost)),
            };
            warnings.push(format!(
                "the server has evicted statements {} within the window{lost}: rare ones are missing, and texts may have their \
                 constants; raise pg_stat_statements.max ({})",
                match self.evictions {
                    1.0 => "once".to_owned(),
                    more => format!("{} times", units::grouped(more)),
                },
                self.max
            ));
        }
        warnings
    }
}

fn entries(n: u64) -> String {
    format!("{} {}", units::count(n), if n == 1 { "entry" } else { "entries" })
}

/// The text of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// All of it.
    Whole(String),
    /// The beginning of a very long one.
    TooLong(String),
    /// The beginning of one for which the others left no room.
    TooMany(String),
}

/// Returns the texts of entries.
pub(super) fn texts(
    session: &mut Session,
    facts: &Facts,
    entries: &[Entry],
) -> Result<BTreeMap<String, Text>, TakeError> {
    if entries.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut ordered: Vec<_> = entries.iter().collect();
    ordered.sort_by(|a, b| b.counted.exec_time_ms.total_cmp(&a.counted.exec_time_ms));
    let ids: Vec<_> =
        ordered.iter().enumerate().map(|(place, entry)| format!("({}, {place})", entry.queryid)).collect();
    let sql = format!(
        "SELECT {MARK} queryid, CASE WHEN bytes <= {TEXT_MAX} AND so_far <= {TEXTS_MAX} THEN query ELSE left(query, {BEGIN}) END, \
         bytes > {TEXT_MAX}, so_far > {TEXTS_MAX} FROM (SELECT *, sum(least(bytes, {TEXT_MAX})) OVER (ORDER BY place, queryid) AS so_far \
         FROM (SELECT DISTINCT ON (s.queryid) s.queryid, place, query, octet_length(query) AS bytes \
         FROM {} s JOIN (VALUES {}) wanted (queryid, place) ON wanted.queryid = s.queryid \
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query IS NOT NULL \
         ORDER BY s.queryid, place) one) all_texts",
        facts.view,
        ids.join(", ")
    );
    let rows = session.ask("read the texts of statements", &sql)?;
    let mut texts = BTreeMap::new();
    for row in rows {
        let mut cells = row.into_iter();
        let (Some(Some(id)), Some(Some(text))) = (cells.next(), cells.next()) else { continue };
        let mut is_true = || cells.next().flatten().as_deref() == Some("t");
        let (is_long, is_beyond) = (is_true(), is_true());
        let text = match (is_long, is_beyond) {
            (true, _) => Text::TooLong(text),
            (false, true) => Text::TooMany(text),
            (false, false) => Text::Whole(text),
        };
        texts.insert(id, text);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(reset: Option<&str>, evicted: Option<f64>, calls: &[(&str, f64)]) -> Counters {
        let entry = |(id, calls): &(&str, f64)| {
            (("10".to_owned(), (*id).to_owned()), Counted { calls: *calls, rows: calls * 2.0, ..Counted::default() })
        };
        Counters {
            entries: calls.iter().map(entry).collect(),
            evicted,
            reset: reset.map(str::to_owned),
            max: "5000".to_owned(),
        }
    }

    #[test]
    fn an_old_extension_has_the_time_under_another_name() {
        let old = |name: &str| ["calls", "total_time"].contains(&name);
        assert_eq!(
            ["calls", "total_exec_time", "wal_bytes"].map(|name| sum_of(name, old)),
            ["sum(calls)", "sum(total_time)", "0"]
        );
        assert_eq!(sum_of("total_exec_time", |_| true), "sum(total_exec_time)");
    }

    #[test]
    fn what_has_grown_is_captured() {
        let before = counters(Some("t"), Some(0.0), &[("1", 10.0), ("2", 5.0)]);
        let after = counters(Some("t"), Some(0.0), &[("1", 13.0), ("2", 5.0), ("3", 4.0)]);
        let grown = after.since(&before).unwrap();
        let calls: Vec<_> =
            grown.entries.iter().map(|e| (e.queryid.as_str(), e.counted.calls, e.counted.rows)).collect();
        assert_eq!(calls, [("1", 3.0, 6.0), ("3", 4.0, 8.0)]);
        assert_eq!(grown.warnings(), [""; 0]);
    }

    #[test]
    fn evictions_are_reported_and_a_reset_is_refused() {
        let before = counters(Some("t"), Some(2.0), &[("1", 10.0), ("2", 5.0)]);
        let evicted = counters(Some("t"), Some(5.0), &[("1", 13.0), ("2", 1.0)]).since(&before).unwrap();
        assert_eq!(evicted.entries[1].counted.calls, 1.0, "it counts from its return");
        let warnings = evicted.warnings();
        assert!(
            warnings[0].contains("3 times") && warnings[0].contains("1 entry") && warnings[0].contains("(5000)"),
            "{warnings:?}"
        );
        let reset = counters(Some("u"), Some(0.0), &[("1", 1.0)]).since(&before).unwrap_err();
        assert!(reset.to_string().contains("were reset within the window"), "{reset}");
        // Of one statement, and of all of this database.
        let one = counters(Some("t"), Some(2.0), &[("1", 13.0), ("2", 1.0)]).since(&before).unwrap().warnings();
        assert!(one.len() == 1 && one[0].starts_with("1 entry of pg_stat_statements"), "{one:?}");
        assert!(counters(Some("t"), Some(2.0), &[("1", 3.0), ("2", 1.0)]).since(&before).is_err());
        // PostgreSQL 13.
        let before = counters(None, None, &[("1", 10.0), ("2", 5.0)]);
        assert!(counters(None, None, &[("1", 1.0)]).since(&before).is_err());
        assert!(counters(None, None, &[("1", 11.0)]).since(&before).unwrap().warnings()[0].contains("once"));
    }
}
